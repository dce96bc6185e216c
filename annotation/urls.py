"""Addresses of managing studies and of invitations. Those of an annotator: annotation/judging/urls.py."""

from django.urls import path, re_path

from annotation.adjudication import own_answer
from annotation.adjudication import views as adjudication_views
from annotation.assignment import views as assignment_views
from annotation.checks import views as checks_views
from annotation.comparison import views as comparison_views
from annotation.dashboard import annotator_views, item_views
from annotation.dashboard import views as dashboard_views
from annotation.imported_ratings import views as ratings_views
from annotation.judging import draft_views, join_views, trial_views
from annotation.judging import views as judging_views
from annotation.participants import views as participants_views
from annotation.protocol_files import views as protocol_views
from annotation.reader_reports import views as reader_reports_views
from annotation.releases import views as releases_views
from annotation.reports import views as reports_views
from annotation.studies import instructions_views
from annotation.studies import views as studies_views
from annotation.webhooks import views as webhooks_views
from benchmarks.urls import OPAQUE

urlpatterns = [
    path("join/<slug:invite>/", join_views.join, name="join"),
    path("judge-words/<slug:language>.js", judging_views.words, name="judge-words"),
    path("judge-offline/<slug:language>/", judging_views.offline, name="judge-offline"),
    path("judge-offline/<slug:language>.js", judging_views.offline_worker, name="judge-worker"),
    path("studies/", dashboard_views.study_list, name="study-list"),
    path("studies/new/", studies_views.study_new, name="study-new"),
    path("benchmarks/<int:pk>/ratings/", ratings_views.ratings_new, name="ratings-new"),
    path("studies/<int:pk>/", dashboard_views.study_detail, name="study-detail"),
    path("studies/<int:pk>/live/", dashboard_views.study_live, name="study-live"),
    path("studies/<int:pk>/disagreements/", adjudication_views.study_disagreements, name="study-disagreements"),
    path("studies/<int:pk>/model-errors/", comparison_views.study_model_errors, name="study-model-errors"),
    path("studies/<int:pk>/blocked/", dashboard_views.study_blocked, name="study-blocked"),
    path("studies/<int:pk>/adjudicate/", adjudication_views.study_adjudicate, name="study-adjudicate"),
    path(
        "studies/<int:pk>/adjudicate/<int:position>/<int:task>/",
        own_answer.study_adjudicate_own,
        name="study-adjudicate-own",
    ),
    path(
        "studies/<int:pk>/adjudicate/<int:position>/<int:task>/<slug:do>/",
        own_answer.study_adjudicate_own_act,
        name="study-adjudicate-own-act",
    ),
    path("studies/<int:pk>/agreement/", dashboard_views.study_agreement, name="study-agreement"),
    path("studies/<int:pk>/agreement.csv", dashboard_views.study_agreement_csv, name="study-agreement-csv"),
    path("studies/<int:pk>/baseline/", dashboard_views.study_baseline, name="study-baseline"),
    path("studies/<int:pk>/report/", reports_views.study_report, name="study-report"),
    path("studies/<int:pk>/report.json", reports_views.study_report_json, name="study-report-json"),
    path("studies/<int:pk>/instructions/", instructions_views.study_instructions, name="study-instructions"),
    re_path(rf"^instructions/{OPAQUE}$", instructions_views.instructions_image, name="instructions-image"),
    path("studies/<int:pk>/stages/<int:position>/assign/", assignment_views.study_assign, name="study-assign"),
    path("studies/<int:pk>/stages/<int:position>/checks/", checks_views.study_checks, name="study-checks"),
    path("studies/<int:pk>/stages/<int:position>/try/", trial_views.study_try, name="study-try"),
    path(
        "studies/<int:pk>/stages/<int:position>/try/<int:seed>/",
        trial_views.study_try_screens,
        name="study-try-screens",
    ),
    path(
        "studies/<int:pk>/stages/<int:position>/try/<int:seed>/history/",
        trial_views.study_try_history,
        name="study-try-history",
    ),
    path(
        "studies/<int:pk>/stages/<int:position>/try/<int:seed>/<slug:do>/",
        trial_views.study_try_act,
        name="study-try-act",
    ),
    path("protocols/", protocol_views.protocol_list, name="protocol-list"),
    path("protocols/drafts/<int:pk>/", protocol_views.protocol_draft, name="protocol-draft"),
    path("protocols/drafts/<int:pk>/try/<int:seed>/", draft_views.protocol_try, name="protocol-try"),
    path(
        "protocols/drafts/<int:pk>/try/<int:seed>/answers/",
        draft_views.protocol_try_answers,
        name="protocol-try-answers",
    ),
    path(
        "protocols/drafts/<int:pk>/try/<int:seed>/history/",
        draft_views.protocol_try_history,
        name="protocol-try-history",
    ),
    path("protocols/drafts/<int:pk>/try/<int:seed>/<slug:do>/", draft_views.protocol_try_act, name="protocol-try-act"),
    path("protocols/published/<str:version>/", protocol_views.protocol_version, name="protocol-version"),
    path("studies/<int:pk>/annotators/", annotator_views.study_annotators, name="study-annotators"),
    path("studies/<int:pk>/annotators/<int:number>/", annotator_views.study_annotator, name="study-annotator"),
    path("studies/<int:pk>/items/", item_views.study_items, name="study-items"),
    path("studies/<int:pk>/items/<int:position>/", item_views.study_item, name="study-item"),
    path("studies/<int:pk>/participants/", participants_views.study_participants, name="study-participants"),
    path("studies/<int:pk>/participants/codes/", participants_views.study_codes, name="study-codes"),
    path("studies/<int:pk>/participants/returned/", participants_views.study_returned, name="study-returned"),
    path(
        "studies/<int:pk>/participants/submissions.csv", participants_views.study_submissions, name="study-submissions"
    ),
    path(
        "studies/<int:pk>/participants/<int:number>/<slug:act>/",
        participants_views.study_participant,
        name="study-participant",
    ),
    path("studies/<int:pk>/members/", studies_views.study_members, name="study-members"),
    path("studies/<int:pk>/members/<int:member>/", studies_views.study_member, name="study-member"),
    path("studies/<int:pk>/delete/", studies_views.study_delete, name="study-delete"),
    path("studies/<int:pk>/move/", dashboard_views.study_move, name="study-move"),
    path("studies/<int:pk>/stages/<int:position>/move/", dashboard_views.stage_move, name="stage-move"),
    path("studies/<int:pk>/stages/<int:position>/corrected/", comparison_views.study_corrected, name="study-corrected"),
    path(
        "studies/<int:pk>/stages/<int:position>/corrected.csv",
        comparison_views.study_corrected_csv,
        name="study-corrected-csv",
    ),
    path("studies/<int:pk>/stages/<int:position>/target/", dashboard_views.stage_target, name="stage-target"),
    path("studies/<int:pk>/stages/<int:position>/reopen/", dashboard_views.stage_reopen, name="stage-reopen"),
    path("studies/<int:pk>/stages/<int:position>/estimate/", dashboard_views.stage_estimate, name="stage-estimate"),
    path("studies/<int:pk>/export/", dashboard_views.study_export, name="study-export"),
    path("studies/<int:pk>/export/<int:job>/", dashboard_views.study_download, name="study-download"),
    path("studies/<int:pk>/releases/", releases_views.release_list, name="release-list"),
    path("studies/<int:pk>/releases/new/", releases_views.release_new, name="release-new"),
    path("releases/<int:pk>/", releases_views.release_detail, name="release-detail"),
    path("releases/<int:pk>/again/", releases_views.release_again, name="release-again"),
    path("releases/<int:pk>/discard/", releases_views.release_discard, name="release-discard"),
    path("releases/<int:pk>/download/", releases_views.release_download, name="release-download"),
    path("releases/<int:pk>/files/<path:name>", releases_views.release_download, name="release-file"),
    path("benchmarks/<int:pk>/models/", comparison_views.benchmark_models, name="benchmark-models"),
    path("benchmarks/<int:pk>/models/paired.csv", comparison_views.benchmark_paired_csv, name="benchmark-paired-csv"),
    path("studies/<int:pk>/webhooks/", webhooks_views.study_webhooks, name="study-webhooks"),
    path("benchmarks/<int:pk>/webhooks/", webhooks_views.benchmark_webhooks, name="benchmark-webhooks"),
    path("webhooks/<int:pk>/", webhooks_views.webhook_detail, name="webhook-detail"),
    path("report/<str:door>/", reader_reports_views.report_error, name="report-error"),
    path("studies/<int:pk>/reports/", reader_reports_views.study_reader_reports, name="study-reader-reports"),
    path("reports/<int:pk>/answer/", reader_reports_views.reader_report_answer, name="reader-report-answer"),
    path("flags/<int:pk>/settle/", dashboard_views.flag_settle, name="flag-settle"),
]
