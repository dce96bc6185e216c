"""Addresses for managing studies and for invitations. For annotators' addresses, see annotation/judging/urls.py.

A study has seven places (dashboard/rail.py); the first part of an address within the study names the place.
"""

from django.urls import URLPattern, include, path, re_path
from django.views.generic import RedirectView

from annotation.adjudication import own_answer
from annotation.adjudication import views as adjudication_views
from annotation.assignment import views as assignment_views
from annotation.comparison import views as comparison_views
from annotation.dashboard import annotator_views, checks_views, item_views, results_views, settings_page
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

OVERVIEW = [
    path("", dashboard_views.study_detail, name="study-detail"),
    path("move/", dashboard_views.study_move, name="study-move"),
]
STAGES = [
    path("", dashboard_views.study_stages, name="study-stages"),
    path("<int:position>/", dashboard_views.study_stage, name="study-stage"),
    path("<int:position>/live/", dashboard_views.stage_live, name="stage-live"),
    path("<int:position>/move/", dashboard_views.stage_move, name="stage-move"),
    path("<int:position>/target/", dashboard_views.stage_target, name="stage-target"),
    path("<int:position>/reopen/", dashboard_views.stage_reopen, name="stage-reopen"),
    path("<int:position>/estimate/", dashboard_views.stage_estimate, name="stage-estimate"),
    path("<int:position>/assign/", assignment_views.study_assign, name="study-assign"),
    path("<int:position>/try/", trial_views.study_try, name="study-try"),
    path("<int:position>/try/<int:seed>/", trial_views.study_try_screens, name="study-try-screens"),
    path("<int:position>/try/<int:seed>/history/", trial_views.study_try_history, name="study-try-history"),
    path("<int:position>/try/<int:seed>/<slug:do>/", trial_views.study_try_act, name="study-try-act"),
]
ITEMS = [
    path("", item_views.study_items, name="study-items"),
    path("<int:position>/", item_views.study_item, name="study-item"),
    path("blocked/", dashboard_views.study_blocked, name="study-blocked"),
]
PEOPLE = [
    path("", annotator_views.study_annotators, name="study-annotators"),
    path("<int:number>/", annotator_views.study_annotator, name="study-annotator"),
    path("pay.csv", participants_views.study_pay, name="study-pay"),
    path("prolific/", participants_views.study_prolific, name="study-prolific"),
    path("codes/", participants_views.study_codes, name="study-codes"),
    path("returned/", participants_views.study_returned, name="study-returned"),
    path("submissions.csv", participants_views.study_submissions, name="study-submissions"),
]
QUALITY = [
    path("", dashboard_views.study_agreement, name="study-agreement"),
    path("disagreements/", adjudication_views.study_disagreements, name="study-disagreements"),
    path("model-errors/", comparison_views.study_model_errors, name="study-model-errors"),
    path("reports/", reader_reports_views.study_reader_reports, name="study-reader-reports"),
    path("decide/", adjudication_views.study_adjudicate, name="study-adjudicate"),
    path("decide/<int:position>/<int:task>/", own_answer.study_adjudicate_own, name="study-adjudicate-own"),
    path(
        "decide/<int:position>/<int:task>/<slug:do>/",
        own_answer.study_adjudicate_own_act,
        name="study-adjudicate-own-act",
    ),
]
RESULTS = [
    path("", results_views.study_results, name="study-results"),
    path("score/", comparison_views.study_score, name="study-score"),
    path("ask/", comparison_views.study_ask, name="study-ask"),
    path("share/", results_views.study_share, name="study-share"),
    path("baseline/", dashboard_views.study_baseline, name="study-baseline"),
    path("corrected/<int:position>/", comparison_views.study_corrected, name="study-corrected"),
    path("report/", reports_views.study_report, name="study-report"),
    path("report.json", reports_views.study_report_json, name="study-report-json"),
    path("releases/", releases_views.release_list, name="release-list"),
    path("releases/new/", releases_views.release_new, name="release-new"),
    path("exports/", dashboard_views.study_export, name="study-export"),
    path("exports/<int:job>/", dashboard_views.study_download, name="study-download"),
]
SETTINGS = [
    path("", settings_page.study_settings, name="study-settings"),
    path("instructions/", instructions_views.study_instructions, name="study-instructions"),
    path("checks/<int:position>/", checks_views.study_checks, name="study-checks"),
    path("checks/<int:position>/pick/", checks_views.study_checks_pick, name="study-checks-pick"),
    path("members/", studies_views.study_members, name="study-members"),
    path("members/<int:member>/", studies_views.study_member, name="study-member"),
    path("webhooks/", webhooks_views.study_webhooks, name="study-webhooks"),
    path("delete/", studies_views.study_delete, name="study-delete"),
]


