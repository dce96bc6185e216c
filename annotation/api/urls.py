"""Addresses of the API of studies, below /api/."""

from django.urls import include, path

from annotation.api import (
    deciding,
    invitations,
    managing,
    models,
    preparing,
    ratings,
    readers,
    results,
    rows,
    running,
    setup,
    studies,
    webhooks,
)

ANNOTATOR = [
    path("decide/", deciding.AnnotatorDecide.as_view(), name="api-annotator-decide"),
    path("erase/", deciding.AnnotatorErase.as_view(), name="api-annotator-erase"),
]
PREPARED = [
    path("instructions/", preparing.StageInstructions.as_view(), name="api-stage-instructions"),
    path("screening/", preparing.StageScreening.as_view(), name="api-stage-screening"),
    path("known/", preparing.StageKnown.as_view(), name="api-stage-known"),
    path("known/remove/", preparing.StageForget.as_view(), name="api-stage-forget"),
    path("assign/", preparing.StageAssign.as_view(), name="api-stage-assign"),
    path("take-back/", preparing.StageUnassign.as_view(), name="api-stage-unassign"),
]
TASK = [
    path("", deciding.TaskDetail.as_view(), name="api-task-detail"),
    path("decide/", deciding.TaskDecide.as_view(), name="api-task-decide"),
    path("send-back/", deciding.TaskSendBack.as_view(), name="api-task-send-back"),
    path("withdraw/", deciding.TaskWithdraw.as_view(), name="api-task-withdraw"),
]

