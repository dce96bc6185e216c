"""URLs below /api/ for benchmarks and jobs, and for the API's own description."""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from benchmarks.api import corrections, imports, uploads, views

urlpatterns = [
    path("schema/", SpectacularJSONAPIView.as_view(), name="api-schema"),
    path("benchmarks/", views.BenchmarkList.as_view(), name="api-benchmark-list"),
    path("benchmarks/<int:pk>/", views.BenchmarkDetail.as_view(), name="api-benchmark-detail"),
    path("benchmarks/<int:pk>/items/", views.ItemList.as_view(), name="api-item-list"),
    path("benchmarks/<int:pk>/predictions/", imports.PredictionsNew.as_view(), name="api-predictions-new"),
    path("benchmarks/<int:pk>/corrections/", corrections.Corrections.as_view(), name="api-corrections"),
    path("imports/", imports.ImportNew.as_view(), name="api-import-new"),
    path("uploads/", uploads.UploadList.as_view(), name="api-upload-list"),
    re_path(r"^uploads/(?P<opaque>[0-9a-f]{32})/$", uploads.UploadDetail.as_view(), name="api-upload-detail"),
    path("jobs/<int:pk>/", views.JobDetail.as_view(), name="api-job-detail"),
    path("jobs/<int:pk>/cancel/", views.JobCancel.as_view(), name="api-job-cancel"),
]
