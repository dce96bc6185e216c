"""Limits on the size of request bodies, by URL. Larger ones are refused before any of it is read.

Only people who have logged in may send more than BUFFERED_BODY. The proxies have the same limits (haproxy.cfg,
docs/guide/deployment.md).
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.urls import Resolver404, resolve

from benchmarks.api.commands import MOST_BYTES
from benchmarks.api.errors import refusal
from benchmarks.jobs.kept_uploads import CHUNK
from benchmarks.permissions import staff_only
from config.middleware import is_api

FILES = {  # by URL name; only staff may use these
    "import-new": 10 * 2**30,
    "predictions-new": 10 * 2**30,
    "ratings-new": 10 * 2**30,
    "reported-new": 10 * 2**30,
    "corrections-new": 10 * 2**30,
    "item-correct": 2**30,
    "study-instructions": 64 * 2**20,  # images, of 10 MB each
    "study-returned": 8 * 2**20,
}
NO_LENGTH = "Winnow needs to know how long a request’s body is. Send it with Content-Length, not in chunks."


def bodies(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: refuse a body without a length (411) and one that is too large (413); and make senders of large ones
    log in first, because the CSRF check would read the body."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "HTTP_TRANSFER_ENCODING" in request.META:
            return _refused(request, 411, "LENGTH_REQUIRED", NO_LENGTH)
        if not is_large(request):
            return get_response(request)
        name = _name(request)
        if int(request.META["CONTENT_LENGTH"]) > (most := _most(request, name)):
            return too_large(request, most)
        return staff_only(get_response)(request) if name in FILES else get_response(request)

    return middleware


def is_large(request: HttpRequest) -> bool:
    """Return whether its body is read from the client while it arrives."""
    length = request.META.get("CONTENT_LENGTH") or ""
    return length.isascii() and length.isdigit() and int(length) > settings.BUFFERED_BODY


def _name(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).url_name or ""
    except Resolver404:
        return ""


def _most(request: HttpRequest, name: str) -> int:
    """Return the limit in bytes. The API authenticates before it reads."""
    if name == "api-upload-detail":
        return CHUNK
    if is_api(request):
        return MOST_BYTES
    if name in FILES:
        return FILES[name]
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE if request.user.is_staff else settings.BUFFERED_BODY


def too_large(request: HttpRequest, most: int) -> HttpResponse:
    if is_api(request):
        says = f"The body can have at most {most:,} bytes. Upload larger files in chunks (/api/v1/uploads/)."
    else:
        says = f"A request to this page can have at most {filesizeformat(most)}. Send less at once, or a smaller file."
    return _refused(request, 413, "TOO_LARGE", says)


def too_many(request: HttpRequest) -> HttpResponse:
    """Refuse a page's form that Django has begun to read."""
    fields, files = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, settings.DATA_UPLOAD_MAX_NUMBER_FILES
    text = filesizeformat(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    says = f"A form can have at most {fields:,} fields with {text} of text, and {files} files. Send less at once."
    return _refused(request, 413, "TOO_LARGE", says)


def _refused(request: HttpRequest, status: int, code: str, says: str) -> HttpResponse:
    if is_api(request):
        return JsonResponse(refusal(code, says), status=status)
    return render(request, "413.html", {"says": says}, status=status)
