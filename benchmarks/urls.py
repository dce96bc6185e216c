"""URLs of benchmarks, imports, images and login."""

from django.urls import path, re_path

from benchmarks.accounts import views as accounts_views
from benchmarks.imports import views as imports_views
from benchmarks.jobs import upload_views
from benchmarks.jobs import views as jobs_views
from benchmarks.runs import views as runs_views
from benchmarks.scoring import views as scoring_views
from benchmarks.views import benchmarks, images

OPAQUE = r"(?P<opaque>[0-9a-f]{32})\.jpg"

urlpatterns = [
    path("login/", accounts_views.log_in, name="login"),
    path("logout/", accounts_views.log_out, name="logout"),
    path("password/", accounts_views.first_password, name="first-password"),
    path("account/", accounts_views.account, name="account"),
    path("token/", accounts_views.own_token, name="api-token"),
    path("token/revoke/", accounts_views.token_revoke, name="api-token-revoke"),
    path("benchmarks/", benchmarks.benchmark_list, name="benchmark-list"),
    path("benchmarks/import/", imports_views.import_new, name="import-new"),
    path("benchmarks/<int:pk>/", benchmarks.benchmark_detail, name="benchmark-detail"),
    path("benchmarks/<int:pk>/score/", scoring_views.score_new, name="score-new"),
    path("benchmarks/<int:pk>/predictions/", runs_views.predictions_new, name="predictions-new"),
    path("benchmarks/<int:pk>/reported/", runs_views.reported_new, name="reported-new"),
    path("benchmarks/<int:pk>/runs/<int:run>/delete/", runs_views.run_delete, name="run-delete"),
    path("uploads/", upload_views.upload_begin, name="upload-begin"),
    re_path(r"^uploads/(?P<opaque>[0-9a-f]{32})/$", upload_views.upload_detail, name="upload-detail"),
    path("jobs/<int:pk>/", jobs_views.job_detail, name="job-detail"),
    path("jobs/<int:pk>/cancel/", jobs_views.job_cancel, name="job-cancel"),
    re_path(rf"^i/{OPAQUE}$", images.served, name="image"),
    re_path(rf"^s/{OPAQUE}$", images.small, name="small-image"),
    re_path(rf"^t/{OPAQUE}$", images.thumbnail, name="thumbnail"),
]
