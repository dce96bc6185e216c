"""Pages for protocol files: starting points for a draft, the editor, and published versions."""

import secrets
from collections.abc import Sequence
from functools import partial
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation import permissions
from annotation.models import ProtocolDraft, ProtocolVersion
from annotation.permissions import whole_number
from annotation.protocol_files import drafts, offers, own_question
from annotation.protocol_files.forms import OwnQuestionForm
from annotation.protocol_files.publish import NameTaken, digest_of
from annotation.protocols import roles
from annotation.protocols.registry import VERSION_SIGN
from annotation.protocols.rule_words import Asked, each_rule
from benchmarks import audit, queries
from benchmarks.differences import Part, differences, marked
from benchmarks.formats.base import Unreadable
from benchmarks.models import Benchmark
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.records import ItemRecord

UNFIT = 422
DIGITS = 18  # the most digits in a benchmark's number in a form
ROWS = 34  # rows of the editor


def draft_for(request: StaffRequest, pk: int) -> ProtocolDraft:
    return get_object_or_404(drafts.drafts_of(request.user).select_related("benchmark"), pk=pk)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def protocol_list(request: StaffRequest) -> HttpResponse:
    """Show the library, published versions and the user's drafts. A POST starts a draft, from one of them or in the
    form; without `start`, it leads to the page for another benchmark.
    """
    given = request.POST or request.GET
    benchmarks = list(queries.on_offer(whole_number(given.get("benchmark"), DIGITS)).order_by("name"))
    newest = max(benchmarks, key=lambda one: one.created_at, default=None)
    chosen = _benchmark(given.get("benchmark"), benchmarks) or newest
    if request.method == "POST":
        if "start" not in given:
            return redirect(f"{reverse('protocol-list')}?benchmark={chosen.pk if chosen else ''}")
        try:
            draft = drafts.start_draft(
                start=given["start"], user=request.user, by=audit.named(request.user), benchmark=chosen
            )
        except KeyError:
            raise Http404("There is no such protocol.") from None
        return redirect("protocol-draft", draft.pk)
    first = drafts.first_item(chosen)
    context = {
        "section": "questions",
        "benchmarks": benchmarks,
        "benchmark": chosen,
        "seed": secrets.randbits(29),
        "drafts": [(draft, drafts.title_in(draft.text)) for draft in request.user.protocol_drafts.all()],
        "groups": [
            (name, [one for one in found if not one.lacks], [one for one in found if one.lacks])
            for name, found in (("published", offers.version_offers(first)), ("library", offers.library_offers(first)))
        ],
    }
    return render(request, "protocol_files/list.html", context)


def _benchmark(given: str | None, benchmarks: list[Benchmark]) -> Benchmark | None:
    number = whole_number(given, DIGITS)
    return next((one for one in benchmarks if one.pk == number), None)


