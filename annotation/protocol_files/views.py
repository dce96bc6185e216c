"""Pages of protocol files: what a draft can start from, the editor, and published versions."""

import secrets
from collections.abc import Sequence
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation import permissions
from annotation.models import ProtocolDraft, ProtocolVersion
from annotation.permissions import whole_number
from annotation.protocol_files import drafts, offers
from annotation.protocol_files.publish import NameTaken, digest_of
from annotation.protocols import roles
from annotation.protocols.in_words import each_rule_in_words
from annotation.protocols.registry import VERSION_SIGN
from benchmarks import audit, queries
from benchmarks.differences import Part, differences, marked
from benchmarks.formats.base import Unreadable
from benchmarks.models import Benchmark
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.records import ItemRecord

UNFIT = 422
DIGITS = 18  # of a benchmark's number in a form
ROWS = 34  # of the editor


def draft_for(request: StaffRequest, pk: int) -> ProtocolDraft:
    return get_object_or_404(drafts.drafts_of(request.user).select_related("benchmark"), pk=pk)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def protocol_list(request: StaffRequest) -> HttpResponse:
    """The library, published versions and one's drafts; a POST starts a draft from one of them."""
    given = request.POST or request.GET
    benchmarks = list(Benchmark.objects.order_by("name"))
    chosen = _benchmark(given.get("benchmark"), benchmarks) or next(iter(benchmarks), None)
    if request.method == "POST":
        try:
            draft = drafts.start_draft(
                start=given.get("start", ""), user=request.user, by=audit.named(request.user), benchmark=chosen
            )
        except KeyError:
            raise Http404("There is no such protocol.") from None
        return redirect("protocol-draft", draft.pk)
    first = _first_item(chosen)
    context = {
        "section": "studies",
        "benchmarks": benchmarks,
        "benchmark": chosen,
        "drafts": [(draft, drafts.title_in(draft.text)) for draft in request.user.protocol_drafts.all()],
        "groups": [("published", offers.version_offers(first)), ("library", offers.library_offers(first))],
    }
    return render(request, "protocol_files/list.html", context)


def _benchmark(given: str | None, benchmarks: list[Benchmark]) -> Benchmark | None:
    number = whole_number(given, DIGITS)
    return next((one for one in benchmarks if one.pk == number), None)


def _first_item(benchmark: Benchmark | None) -> ItemRecord | None:
    if benchmark is None:
        return None
    found = queries.with_material(benchmark.present.order_by("position")[:1])
    return next((queries.record_of(item) for item in found), None)


@require_http_methods(["GET", "HEAD", "POST"])
@csp_replace({"frame-src": [SELF]})
@staff_only
def protocol_draft(request: StaffRequest, pk: int) -> HttpResponse:
    """The editor. Every POST saves first; then `do` may be `publish` or `discard`. htmx gets the problems alone."""
    draft = draft_for(request, pk)
    if request.method != "POST":
        return _editor(request, draft)
    by, do = audit.named(request.user), request.POST.get("do")
    text = request.POST.get("text", draft.text)
    seen = "" if do == "overwrite" else request.POST.get("seen", "")
    if do == "discard":
        try:
            drafts.discard_draft(draft=draft, text=text, by=by, seen=seen)
        except drafts.ChangedElsewhere as refusal:
            draft.text = refusal.stored
            return _editor(
                request, draft, "This draft was changed in another window, so it was kept. This is its text."
            )
        messages.success(request, "The draft was discarded.")
        return redirect("protocol-list")
    benchmark = _benchmark(request.POST.get("benchmark"), list(Benchmark.objects.all()))
    try:
        drafts.save_draft(draft=draft, text=text, benchmark=benchmark or draft.benchmark, seen=seen)
        if do == "publish":
            version = drafts.publish_draft(draft=draft, user=request.user, by=by)
            messages.success(request, f"{version} was published. Studies can use it now.")
            return redirect(f"{reverse('protocol-version', args=[version])}?benchmark={draft.benchmark_id or ''}")
    except drafts.CannotSave as refusal:
        draft.text = text.replace("\r\n", "\n")  # as it was typed
        conflict = differences(draft.text, refusal.stored) if isinstance(refusal, drafts.ChangedElsewhere) else ()
        shown = _state if request.htmx else _editor
        return shown(request, draft, str(refusal), seen, conflict)
    except Unreadable:
        return _editor(request, draft, "It was not published. First correct its problems; the draft is saved.")
    except NameTaken as refusal:
        return _editor(request, draft, str(refusal))
    if request.htmx:
        return _state(request, draft)
    return redirect(f"{reverse('protocol-draft', args=[pk])}#state")


def _editor(
    request: StaffRequest, draft: ProtocolDraft, refusal: str = "", seen: str = "", conflict: Sequence[Part] = ()
) -> HttpResponse:
    """With `refusal`, what the page says about a request that was not carried out; `seen` as in `save_draft`."""
    seed = whole_number(request.GET.get("seed"), 9)
    context = {
        **_context(draft, refusal, seen, conflict),
        "section": "studies",
        "rows": ROWS,
        "benchmarks": Benchmark.objects.order_by("name"),
        "home": reverse("protocol-try", args=[draft.pk, draft.pk if seed is None else seed]),
        "other": secrets.randbits(29),
    }
    return render(request, "protocol_files/draft.html", context, status=UNFIT if refusal else 200)


def _state(
    request: StaffRequest, draft: ProtocolDraft, refusal: str = "", seen: str = "", conflict: Sequence[Part] = ()
) -> HttpResponse:
    return render(request, "protocol_files/_state.html", _context(draft, refusal, seen, conflict))


def _context(draft: ProtocolDraft, refusal: str, seen: str, conflict: Sequence[Part]) -> dict[str, Any]:
    reading = drafts.reading_of(draft.text)
    found: dict[str, Any] = {
        "draft": draft, "problems": reading.problems, "file": reading.file, "refusal": refusal,
        "conflict": marked(conflict, "yours: ", "theirs: ") if conflict else "",
        "seen": seen or digest_of(draft.text),
    }  # fmt: skip
    if reading.file:
        found["rules"] = each_rule_in_words(reading.file)
        found["lacks"] = offers.lacks(reading.file, _first_item(draft.benchmark))
    return found


def _asks(version: str) -> Q:
    """Studies with a stage that asks the version, whatever its roles are mapped to."""
    return Q(stages__protocol=version) | Q(stages__protocol__startswith=f"{version}{roles.SIGN}")


@require_safe
@staff_only
def protocol_version(request: StaffRequest, version: str) -> HttpResponse:
    """A published version (`prompt-fit@2`): its text, who published it, and the studies that use it."""
    name, _, number = version.partition(roles.SIGN)[0].partition(VERSION_SIGN)
    wanted = {"name": name, "number": whole_number(number, 9) or 0}
    found = get_object_or_404(ProtocolVersion.objects.select_related("published_by"), **wanted)
    file = drafts.reading_of(found.text).file
    context = {
        "section": "studies", "version": found, "benchmark": whole_number(request.GET.get("benchmark"), DIGITS),
        "file": file, "rules": each_rule_in_words(file) if file else [],
        "others": ProtocolVersion.objects.filter(name=name).exclude(pk=found.pk).order_by("-number"),
        "studies": permissions.studies_for(request.user).filter(_asks(str(found))).distinct(),
    }  # fmt: skip
    return render(request, "protocol_files/version.html", context)
