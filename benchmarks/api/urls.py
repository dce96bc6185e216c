"""URLs below /api/ for benchmarks and jobs, and for the API's own description."""

from django.urls import path
from drf_spectacular.views import SpectacularJSONAPIView

from benchmarks.api import views

urlpatterns = [
    path("schema/", SpectacularJSONAPIView.as_view(), name="api-schema"),
    path("benchmarks/", views.BenchmarkList.as_view(), name="api-benchmark-list"),
    path("benchmarks/<int:pk>/", views.BenchmarkDetail.as_view(), name="api-benchmark-detail"),
    path("benchmarks/<int:pk>/items/", views.ItemList.as_view(), name="api-item-list"),
    path("jobs/<int:pk>/", views.JobDetail.as_view(), name="api-job-detail"),
    path("jobs/<int:pk>/cancel/", views.JobCancel.as_view(), name="api-job-cancel"),
]
