"""All URLs of the app, from one file per part.

The URLs for every click come first: patterns are tried in order, and trying sixty others first took an eighth of the
web server's Python time.
"""

from django.urls import include, path, re_path

import annotation.tasks  # noqa: F401  # here so that the web process, too, knows the task for each kind of job
import benchmarks.tasks  # noqa: F401
from config import client, help, views

handler400 = views.bad_request
handler404 = views.not_found
handler500 = views.server_error

urlpatterns = [
    path("judge/", include("annotation.judging.urls")),
    path("", views.home, name="home"),
    path("appearance/", views.choose_appearance, name="appearance"),
    path("help/", help.help_page, name="help"),
    re_path(r"^help/pictures/(?P<name>[a-z0-9-]+\.(?:png|svg))$", help.help_picture, name="help-picture"),
    re_path(r"^help/(?P<page>[A-Za-z0-9-]+(?:/[A-Za-z0-9-]+)*)/$", help.help_page, name="help-page"),
    path("client/", client.client_page, name="client"),
    path("client/<str:name>", client.client_file, name="client-file"),
    path("api/v1/", include("benchmarks.api.urls")),
    path("api/v1/", include("annotation.api.urls")),
    re_path(r"^api/(?!v[0-9])(?P<rest>.+)$", views.unversioned, name="unversioned-api"),
    path("", include("benchmarks.urls")),
    path("", include("annotation.urls")),
]
