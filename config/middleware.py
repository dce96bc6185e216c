"""Checks of every request before anything else handles it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse


def no_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Reject URLs with a NUL character, which PostgreSQL would otherwise refuse later, as a server error."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            wrong = "The URL contains a NUL character."
            is_api = request.path_info.startswith("/api/")
            return JsonResponse({"address": [wrong]}, status=400) if is_api else HttpResponseBadRequest(wrong)
        return get_response(request)

    return middleware


def kept_by_nobody(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Keep browsers and proxies from caching pages, API responses and downloads, since permissions may change.

    Cacheable responses, such as images, set their own header.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return middleware
