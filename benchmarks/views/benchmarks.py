"""The list of benchmarks, and a benchmark's page with its items."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db.models import Count, OuterRef, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks import audit, permissions, queries
from benchmarks.formats.registry import FORMATS
from benchmarks.housekeeping import delete
from benchmarks.housekeeping.archive import rename, set_archived
from benchmarks.imports import run
from benchmarks.models import Benchmark, Item, Job, JobState
from benchmarks.naming import kind_name
from benchmarks.permissions import StaffRequest
from benchmarks.records import Refused
from benchmarks.tables import Column, Table, bdi, number, with_sub
from benchmarks.templatetags.winnow import moment
from benchmarks.views.likeness import likeness, panels

PAGE = 20  # items
LISTED = 50  # benchmarks
JOBS = 10
SEARCH = 200  # characters


@require_safe
@permissions.staff_only
def benchmark_list(request: StaffRequest) -> HttpResponse:
    """List benchmarks; the query has the search `q`, `state=archived`, the order and the page."""
    search, archived = request.GET.get("q", "").strip()[:SEARCH], request.GET.get("state") == "archived"
    found = Benchmark.objects.filter(Q(name__icontains=search) | Q(source__icontains=search))
    counts = {one: found.filter(archived=one).count() for one in (False, True)}
    studies = Benchmark.objects.filter(pk=OuterRef("pk")).annotate(count=Count("studies"))
    rows = queries.with_counts(found.filter(archived=archived).select_related("created_by"))
    table = Table(
        "benchmarks", COLUMNS, rows.annotate(study_count=queries.counted(studies)),
        label="benchmarks-title", cards=True, request=request, per_page=LISTED,
    )  # fmt: skip
    context = {
        "section": "benchmarks", "table": table, "search": search, "state": "archived" if archived else "",
        "filters": [("", "All", counts[False]), ("archived", "Archived", counts[True])],
        "any": any(counts.values()) or bool(search),
        "jobs": [job for job in permissions.jobs_for(request.user).filter(kind="import")[:JOBS] if not _is_listed(job)],
    }  # fmt: skip
    return render(request, "benchmarks/list.html", context)


def _is_listed(job: Job) -> bool:
    """Return whether the import has become a listed benchmark."""
    return job.state == JobState.DONE and not (job.report.get("look") or job.report.get("check_only"))


def format_title(source: str) -> str:
    return FORMATS[source].title if source in FORMATS else source


def _link(benchmark: Benchmark) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse("benchmark-detail", args=[benchmark.pk]), bdi(benchmark.name))


def _imported(benchmark: Benchmark) -> SafeString:
    return with_sub(moment(benchmark.created_at), benchmark.created_by and f"by {benchmark.created_by}")


COLUMNS = [
    Column("name", "name", html=_link, css="name"),
    number("items", "item_count", unit="items"),
    number("studies", "study_count"),
    Column("format", "source", format_title, unit=""),
    Column("imported", "created_at", html=_imported, css="quiet"),
]


@require_POST
@permissions.staff_only
def benchmark_archive(request: StaffRequest, pk: int) -> HttpResponse:
    """Archive the benchmark, or with `to=list` restore it to the list."""
    benchmark, back = permissions.benchmark_for(request.user, pk, change=True), request.POST.get("to") == "list"
    set_archived(thing=benchmark, archived=not back, by=audit.named(request.user))
    messages.success(request, f"“{benchmark}” is {'in the list again' if back else 'archived'}.")
    return redirect("benchmark-list")


class RenameForm(forms.Form):
    new_name = forms.CharField(label="Name", max_length=Benchmark._meta.get_field("name").max_length)


class NameForm(forms.Form):
    """Confirms a deletion by the benchmark's name."""

    name = forms.CharField(label="Type the benchmark’s name to confirm", strip=True)

    def __init__(self, benchmark: Benchmark, data=None):
        super().__init__(data)
        self.fields["name"].help_text = benchmark.name
        self.fields["name"].widget.attrs |= {"autocomplete": "off", "dir": "auto"}


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def benchmark_settings(request: StaffRequest, pk: int) -> HttpResponse:
    """Show its name, archiving, and what deletion would remove or why it is impossible. A POST with a `new_name`
    renames it, one with its `name` deletes it."""
    benchmark = permissions.benchmark_for(request.user, pk, change=True)
    renames = "new_name" in request.POST
    new = RenameForm(request.POST if renames else None, initial={"new_name": benchmark.name})
    size, form = delete.size(benchmark), NameForm(benchmark, None if renames else request.POST or None)
    why = delete.refusal(benchmark)
    large = size["items"] > delete.BY_COMMAND
    if renames and new.is_valid():
        try:
            rename(benchmark=benchmark, name=new.cleaned_data["new_name"], by=audit.named(request.user))
        except Refused as refusal:
            new.add_error("new_name", refusal.problems[0].advice)
            benchmark.refresh_from_db(fields=["name"])
        else:
            messages.success(request, f"The benchmark is called “{benchmark}”.")
            return redirect("benchmark-settings", pk)
    if not renames and not why and not large and form.is_valid():
        try:
            went = delete.delete_named(benchmark=benchmark, by=audit.named(request.user), **form.cleaned_data)
        except delete.CannotDelete as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, f"“{benchmark}” has been deleted, with {went['items']:,} items.")
            return redirect("benchmark-list")
    context = {
        "section": "benchmarks", "benchmark": benchmark, "size": size, "refusal": why, "large": large,
        "forms": [new, form], "new": new, "form": form,
    }  # fmt: skip
    status = 422 if request.method == "POST" else 200
    return render(request, "benchmarks/settings.html", context, status=status)