def _moved(old: str, name: str) -> URLPattern:
    """Redirect an old address to the current one."""
    view = RedirectView.as_view(pattern_name=name, permanent=True, query_string=True)
    return path(f"studies/<int:pk>/{old}", view)


MOVED = [
    _moved("annotators/", "study-annotators"),
    _moved("annotators/<int:number>/", "study-annotator"),
    _moved("participants/", "study-annotators"),
    _moved("participants/submissions.csv", "study-submissions"),
    _moved("agreement/", "study-agreement"),
    _moved("disagreements/", "study-disagreements"),
    _moved("model-errors/", "study-model-errors"),
    _moved("reports/", "study-reader-reports"),
    _moved("blocked/", "study-blocked"),
    _moved("adjudicate/", "study-adjudicate"),
    _moved("baseline/", "study-baseline"),
    _moved("report/", "study-report"),
    _moved("report.json", "study-report-json"),
    _moved("releases/", "release-list"),
    _moved("releases/new/", "release-new"),
    _moved("stages/<int:position>/corrected/", "study-corrected"),
    _moved("stages/<int:position>/checks/", "study-checks"),
    _moved("instructions/", "study-instructions"),
    _moved("members/", "study-members"),
    _moved("webhooks/", "study-webhooks"),
    _moved("delete/", "study-delete"),
]

TRIAL_OF_QUESTION = [
    path("", draft_views.protocol_try, name="protocol-trial"),
    path("history/", draft_views.protocol_try_history, name="protocol-trial-history"),
    path("<slug:do>/", draft_views.protocol_try_act, name="protocol-trial-act"),
]

urlpatterns = [
    path("join/<slug:invite>/", join_views.join, name="join"),
    path("judge-words/<slug:language>.js", judging_views.words, name="judge-words"),
    path("judge-offline/<slug:language>/", judging_views.offline, name="judge-offline"),
    path("judge-offline/<slug:language>.js", judging_views.offline_worker, name="judge-worker"),
    path("studies/", dashboard_views.study_list, name="study-list"),
    path("studies/<int:pk>/archive/", dashboard_views.study_archive, name="study-archive"),
    path("studies/new/", studies_views.study_new, name="study-new"),
    path("studies/new/screen/", studies_views.study_new_screen, name="study-new-screen"),
    path("benchmarks/<int:pk>/ratings/", ratings_views.ratings_new, name="ratings-new"),
    path("studies/<int:pk>/", include(OVERVIEW)),
    path("studies/<int:pk>/stages/", include(STAGES)),
    path("studies/<int:pk>/items/", include(ITEMS)),
    path("studies/<int:pk>/people/", include(PEOPLE)),
    path("studies/<int:pk>/quality/", include(QUALITY)),
    path("studies/<int:pk>/results/", include(RESULTS)),
    path("studies/<int:pk>/settings/", include(SETTINGS)),
    *MOVED,
    re_path(rf"^instructions/{OPAQUE}$", instructions_views.instructions_image, name="instructions-image"),
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
    path("protocols/<str:question>/try/<int:benchmark>/<int:seed>/", include(TRIAL_OF_QUESTION)),
    path("protocols/published/<str:version>/", protocol_views.protocol_version, name="protocol-version"),
    path("releases/<int:pk>/", releases_views.release_detail, name="release-detail"),
    path("releases/<int:pk>/again/", releases_views.release_again, name="release-again"),
    path("releases/<int:pk>/discard/", releases_views.release_discard, name="release-discard"),
    path("releases/<int:pk>/download/", releases_views.release_download, name="release-download"),
    path("releases/<int:pk>/files/<path:name>", releases_views.release_download, name="release-file"),
    path("benchmarks/<int:pk>/models/", comparison_views.benchmark_models, name="benchmark-models"),
    path("benchmarks/<int:pk>/webhooks/", webhooks_views.benchmark_webhooks, name="benchmark-webhooks"),
    path("webhooks/<int:pk>/", webhooks_views.webhook_detail, name="webhook-detail"),
    path("shared/<str:shared>/", results_views.shared_results, name="shared-results"),
    path("report/<str:door>/", reader_reports_views.report_error, name="report-error"),
    path("reports/<int:pk>/answer/", reader_reports_views.reader_report_answer, name="reader-report-answer"),
    path("flags/<int:pk>/settle/", dashboard_views.flag_settle, name="flag-settle"),
]
