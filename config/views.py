"""General views: the front page, and errors, which the API returns as JSON."""

from collections.abc import Iterator

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from benchmarks.api.errors import refusal
from benchmarks.permissions import came_from
from config import appearance, bodies
from config.middleware import is_api, wrong_address
from config.typed import FIELD

WORTH_COPYING = 20  # characters


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return redirect("study-list" if request.user.is_staff else "login")


@csrf_exempt  # annotators' pages have no session; another site could only change colours or keys
@require_POST
def choose_appearance(request: HttpRequest) -> HttpResponse:
    """Store the choice, and return to the page where it was made."""
    response = redirect(came_from(request) or "home")
    appearance.keep(response, request.POST)
    return response


@csrf_exempt  # it changes nothing: the request is repeated
def unversioned(request: HttpRequest, rest: str) -> HttpResponse:
    """Redirect an unversioned API URL with its method and body (308)."""
    found = request.get_full_path().replace("/api/", "/api/v1/", 1)
    return HttpResponsePermanentRedirect(found, preserve_request=True)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what Django itself refuses before any view: a foreign host, too many parameters."""
    if is_api(request):
        many = isinstance(exception, TooManyFieldsSent)
        return wrong_address("It has too many parameters." if many else "Winnow does not answer at this address.")
    if request.method == "POST" and isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
        return bodies.too_many(request)
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request):
        return JsonResponse(refusal("NOT_FOUND", "This URL does not exist."), status=404)
    return defaults.page_not_found(request, exception)


def outdated_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Reject a form from before a login or logout in another tab, or from another site, showing its texts so that they
    can be copied."""
    if is_api(request):
        return JsonResponse(refusal("FORBIDDEN", f"CSRF check failed: {reason}"), status=403)
    context = {"back": came_from(request), "texts": [text for text in _texts_of(request) if len(text) >= WORTH_COPYING]}
    return render(request, "403_csrf.html", context, status=403)


def _texts_of(request: HttpRequest) -> Iterator[str]:
    if bodies.is_large(request) and not hasattr(request, "_post"):
        return  # the rest of it may never arrive, and this thread would wait
    for name, values in request.POST.lists():
        if name not in ("csrfmiddlewaretoken", "seen", FIELD) and "password" not in name:
            yield from values


def server_error(request: HttpRequest) -> HttpResponse:
    if is_api(request):
        return JsonResponse(refusal("UNEXPECTED", "An unexpected error occurred. See the server's log."), status=500)
    return defaults.server_error(request)
