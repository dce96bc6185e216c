"""All URLs of the app, from one file per part."""

from django.urls import include, path

import annotation.tasks  # noqa: F401  # here so that the web process, too, knows the task for each kind of job
import benchmarks.tasks  # noqa: F401
from config import views

handler400 = views.bad_request
handler404 = views.not_found
handler500 = views.server_error

urlpatterns = [
    path("", views.home, name="home"),
    path("appearance/", views.choose_appearance, name="appearance"),
    path("healthz", views.health, name="health"),
    path("api/", include("benchmarks.api.urls")),
    path("api/", include("annotation.api.urls")),
    path("", include("benchmarks.urls")),
    path("", include("annotation.urls")),
]
