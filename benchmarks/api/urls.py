"""URLs below /api/ for benchmarks and jobs, and for the API's own description."""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from benchmarks.api import corrections, imports, orders, runs, uploads, views

urlpatterns = [
    path("", views.Server.as_view(), name="api-server"),
    path("schema/", SpectacularJSONAPIView.as_view(), name="api-schema"),
    path("benchmarks/", views.BenchmarkList.as_view(), name="api-benchmark-list"),
    path("benchmarks/<int:pk>/", views.BenchmarkDetail.as_view(), name="api-benchmark-detail"),
    path("benchmarks/<int:pk>/items/", views.ItemList.as_view(), name="api-item-list"),
    path("benchmarks/<int:pk>/predictions/", imports.PredictionsNew.as_view(), name="api-predictions-new"),
    path("benchmarks/<int:pk>/corrections/", corrections.Corrections.as_view(), name="api-corrections"),
    path("benchmarks/<int:pk>/rename/", views.BenchmarkRename.as_view(), name="api-benchmark-rename"),
    path("benchmarks/<int:pk>/archive/", views.BenchmarkArchive.as_view(), name="api-benchmark-archive"),
    path("benchmarks/<int:pk>/delete/", views.BenchmarkDelete.as_view(), name="api-benchmark-delete"),
    path("benchmarks/<int:pk>/score/", orders.Score.as_view(), name="api-score-new"),
    path("benchmarks/<int:pk>/ask/", orders.Ask.as_view(), name="api-ask-new"),
    path("benchmarks/<int:pk>/ask/estimate/", orders.AskEstimate.as_view(), name="api-ask-estimate"),
    path("benchmarks/<int:pk>/captions/estimate/", orders.CaptionsEstimate.as_view(), name="api-captions-estimate"),
    path("benchmarks/<int:pk>/train/", orders.Train.as_view(), name="api-train-new"),
    path("benchmarks/<int:pk>/captions/", orders.Captions.as_view(), name="api-captions-new"),
    path("benchmarks/<int:pk>/images/", orders.Images.as_view(), name="api-images-new"),
    path("benchmarks/<int:pk>/runs/", runs.RunList.as_view(), name="api-run-list"),
    path("benchmarks/<int:pk>/runs/<int:run>/", runs.RunDetail.as_view(), name="api-run-detail"),
    path("benchmarks/<int:pk>/runs/<int:run>/delete/", runs.RunDelete.as_view(), name="api-run-delete"),
    path("benchmarks/<int:pk>/reported/", runs.ReportedNew.as_view(), name="api-reported-new"),
    path("imports/", imports.ImportNew.as_view(), name="api-import-new"),
    path("uploads/", uploads.UploadList.as_view(), name="api-upload-list"),
    re_path(r"^uploads/(?P<opaque>[0-9a-f]{32})/$", uploads.UploadDetail.as_view(), name="api-upload-detail"),
    path("jobs/", views.JobList.as_view(), name="api-job-list"),
    path("jobs/<int:pk>/", views.JobDetail.as_view(), name="api-job-detail"),
    path("jobs/<int:pk>/cancel/", views.JobCancel.as_view(), name="api-job-cancel"),
]
