"""Addresses of the API of benchmarks and jobs, below /api/, and of the API's own description."""

from django.urls import path
from drf_spectacular.views import SpectacularJSONAPIView

from benchmarks.api import views

urlpatterns = [
    path("schema/", SpectacularJSONAPIView.as_view(), name="api-schema"),
    path("benchmarks/", views.benchmark_list, name="api-benchmark-list"),
    path("benchmarks/<int:pk>/", views.benchmark_detail, name="api-benchmark-detail"),
    path("benchmarks/<int:pk>/items/", views.item_list, name="api-item-list"),
    path("jobs/<int:pk>/", views.job_detail, name="api-job-detail"),
]
