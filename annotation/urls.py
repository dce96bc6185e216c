"""Addresses of judging (a capability in the path) and of managing studies."""

from django.urls import path

from annotation import api
from annotation.views import assign, baseline, checks, join, judge, leaving, manage, participants, setup, training

urlpatterns = [
    path("join/<slug:invite>/", join.join, name="join"),
    path("judge/<slug:token>/", judge.judge, name="judge"),
    path("judge/<slug:token>/accept/", judge.accept, name="judge-accept"),
    path("judge/<slug:token>/before/", training.before, name="judge-before"),
    path("judge/<slug:token>/submit/", judge.submit, name="judge-submit"),
    path("judge/<slug:token>/skip/", judge.skip, name="judge-skip"),
    path("judge/<slug:token>/undo/", judge.undo, name="judge-undo"),
    path("judge/<slug:token>/flag/", judge.flag, name="judge-flag"),
    path("judge/<slug:token>/renew/", judge.renew, name="judge-renew"),
    path("judge/<slug:token>/history/", judge.history, name="judge-history"),
    path("judge/<slug:token>/leave/", leaving.leave, name="judge-leave"),
    path("judge/<slug:token>/return/", leaving.come_back, name="judge-return"),
    path("studies/", manage.study_list, name="study-list"),
    path("studies/new/", setup.study_new, name="study-new"),
    path("studies/<int:pk>/", manage.study_detail, name="study-detail"),
    path("studies/<int:pk>/live/", manage.study_live, name="study-live"),
    path("studies/<int:pk>/disagreements/", manage.study_disagreements, name="study-disagreements"),
    path("studies/<int:pk>/baseline/", baseline.study_baseline, name="study-baseline"),
    path("studies/<int:pk>/instructions/", manage.study_instructions, name="study-instructions"),
    path("studies/<int:pk>/stages/<int:position>/assign/", assign.study_assign, name="study-assign"),
    path("studies/<int:pk>/stages/<int:position>/checks/", checks.study_checks, name="study-checks"),
    path("studies/<int:pk>/participants/", participants.study_participants, name="study-participants"),
    path("studies/<int:pk>/participants/codes/", participants.study_codes, name="study-codes"),
    path("studies/<int:pk>/participants/returned/", participants.study_returned, name="study-returned"),
    path("studies/<int:pk>/participants/submissions.csv", participants.study_submissions, name="study-submissions"),
    path(
        "studies/<int:pk>/participants/<int:number>/<slug:act>/",
        participants.study_participant,
        name="study-participant",
    ),
    path("studies/<int:pk>/move/", manage.study_move, name="study-move"),
    path("studies/<int:pk>/stages/<int:position>/move/", manage.stage_move, name="stage-move"),
    path("studies/<int:pk>/export/", manage.study_export, name="study-export"),
    path("studies/<int:pk>/export/<int:job>/", manage.study_download, name="study-download"),
    path("flags/<int:pk>/settle/", manage.flag_settle, name="flag-settle"),
    path("api/studies/", api.study_list, name="api-study-list"),
    path("api/studies/<int:pk>/", api.study_detail, name="api-study-detail"),
    path("api/studies/<int:pk>/figures/", api.study_figures_data, name="api-study-figures"),
]
