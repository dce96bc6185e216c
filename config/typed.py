"""Confirm submitted forms: a page keeps what was typed until it learns that the form has arrived."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

FIELD = "typed_key"  # put into every submitted form by static/js/pages/typed.js, with a new value each time
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
KEY = re.compile(r"[0-9a-z]{8,40}")
AGE = 3600  # seconds; the next page removes it


def confirm(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: set a cookie named after the form's key to the status of the answer, unless that asks for a login."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.method == "POST" and request.content_type in FORMS and _is_answered(response):
            key = request.POST.get(FIELD, "")
            if KEY.fullmatch(key):
                response.set_cookie(
                    f"winnow-typed-{key}", str(response.status_code), AGE, secure=request.is_secure(), samesite="Lax"
                )
        return response

    return middleware


def _is_answered(response: HttpResponse) -> bool:
    if response.status_code != 302:
        return response.status_code in (200, 422)
    return not urlsplit(response.headers["Location"]).path.startswith(
        (reverse("login"), reverse("account_reauthenticate"))
    )
