"""What every request must be before anything else looks at it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse


def is_api(request: HttpRequest) -> bool:
    """Whether whoever asks reads JSON."""
    return f"{request.path_info}/".startswith("/api/")


def no_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """An address with a NUL character is nobody's: PostgreSQL would refuse it far below, as an error of ours."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            wrong = "The address holds a NUL character."
            return wrong_address(wrong) if is_api(request) else HttpResponseBadRequest(wrong)
        return get_response(request)

    return middleware


def wrong_address(why: str) -> JsonResponse:
    """As the API refuses a filter."""
    return JsonResponse({"address": [why]}, status=400)


def kept_by_nobody(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Pages, the API and downloads are for those who may see them now: no browser and no proxy keeps them.

    What may be kept, such as an image, says so itself.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return middleware