@require_http_methods(["GET", "HEAD", "POST"])
@csp_replace({"frame-src": [SELF]})
@staff_only
def protocol_draft(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the form, or the editor if no form can produce the text. Every POST saves first; then `do` may be `publish`,
    `use`, `file` or `discard`. htmx gets only the state.
    """
    draft = draft_for(request, pk)
    if request.method != "POST":
        return _page(request, draft, form=None if "file" in request.GET else _form_of(request, draft))
    if request.POST.get("do") == "discard":
        return _discard(request, draft)
    benchmark = _benchmark(request.POST.get("benchmark"), list(Benchmark.objects.all())) or draft.benchmark
    item = drafts.first_item(benchmark) if "kind" in request.POST else None
    if item is None:
        return _save(request, draft, benchmark, request.POST.get("text", draft.text))
    form = _form(request, draft, item, request.POST)
    if form.is_valid():
        return _save(request, draft, benchmark, form.text, form)
    if benchmark == draft.benchmark:
        return _page(request, draft, form=form)
    ask = str(form["ask"].value() or "")  # another benchmark's items have other parts
    return _save(request, draft, benchmark, drafts.own_text(item, request.user, ask))


def _form_of(request: StaffRequest, draft: ProtocolDraft) -> OwnQuestionForm | None:
    """Return the form that made the draft's text, if one did."""
    file, item = drafts.reading_of(draft.text).file, drafts.first_item(draft.benchmark)
    fields = own_question.fields_in(file, draft.text, own_question.counts_of(item)) if item else None
    return _form(request, draft, item, initial=fields) if item and fields else None


def _form(
    request: StaffRequest, draft: ProtocolDraft, item: ItemRecord, data: QueryDict | None = None, **given: Any
) -> OwnQuestionForm:
    return OwnQuestionForm(data, item=item, name_of=partial(drafts.name_for, user=request.user, draft=draft), **given)


def _discard(request: StaffRequest, draft: ProtocolDraft) -> HttpResponse:
    text, seen = request.POST.get("text", ""), request.POST.get("seen", "")  # a form has no text
    try:
        drafts.discard_draft(draft=draft, text=text, by=audit.named(request.user), seen=seen)
    except drafts.ChangedElsewhere as refusal:
        draft.text = refusal.stored
        return _page(request, draft, "This draft was changed in another window, so it was kept. This is its text.")
    messages.success(request, "The draft was discarded.")
    return redirect("protocol-list")


def _save(
    request: StaffRequest, draft: ProtocolDraft, benchmark: Benchmark | None, text: str,
    form: OwnQuestionForm | None = None,
) -> HttpResponse:  # fmt: skip
    do = request.POST.get("do")
    seen = "" if do == "overwrite" else request.POST.get("seen", "")
    try:
        drafts.save_draft(draft=draft, text=text, benchmark=benchmark, seen=seen)
        if do in ("publish", "use"):
            version = drafts.publish_draft(draft=draft, user=request.user, by=audit.named(request.user))
            messages.success(request, f"{version} was published. Studies can use it now.")
            used = f"{reverse('study-new')}?protocol={version}&benchmark={draft.benchmark_id or ''}"
            shown = f"{reverse('protocol-version', args=[version])}?benchmark={draft.benchmark_id or ''}"
            return redirect(used if do == "use" else shown)
    except drafts.CannotSave as refusal:
        draft.text = text.replace("\r\n", "\n")  # as typed
        conflict = differences(draft.text, refusal.stored) if isinstance(refusal, drafts.ChangedElsewhere) else ()
        return _page(request, draft, str(refusal), seen, conflict, form)
    except Unreadable:
        return _page(request, draft, "It was not published. Correct its problems first; the draft has been saved.")
    except NameTaken as refusal:
        return _page(request, draft, str(refusal), form=form)
    if request.htmx:
        return _page(request, draft, form=form)
    in_form = "kind" in request.POST and do != "file"
    return redirect(f"{reverse('protocol-draft', args=[draft.pk])}{'#preview-title' if in_form else '?file#state'}")


def _page(
    request: StaffRequest, draft: ProtocolDraft, refusal: str = "", seen: str = "", conflict: Sequence[Part] = (),
    form: OwnQuestionForm | None = None,
) -> HttpResponse:  # fmt: skip
    """Return the page, with a `refusal` if a request was not carried out; `seen` as in `save_draft`. htmx gets only
    the state.
    """
    reading = drafts.reading_of(draft.text)
    context: dict[str, Any] = {
        "draft": draft, "problems": reading.problems, "file": reading.file, "refusal": refusal, "form": form,
        "conflict": marked(conflict, "yours: ", "theirs: ") if conflict else "",
        "seen": seen or digest_of(draft.text),
    }  # fmt: skip
    context["has_form"] = form is None and _form_of(request, draft) is not None
    if reading.file:
        context["rules"] = each_rule(reading.file, Asked(reading.file.judgments))
        context["lacks"] = offers.lacks(reading.file, drafts.first_item(draft.benchmark))
    if request.htmx:
        return render(request, "protocol_files/_state.html", context)
    seed = whole_number(request.GET.get("seed"), 9)
    context |= {
        "section": "questions",
        "rows": ROWS,
        "benchmarks": queries.on_offer(draft.benchmark_id).order_by("name"),
        "home": reverse("protocol-try", args=[draft.pk, draft.pk if seed is None else seed]),
        "other": secrets.randbits(29),
    }
    return render(
        request, "protocol_files/draft.html", context, status=UNFIT if refusal or (form and form.errors) else 200
    )


def _asks(version: str) -> Q:
    """Return the condition for studies with a stage that uses the version, whatever its roles are mapped to."""
    return Q(stages__protocol=version) | Q(stages__protocol__startswith=f"{version}{roles.SIGN}")


@require_safe
@staff_only
def protocol_version(request: StaffRequest, version: str) -> HttpResponse:
    """Show a published version (`prompt-fit@2`): its text, who published it, and the studies that use it."""
    name, _, number = version.partition(roles.SIGN)[0].partition(VERSION_SIGN)
    wanted = {"name": name, "number": whole_number(number, 9) or 0}
    found = get_object_or_404(ProtocolVersion.objects.select_related("published_by"), **wanted)
    file = drafts.reading_of(found.text).file
    benchmark = _benchmark(request.GET.get("benchmark"), list(Benchmark.objects.order_by("-created_at")))
    context = {
        "section": "questions", "version": found, "benchmark": benchmark, "seed": secrets.randbits(29),
        "offer": file and offers.offer_of(str(found), file, drafts.first_item(benchmark)),
        "file": file, "rules": each_rule(file, Asked(file.judgments)) if file else [],
        "others": ProtocolVersion.objects.filter(name=name).exclude(pk=found.pk).order_by("-number"),
        "studies": permissions.studies_for(request.user).filter(_asks(str(found))).distinct(),
    }  # fmt: skip
    return render(request, "protocol_files/version.html", context)
