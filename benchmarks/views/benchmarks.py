"""The list of benchmarks, and the page of one with its items."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks import permissions, queries
from benchmarks.imports import run
from benchmarks.models import Benchmark, Item
from benchmarks.permissions import StaffRequest
from benchmarks.views.likeness import likeness, panels

PAGE = 20  # items
JOBS = 10
SEARCH = 200  # characters


@require_safe
@permissions.staff_only
def benchmark_list(request: StaffRequest) -> HttpResponse:
    benchmarks = queries.with_counts(Benchmark.objects.select_related("created_by"))
    context = {"section": "benchmarks", "benchmarks": benchmarks, "jobs": permissions.imports_for(request.user)[:JOBS]}
    return render(request, "benchmarks/list.html", context)


@require_safe
@permissions.staff_only
def benchmark_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """`?type=swap&subtype=att&q=cup`: only those items; `after=` or `before=`: a page of them."""
    benchmark = permissions.benchmark_for(request.user, pk)
    kinds = list(queries.kinds(benchmark.items.all()))
    chosen = {name: request.GET[name] for name in ("type", "subtype") if name in request.GET}
    search = request.GET.get("q", "").strip()[:SEARCH]
    items = queries.search(benchmark.items.filter(**chosen), search)
    kept = chosen | ({"q": search} if search else {})
    context = {
        "section": "benchmarks",
        "may_change": permissions.may_change_benchmark(request.user, benchmark),
        "may_manage_webhooks": permissions.may_manage_webhooks(request.user, benchmark),
        "benchmark": queries.with_counts(Benchmark.objects.filter(pk=pk)).get(),
        "kinds": [kind | {"query": urlencode({n: kind[n] for n in ("type", "subtype")})} for kind in kinds],
        "rounds": queries.rounds(benchmark),
        "skipped": [] if request.GET else run.skipped_rows(benchmark),
        "chosen": chosen,
        "search": search,
        "chosen_count": items.count() if kept else None,
        "page": _page_of(items, request.GET, urlencode(kept)),
        "likeness_panels": [] if request.GET else panels(likeness(benchmark)),
    }
    return render(request, "benchmarks/detail.html", context)


@dataclass(frozen=True)
class Page:
    """Items in their order, and the query strings of the previous and next page ("" if there is none)."""

    items: list[Item]
    earlier: str
    later: str


def _page_of(items: QuerySet[Item], asked, kept: str) -> Page:
    """Keyset paging: `after=` or `before=` a position, so that page 300 costs what page 1 costs."""
    after, before = _place(asked.get("after")), _place(asked.get("before"))
    if before is not None:
        chosen = items.filter(position__lt=before).order_by("-position")
    else:
        chosen = (items if after is None else items.filter(position__gt=after)).order_by("position")
    found = list(queries.with_material(chosen)[: PAGE + 1])
    shown, more = found[:PAGE], len(found) > PAGE
    if before is not None:
        shown.reverse()
    earlier = more if before is not None else bool(shown) and after is not None
    later = more if before is None else bool(shown)
    return Page(
        shown, _link("before", shown[0], kept) if earlier else "", _link("after", shown[-1], kept) if later else ""
    )


def _link(way: str, item: Item, kept: str) -> str:
    return "&".join(filter(None, (kept, urlencode({way: item.position}))))


def _place(text: str | None) -> int | None:
    """A position from the URL; anything else counts as not given."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else None
