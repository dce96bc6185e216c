"""Addresses of an annotator's pages, below judge/. The token in the path identifies the annotator."""

from django.urls import path

from annotation.judging import join_views, qualification_views, views

urlpatterns = [
    path("<slug:token>/", views.judge, name="judge"),
    path("<slug:token>/submit/", views.submit, name="judge-submit"),
    path("<slug:token>/consent/", join_views.consent, name="judge-consent"),
    path("<slug:token>/language/", views.language, name="judge-language"),
    path("<slug:token>/accept/", views.accept, name="judge-accept"),
    path("<slug:token>/before/", qualification_views.before, name="judge-before"),
    path("<slug:token>/skip/", views.skip, name="judge-skip"),
    path("<slug:token>/undo/", views.undo, name="judge-undo"),
    path("<slug:token>/flag/", views.flag, name="judge-flag"),
    path("<slug:token>/renew/", views.renew, name="judge-renew"),
    path("<slug:token>/history/", views.history, name="judge-history"),
    path("<slug:token>/leave/", join_views.leave, name="judge-leave"),
    path("<slug:token>/return/", join_views.come_back, name="judge-return"),
]
