"""The Python client (client/) and its notebook, for everybody who can reach this server, as pip cannot log in."""

import runpy
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

BACKEND = Path(settings.BASE_DIR) / "client/build_backend.py"
NOTEBOOK = Path(settings.BASE_DIR) / "docs/guide/notebook.ipynb"


@require_safe
def client_page(request: HttpRequest) -> HttpResponse:
    name, _ = wheel()
    address = request.build_absolute_uri(reverse("client-file", args=[name]))
    install = f'pip install "winnow-client[pandas,datasets] @ {address}"'
    context = {"section": "help", "install": install, "wheel": name, "notebook": NOTEBOOK.name}
    return render(request, "help/client.html", context)


@require_safe
def client_file(request: HttpRequest, name: str) -> HttpResponse:
    """Send the wheel of the current version, or the notebook."""
    file, content = wheel()
    if name == NOTEBOOK.name:
        content = NOTEBOOK.read_bytes()
    elif name != file:
        raise Http404("The file does not exist. The version may have changed: see /client/.")
    return HttpResponse(content, "application/octet-stream", headers={"Content-Disposition": "attachment"})


@cache
def wheel() -> tuple[str, bytes]:
    """Return its name and content, built from the sources beside the server in a few milliseconds."""
    built: tuple[str, bytes] = runpy.run_path(str(BACKEND))["wheel"]()
    return built
