"""Addresses of benchmarks, imports, images and of logging in."""

from django.urls import path, re_path

from benchmarks.views import accounts, benchmarks, images, imports, predictions, scoring, tokens

OPAQUE = r"(?P<opaque>[0-9a-f]{32})\.jpg"

urlpatterns = [
    path("login/", accounts.log_in, name="login"),
    path("logout/", accounts.log_out, name="logout"),
    path("password/", accounts.first_password, name="first-password"),
    path("token/", tokens.own_token, name="api-token"),
    path("token/revoke/", tokens.token_revoke, name="api-token-revoke"),
    path("benchmarks/", benchmarks.benchmark_list, name="benchmark-list"),
    path("benchmarks/import/", imports.import_new, name="import-new"),
    path("benchmarks/<int:pk>/", benchmarks.benchmark_detail, name="benchmark-detail"),
    path("benchmarks/<int:pk>/score/", scoring.score_new, name="score-new"),
    path("benchmarks/<int:pk>/predictions/", predictions.predictions_new, name="predictions-new"),
    path("benchmarks/<int:pk>/reported/", predictions.reported_new, name="reported-new"),
    path("benchmarks/<int:pk>/runs/<int:run>/delete/", predictions.run_delete, name="run-delete"),
    path("jobs/<int:pk>/", imports.job_detail, name="job-detail"),
    path("jobs/<int:pk>/cancel/", imports.job_cancel, name="job-cancel"),
    re_path(rf"^i/{OPAQUE}$", images.served, name="image"),
    re_path(rf"^t/{OPAQUE}$", images.thumbnail, name="thumbnail"),
]
