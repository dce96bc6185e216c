"""Checks of every request before anything else handles it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse

from benchmarks.api.errors import INVALID, refusal, wrong_field


def is_api(request: HttpRequest) -> bool:
    """Whether whoever asks reads JSON."""
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
    """As the API refuses a filter."""
    return JsonResponse(refusal(INVALID, why, [wrong_field("address", why)]), status=400)


def kept_by_nobody(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Keep browsers and proxies from caching pages, API responses and downloads, since permissions may change.

    Cacheable responses, such as images, set their own header.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return middleware