urlpatterns = [
    path("studies/", setup.StudyList.as_view(), name="api-study-list"),
    path("studies/<int:pk>/", studies.StudyDetail.as_view(), name="api-study-detail"),
    path("studies/<int:pk>/move/", running.StudyMove.as_view(), name="api-study-move"),
    path("studies/<int:pk>/stages/", studies.StageList.as_view(), name="api-stage-list"),
    path("studies/<int:pk>/stages/<int:position>/", studies.StageDetail.as_view(), name="api-stage-detail"),
    path(
        "studies/<int:pk>/stages/<int:position>/protocol/", studies.StageProtocol.as_view(), name="api-stage-protocol"
    ),
    path("studies/<int:pk>/stages/<int:position>/move/", running.StageMove.as_view(), name="api-stage-move"),
    path("studies/<int:pk>/stages/<int:position>/reopen/", running.StageReopen.as_view(), name="api-stage-reopen"),
    path("studies/<int:pk>/stages/<int:position>/target/", running.StageTarget.as_view(), name="api-stage-target"),
    path(
        "studies/<int:pk>/stages/<int:position>/estimate/", running.StageEstimate.as_view(), name="api-stage-estimate"
    ),
    path("studies/<int:pk>/settings/", managing.StudySettings.as_view(), name="api-study-settings"),
    path("studies/<int:pk>/archive/", managing.StudyArchive.as_view(), name="api-study-archive"),
    path("studies/<int:pk>/delete/", managing.StudyDelete.as_view(), name="api-study-delete"),
    path("studies/<int:pk>/members/", managing.MemberList.as_view(), name="api-member-list"),
    path("studies/<int:pk>/members/<int:member>/change/", managing.MemberChange.as_view(), name="api-member-change"),
    path("studies/<int:pk>/members/<int:member>/remove/", managing.MemberRemove.as_view(), name="api-member-remove"),
    path(
        "studies/<int:pk>/annotators/<int:number>/decide/",
        deciding.AnnotatorDecide.as_view(),
        name="api-annotator-decide",
    ),
    path(
        "studies/<int:pk>/annotators/<int:number>/erase/", deciding.AnnotatorErase.as_view(), name="api-annotator-erase"
    ),
    path("studies/<int:pk>/stages/<int:position>/", include(PREPARED)),
    path("studies/<int:pk>/stages/<int:position>/tasks/<int:task>/", include(TASK)),
    path("studies/<int:pk>/share/", readers.StudyShare.as_view(), name="api-study-share"),
    path("studies/<int:pk>/reports/", readers.ReportList.as_view(), name="api-report-list"),
    path("reports/<int:pk>/answer/", readers.ReportAnswer.as_view(), name="api-report-answer"),
    path("flags/<int:pk>/settle/", deciding.FlagSettle.as_view(), name="api-flag-settle"),
    path("studies/<int:pk>/invitations/", invitations.Invitations.as_view(), name="api-study-invitations"),
    path("studies/<int:pk>/prolific/", invitations.ProlificSettings.as_view(), name="api-study-prolific"),
    path("studies/<int:pk>/prolific/returned/", invitations.ProlificReturned.as_view(), name="api-prolific-returned"),
    path("studies/<int:pk>/score/", models.ScoreResult.as_view(), name="api-study-score"),
    path("studies/<int:pk>/ask/", models.AskAboutResult.as_view(), name="api-study-ask"),
    path("studies/<int:pk>/runs/", models.ResultRuns.as_view(), name="api-study-runs"),
    path("studies/<int:pk>/results/", models.StudyResults.as_view(), name="api-study-results"),
    path("benchmarks/<int:pk>/paired/", models.PairedRuns.as_view(), name="api-paired-runs"),
    path("studies/<int:pk>/exports/", results.ExportList.as_view(), name="api-export-list"),
    path("studies/<int:pk>/exports/<int:job>/file/", results.ExportFile.as_view(), name="api-export-file"),
    path("studies/<int:pk>/releases/", results.ReleaseList.as_view(), name="api-release-list"),
    path("releases/<int:pk>/", results.ReleaseDetail.as_view(), name="api-release-detail"),
    path("releases/<int:pk>/file/", results.ReleaseFile.as_view(), name="api-release-file"),
    path("releases/<int:pk>/files/<path:name>", results.ReleaseMember.as_view(), name="api-release-member"),
    path("releases/<int:pk>/again/", results.ReleaseAgain.as_view(), name="api-release-again"),
    path("releases/<int:pk>/discard/", results.ReleaseDiscard.as_view(), name="api-release-discard"),
    path("studies/<int:pk>/webhooks/", webhooks.StudyWebhooks.as_view(), name="api-study-webhooks"),
    path("benchmarks/<int:pk>/ratings/", ratings.RatingsNew.as_view(), name="api-ratings-new"),
    path("benchmarks/<int:pk>/webhooks/", webhooks.BenchmarkWebhooks.as_view(), name="api-benchmark-webhooks"),
    path("webhooks/<int:pk>/", webhooks.WebhookDetail.as_view(), name="api-webhook-detail"),
    path("webhooks/<int:pk>/events/", webhooks.WebhookEvents.as_view(), name="api-webhook-events"),
    path("webhooks/<int:pk>/change/", webhooks.WebhookChange.as_view(), name="api-webhook-change"),
    path("webhooks/<int:pk>/secret/", webhooks.WebhookSecret.as_view(), name="api-webhook-secret"),
    path("webhooks/<int:pk>/pause/", webhooks.WebhookPause.as_view(), name="api-webhook-pause"),
    path("webhooks/<int:pk>/test/", webhooks.WebhookTest.as_view(), name="api-webhook-test"),
    path("webhooks/<int:pk>/again/", webhooks.WebhookAgain.as_view(), name="api-webhook-again"),
    path("webhooks/<int:pk>/delete/", webhooks.WebhookDelete.as_view(), name="api-webhook-delete"),
    path("protocols/", setup.ProtocolList.as_view(), name="api-protocol-list"),
    path("studies/<int:pk>/figures/", studies.StudyFiguresData.as_view(), name="api-study-figures"),
    path("studies/<int:pk>/agreement/", studies.StudyAgreement.as_view(), name="api-study-agreement"),
    path("studies/<int:pk>/tasks/", rows.TaskList.as_view(), name="api-task-list"),
    path("studies/<int:pk>/judgments/", rows.JudgmentList.as_view(), name="api-judgment-list"),
    path("studies/<int:pk>/annotators/", preparing.Annotators.as_view(), name="api-annotator-list"),
    path("studies/<int:pk>/adjudications/", rows.AdjudicationList.as_view(), name="api-adjudication-list"),
    path("studies/<int:pk>/flags/", rows.FlagList.as_view(), name="api-flag-list"),
]
