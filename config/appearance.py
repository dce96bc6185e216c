"""Light or dark: the viewer's choice, kept in a cookie. Without one, pages follow the system.

The server writes it into the page, so nothing flashes while a page loads, and no script is needed. Annotators' pages
are rendered without their request, so the choice is in a context variable while a request is answered.
"""

from collections.abc import Callable
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse

COOKIE = "appearance"
AUTO, LIGHT, DARK = "auto", "light", "dark"
CHOICES = (AUTO, LIGHT, DARK)
AGE = 365 * 24 * 3600  # seconds
_chosen: ContextVar[str] = ContextVar("appearance", default=AUTO)


def chosen() -> str:
    """The choice of whoever sent the request that is being answered: one of CHOICES."""
    return _chosen.get()


def appearance(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: read the cookie for as long as the request is answered."""

    def middleware(request: HttpRequest) -> HttpResponse:
        sent = request.COOKIES.get(COOKIE, AUTO)
        token = _chosen.set(sent if sent in CHOICES else AUTO)
        try:
            return get_response(request)
        finally:
            _chosen.reset(token)

    return middleware


def keep(response: HttpResponse, choice: str) -> None:
    """Store the choice in the browser; anything else than a choice changes nothing."""
    if choice in CHOICES:
        secure = settings.SESSION_COOKIE_SECURE
        response.set_cookie(COOKIE, choice, max_age=AGE, httponly=True, samesite="Lax", secure=secure)