@require_safe
@permissions.staff_only
def benchmark_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """Show its items. `?type=swap&subtype=att&q=cup`: only those items; `after=` or `before=`: a page of them."""
    benchmark = permissions.benchmark_for(request.user, pk)
    kinds = list(queries.kinds(benchmark.items.all()))
    chosen = {name: request.GET[name] for name in ("type", "subtype") if name in request.GET}
    search = request.GET.get("q", "").strip()[:SEARCH]
    items = queries.search(benchmark.items.filter(**chosen), search)
    kept = chosen | ({"q": search} if search else {})
    context = {
        "section": "benchmarks", "may_change": permissions.may_change_benchmark(request.user, benchmark),
        "benchmark": benchmark, "count": sum(kind["count"] for kind in kinds),
        "kinds": [kind | {"query": urlencode({n: kind[n] for n in ("type", "subtype")})} for kind in kinds],
        "rounds": queries.rounds(benchmark), "skipped": [] if request.GET else run.skipped_rows(benchmark),
        "chosen": chosen, "chosen_kind": kind_name(*chosen.values()) if chosen else "", "search": search,
        "chosen_count": items.count() if kept else None, "format": format_title(benchmark.source),
        "page": _page_of(items, request.GET, urlencode(kept)),
        "likeness_panels": [] if request.GET else panels(likeness(benchmark)),
    }  # fmt: skip
    return render(request, "benchmarks/detail.html", context)


@dataclass(frozen=True)
class Page:
    """Items in order, and the query strings of the previous and next page ("" if there is none)."""

    items: list[Item]
    earlier: str
    later: str


def _page_of(items: QuerySet[Item], asked, kept: str) -> Page:
    """Page by keyset: `after=` or `before=` a position, so that page 300 costs the same as page 1."""
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
    return Page(shown, _to("before", shown[0], kept) if earlier else "", _to("after", shown[-1], kept) if later else "")


def _to(way: str, item: Item, kept: str) -> str:
    return "&".join(filter(None, (kept, urlencode({way: item.position}))))


def _place(text: str | None) -> int | None:
    """Return a position from the URL; anything else counts as missing."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else None
