"""Light or dark, and whether single-key shortcuts work: the viewer's choices, each kept in a cookie.

The server writes them into the page, so nothing flashes while a page loads, and choices work without scripts.
Annotators' pages are rendered without their request, so the choices are in a context variable during a request.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import MappingProxyType

from django.conf import settings
from django.http import HttpRequest, HttpResponse

# By cookie. The first is the default: pages follow the system, and shortcuts work.
CHOICES = {"appearance": ("auto", "light", "dark"), "keys": ("on", "off")}
AGE = 365 * 24 * 3600  # seconds
_NONE: Mapping[str, str] = MappingProxyType({})
_chosen: ContextVar[Mapping[str, str]] = ContextVar("choices", default=_NONE)


def chosen(name: str) -> str:
    """Return the choice for the current request: one of CHOICES."""
    return _chosen.get().get(name, CHOICES[name][0])


def appearance(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: read the cookies during the request."""

    def middleware(request: HttpRequest) -> HttpResponse:
        token = _chosen.set(_known(request.COOKIES))
        try:
            return get_response(request)
        finally:
            _chosen.reset(token)

    return middleware


def keep(response: HttpResponse, sent: Mapping[str, str]) -> None:
    """Store a choice in the browser; anything other than a choice is ignored."""
    for name, choice in _known(sent).items():
        secure = settings.SESSION_COOKIE_SECURE
        response.set_cookie(name, choice, max_age=AGE, httponly=True, samesite="Lax", secure=secure)


def _known(sent: Mapping[str, str]) -> dict[str, str]:
    return {name: sent[name] for name, choices in CHOICES.items() if sent.get(name) in choices}
