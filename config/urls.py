"""Every address of the app, a file of URLs for each part."""

from django.urls import include, path

urlpatterns = [
    path("", include("benchmarks.urls")),
    path("", include("annotation.urls")),
]
