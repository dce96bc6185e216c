"""What every request must be before anything else looks at it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest


def no_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """An address with a NUL character is nobody's: PostgreSQL would refuse it far below, as an error of ours."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return HttpResponseBadRequest("The address holds a NUL character.")
        return get_response(request)

    return middleware
