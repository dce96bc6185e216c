"""The pages of a study's annotators: a table in any order, and one annotator with the evidence for each sign.

Viewers see pseudonyms; names and Prolific ids are for managers.
"""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation import permissions
from annotation.comparison import copying
from annotation.dashboard import annotator_page
from annotation.dashboard.annotator_page import Line
from annotation.figures import annotator_screens, annotators
from annotation.figures.cache import LatestFigures, hashed
from annotation.measures import warning_signs
from annotation.models import Annotator, Study
from annotation.participants import erasure
from annotation.participants.lifecycle import decisions
from annotation.participants.views import decide
from annotation.pipeline import dawid_skene
from annotation.protocols.registry import protocol_named
from annotation.wording import readable_label
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only

DEFAULT_SORT = "-signs"
DECISIONS = ("keep", "exclude", "reinstate")
NOTHING_NEW = 204


@require_safe
@staff_only
def study_annotators(request: StaffRequest, pk: int) -> HttpResponse:
    """`?stage=2`: that stage, otherwise the whole study; `sort=-judged`: by that column, the largest first.

    With `seen=`, only what has changed since.
    """
    study = permissions.study_for(request.user, pk)
    found, position = annotators.latest(study), _position_in(request.GET.get("stage"))
    sort = request.GET.get("sort", "")
    sort = sort if sort.removeprefix("-") in annotator_page.ORDERS else DEFAULT_SORT
    context: dict[str, object] = {
        "section": "studies", "study": study, "latest": found, "sort": sort, "position": position,
        "stages": study.stages.order_by("position"), "kinds": warning_signs.KINDS,
    }  # fmt: skip
    lines: list[Line] = []
    if found.data and found.made_at:
        lines = annotator_page.ordered(annotator_page.lines(study, found.data, position), sort)
        context |= {
            "lines": lines, "stage": annotator_page.stage_of(found.data, position), "speed": found.data["speed"],
            "tested": annotator_page.count_tests(found.data), "look": sum(line.look for line in lines),
            "level": annotator_page.level_of(found.data, position),
            "outliers": annotator_page.outliers(found.data, position),
            "pairs": annotator_page.pairs(found.data, position),
            "plots": annotator_page.plots(study, found.data["stages"], position, found.made_at.isoformat()),
        }  # fmt: skip
    stages = study.stages.select_related("study").order_by("position")
    shown = [copying.signs(stage) for stage in stages if position in (0, stage.position)]
    context["copying"] = [one for one in shown if one]
    context["seen"] = _seen(study, found, lines, context["copying"])
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=NOTHING_NEW)
    return render(request, "dashboard/annotators.html", context)


def _seen(study: Study, found: LatestFigures, lines: Sequence[Line], copied: object) -> str:
    """Changes when the page does: when figures are computed, someone joins or a decision is made."""
    decided = [(line.who.number, line.who.excluded_at, line.decisions) for line in lines]
    return hashed((found.progress, str(study.state), decided, copied))


def _position_in(text: str | None) -> int:
    """A stage's position from an address; 0, which no stage has, for anything else."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 5 else 0


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_annotator(request: StaffRequest, pk: int, number: int) -> HttpResponse:
    """`?stage=2`: their work there; `show=runs`: the screens behind that sign. A POST is a decision."""
    who = permissions.annotator_for(request.user, pk, number, permissions.needed(request))
    if request.method == "POST":
        act = request.POST.get("act", "")
        if act == "erase":
            return _erase(request, who)
        decide(request, who, act) if act in DECISIONS else messages.error(request, "Unknown decision.")
        return redirect(f"{reverse('study-annotator', args=[pk, number])}#decision")
    return _one(request, who)


def _erase(request: StaffRequest, who: Annotator) -> HttpResponse:
    if request.POST.get("confirm", "").strip().upper() != who.pseudonym:
        messages.error(request, f"Type {who.pseudonym} to erase their personal data. Nothing was erased.")
    elif erasure.erase(annotator=who, by=audit.named(request.user)):
        messages.success(request, f"{who.pseudonym}: personal data erased.")
    return redirect("study-annotator", who.study_id, who.number)


def _one(request: StaffRequest, who: Annotator) -> HttpResponse:
    found = annotators.latest(who.study)
    context: dict[str, object] = {
        "section": "studies", "study": who.study, "who": who, "latest": found,
        "decisions": decisions([who])[who.number],
    }  # fmt: skip
    if found.data:
        asked = _position_in(request.GET.get("stage")) or annotator_page.main_stage(found.data, who.number)
        context |= {"whole": annotator_page.row_of(found.data["whole"], who.number), "speed": found.data["speed"]}
        context["outliers"] = annotator_page.outliers(found.data, number=who.number)
        context |= _work(who, found.data, asked, request.GET.get("show", ""))
    return render(request, "dashboard/annotator.html", context)


def _work(who: Annotator, data: dict, position: int, show: str) -> dict:
    """Figures, charts, tests and the screens behind a sign in one stage; {} if they have not been there."""
    there = annotator_page.stage_of(data, position)
    row = there and annotator_page.row_of(there["rows"], who.number)
    tabs = [
        (stage, f"stage={stage['position']}")
        for stage in data["stages"]
        if annotator_page.row_of(stage["rows"], who.number)
    ]
    if there is None or row is None:
        return {"tabs": tabs}
    stage = who.study.stages.get(position=position)
    stage.study = who.study
    screens = annotator_screens.evidence(stage, who)
    view = annotators.compared_on(data, there, row)
    behind = annotator_screens.behind(screens, row, stage, view, annotator_page.usual_time(data, there, row))
    if not who.study.may.manage:
        del behind["checks"]  # viewers do not see known answers
    picks = [(given.place, given.places) for given in (one.row for one in screens.judged) if given.place]
    show = show if show in behind else "all"
    return {
        "tabs": tabs, "stage": stage, "there": there, "row": row, "protocol": protocol_named(stage.protocol),
        "tests": annotator_page.tests(row, readable_label, view, "level" in there), "show": show,
        "view": view, "same": row["majority"][view],
        "confusion": dawid_skene.confusion_of(stage, who.number), "found": behind[show][: annotator_page.SCREENS],
        "counts": {kind: len(of) for kind, of in behind.items()}, "count": len(behind[show]),
        **annotator_page.charts(row, there, picks),
    }  # fmt: skip
