"""Pages for annotators, rendered without the request: no session, user or messages are looked up."""

from django.http import HttpResponse, QueryDict
from django.template import loader
from django.views.decorators.cache import cache_control

from annotation.permissions import Desk

private = cache_control(no_store=True, private=True)


def page(name: str, here: Desk | None = None, status: int = 200, **context) -> HttpResponse:
    html = loader.get_template(f"judging/{name}.html").render({"desk": here, **context})
    return HttpResponse(html, status=status)


def text(sent: QueryDict, name: str) -> str:
    """What was typed, without NUL, which PostgreSQL's text cannot hold."""
    return sent.get(name, "").replace("\0", "").strip()
