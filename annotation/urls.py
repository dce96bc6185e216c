"""Addresses of judging (a capability in the path) and of managing studies."""

from django.urls import path

from annotation.views import judge

urlpatterns = [
    path("join/<str:invite>/", judge.join, name="join"),
    path("judge/<str:token>/", judge.judge, name="judge"),
    path("judge/<str:token>/accept/", judge.accept, name="judge-accept"),
    path("judge/<str:token>/submit/", judge.submit, name="judge-submit"),
    path("judge/<str:token>/skip/", judge.skip, name="judge-skip"),
    path("judge/<str:token>/undo/", judge.undo, name="judge-undo"),
    path("judge/<str:token>/flag/", judge.flag, name="judge-flag"),
    path("judge/<str:token>/renew/", judge.renew, name="judge-renew"),
    path("judge/<str:token>/history/", judge.history, name="judge-history"),
]
