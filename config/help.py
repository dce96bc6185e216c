"""The documentation inside the app: pages of docs/ as HTML, for all managers, and the guide for each page."""

import posixpath
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from markdown_it.token import Token

from annotation.markdown import PageRenderer, markdown
from benchmarks.permissions import staff_only
from config.help_search import Section, search

DOCS = Path(settings.BASE_DIR) / "docs"
START = "README"
GUIDES = {  # URL name, or its beginning → the page that explains it; the longest beginning counts
    "import-": "guide/imports",
    "benchmark-": "guide/imports",
    "job-": "guide/imports",
    "benchmark-models": "guide/comparison",
    "benchmark-settings": "guide/housekeeping",
    "benchmark-webhooks": "guide/webhooks",
    "score-": "guide/scoring",
    "captions-": "guide/generating",
    "corrections-": "guide/corrections",
    "item-correct": "guide/corrections",
    "ask-": "guide/scoring",
    "images-": "guide/generating-images",
    "train-": "guide/training",
    "predictions-": "reference/predictions",
    "ratings-": "reference/ratings",
    "reported-": "guide/comparison",
    "api-token": "reference/api",
    "account": "guide/login",
    "user-": "guide/members",
    "mfa_": "guide/login",
    "client": "guide/python-client",
    "protocol-": "guide/own-protocol",
    "study-": "guide/studies",
    "study-adjudicate": "guide/adjudication",
    "study-agreement": "reference/measures",
    "study-annotator": "guide/participants",
    "study-baseline": "reference/measures",
    "study-checks": "guide/checks",
    "study-delete": "guide/housekeeping",
    "study-disagreements": "guide/adjudication",
    "study-member": "guide/members",
    "study-pay": "guide/participants",
    "study-prolific": "guide/participants",
    "study-report": "guide/report",
    "study-results": "guide/people-and-models",
    "study-score": "guide/scoring",
    "study-ask": "guide/scoring",
    "study-webhooks": "guide/webhooks",
    "study-model-errors": "guide/people-and-models",
    "release-": "guide/releases",
    "reader-report-": "guide/corrections",
    "report-error": "guide/corrections",
    "study-reader-reports": "guide/corrections",
    "webhook-": "guide/webhooks",
}


def guide_for(address: str) -> str:
    """Return the page that explains the page with this URL name; the list of all pages if there is none."""
    found = [start for start in GUIDES if address.startswith(start)]
    return GUIDES[max(found, key=len)] if found else START


@require_safe
@staff_only
def help_page(request: HttpRequest, page: str = START) -> HttpResponse:
    path = DOCS / f"{page}.md"
    if not path.is_file():  # the URL pattern does not allow dots in `page`
        raise Http404("This page does not exist.")
    text, title, parts = rendered(page, path.stat().st_mtime_ns)
    context = {"section": "help", "text": text, "title": title, "parts": parts, "start": page == START}
    if question := request.GET.get("q", "").strip()[:200]:
        found = search(all_sections(), question)
        context |= {"question": question, "found": found, "title": f"“{question}”", "parts": []}
    return render(request, "help/page.html", context)


@require_safe
@staff_only
def help_picture(request: HttpRequest, name: str) -> FileResponse:
    path = DOCS / "pictures" / name
    if not path.is_file():  # the URL pattern does not allow slashes in `name`
        raise Http404("This picture does not exist.")
    return FileResponse(path.open("rb"))


def all_sections() -> tuple[Section, ...]:
    """Return every section of the pages for those who use Winnow, in the order of URLs: not those on its making."""
    pages = sorted(path for room in ("guide", "reference") for path in (DOCS / room).rglob("*.md"))
    names = [(path.relative_to(DOCS).with_suffix("").as_posix(), path.stat().st_mtime_ns) for path in pages]
    return tuple(section for name, modified in names for section in _sections(name, modified))


@lru_cache(maxsize=128)
def _sections(page: str, modified: int) -> list[Section]:
    """Return the page's sections, each from a heading to the next; `modified` renews the cache."""
    tokens = _MARKDOWN.parse((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    headings = _name_headings(tokens)
    address = reverse("help-page", args=[page])
    found = []
    begins = [tokens.index(heading) for heading, _ in headings]
    for (heading, words), (begin, end) in zip(headings, pairwise([*begins, len(tokens)]), strict=True):
        text = _prose(tokens[begin + 3 : end])  # after the heading, its text and its end
        found.append(Section(f"{address}#{heading.attrs['id']}", headings[0][1], words, text))
    return found


def _prose(tokens: Sequence[Token]) -> str:
    """Return a line for each paragraph and row of a table, without heads of tables and blocks of code."""
    text = ""
    for token in tokens:
        text += "".join(" " if child.type == "softbreak" else child.content for child in token.children or ())
        text += {"td_close": " · ", "tr_close": "\n", "paragraph_close": "\n"}.get(token.type, "")
        if token.type == "thead_close":
            text = text[: text.rfind("\n", 0, -1) + 1]
    return text.replace(" · \n", "\n").strip()


@lru_cache(maxsize=64)
def rendered(page: str, modified: int) -> tuple[SafeString, str, list[tuple[str, str]]]:
    """Return the page as HTML, its title, and the id and heading of each part. Raw HTML in it stays text; `modified`
    renews the cache.
    """
    tokens = _MARKDOWN.parse((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    headings = _name_headings(tokens)
    for token in (child for block in tokens for child in block.children or ()):
        for name in {"href", "src"} & token.attrs.keys():
            token.attrs[name] = _address(str(token.attrs[name]), page)
    parts = [(str(token.attrs["id"]), words) for token, words in headings if token.tag == "h2"]
    title = headings[0][1] if headings else page
    return mark_safe(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})), title, parts


def _name_headings(tokens: list[Token]) -> list[tuple[Token, str]]:
    """Give headings ids for links, as on GitHub; return each with its text."""
    found = []
    taken: set[str] = set()
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            words = "".join(child.content for child in inline.children or ())
            name = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
            heading.attrs["id"] = name if name not in taken else f"{name}-{len(taken)}"
            taken.add(name)
            found.append((heading, words))
    return found


def _address(link: str, page: str) -> str:
    """Return where a page's link leads inside the app."""
    target, _, anchor = link.partition("#")
    if re.match(r"[a-z]+:", target):
        return link
    found = posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else page
    if found.startswith("pictures/"):
        return reverse("help-picture", args=[found.removeprefix("pictures/")])
    found = found.removesuffix(".md")
    address = reverse("help") if found == START else f"{reverse('help')}{found}/"
    return f"{address}#{anchor}" if anchor else address


_MARKDOWN = markdown(PageRenderer)
