"""Checks of every request before it is handled."""

import logging
from collections.abc import Callable

from csp.constants import HEADER
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render

from benchmarks.api.errors import INVALID, refusal, wrong_field
from benchmarks.jobs import room
from benchmarks.storage.files import Unavailable
from config.database.base import PREPARES

LARGE = 8 * 2**20  # bytes; chunks of an upload, which reserves space itself, are smaller
SOON = {"Retry-After": "2"}  # seconds
log = logging.getLogger(__name__)


class CompressedPages(GZipMiddleware):
    """Compresses pages, but not files or streams. Against BREACH, which guesses a secret from lengths, Django adds up
    to 100 random bytes to each page, and masks its CSRF token anew.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or not response.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)


def is_api(request: HttpRequest) -> bool:
    """Return whether the client expects JSON."""
    return f"{request.path_info}/".startswith("/api/")


def no_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Reject URLs with a NUL character, which PostgreSQL would otherwise refuse later, as a server error."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            wrong = "The URL contains a NUL character."
            return wrong_address(wrong) if is_api(request) else HttpResponseBadRequest(wrong)
        return get_response(request)

    return middleware


def wrong_address(why: str) -> JsonResponse:
    """Return the refusal that the API gives for a filter."""
    return JsonResponse(refusal(INVALID, why, [wrong_field("address", why)]), status=400)


def plans(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Keep the plans of annotators' few statements, which every click repeats. All others are planned for their own
    study: a plan for any study can scan the whole table, and took eight times as long for a study far above the mean.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        PREPARES.set(request.path_info.startswith("/judge/"))
        return get_response(request)

    return middleware


def content_security_policy(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Set django-csp's header, built once: its own middleware builds it twice for every response. Views may replace
    parts of it (`csp_replace`); no other decorator of django-csp has an effect.
    """
    usual = build_policy()

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        replaced = getattr(response, "_csp_replace", None)
        response.headers.setdefault(HEADER, build_policy(replace=replaced) if replaced else usual)
        return response

    return middleware


def no_store(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Keep browsers and proxies from caching pages, API responses and downloads, because permissions may change. Report
    to scripts how many requests they have left (benchmarks/accounts/tokens.py).

    Cacheable responses, such as images, set their own header.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for name, value in getattr(request, "rate_limit", {}).items():
            response[name] = value
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return middleware


def room_for_uploads(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Reserve disk space for the files of a large form before they are read; if there is none, answer 507."""

    def middleware(request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or ""
        large = length.isascii() and length.isdigit() and int(length) > LARGE
        if not large or not request.user.is_staff:  # requests by non-staff, whose bodies are small, reserve nothing
            return get_response(request)
        try:
            with room.held(int(length), "these files"):
                return get_response(request)
        except room.NoRoom as reason:
            return render(request, "507.html", {"reason": str(reason)}, status=507)

    return middleware


class ConnectionErrors:
    """Answer 503 if files cannot be reached, showing only managers which storage and why; and 400 if the rest of a body
    does not arrive."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, UnreadablePostError):
            return HttpResponseBadRequest("The request broke off.")
        if not isinstance(error, Unavailable):
            return None
        log.error("%s", error)
        reason = str(error) if request.user.is_staff else ""
        if is_api(request):
            body = refusal("STORAGE_UNAVAILABLE", reason or "The file storage does not answer.")
            return JsonResponse(body, status=503, headers=SOON)
        answer = render(request, "503.html", {"reason": reason}, status=503)
        answer["Retry-After"] = SOON["Retry-After"]
        return answer
