"""The pages about a study's people: all in one list, and one annotator with the evidence for each sign.

Viewers see pseudonyms; names and Prolific ids are for managers.
"""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation import permissions
from annotation.comparison import copying
from annotation.dashboard import annotator_page, people_page
from annotation.dashboard.sign_evidence import row_of, stage_of, usual_time
from annotation.figures import annotator_screens, annotators
from annotation.models import Annotator
from annotation.participants import erasure
from annotation.participants.views import ACTS, decide, invitation
from annotation.pipeline import dawid_skene
from annotation.protocols.registry import protocol_named
from annotation.wording import readable_label
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only


@require_safe
@staff_only
def study_annotators(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the people. `?show=signs`: only those to look at; `plots`: with plots."""
    study = permissions.study_for(request.user, pk)
    found = annotators.latest(study)
    stages = study.stages.select_related("study").order_by("position")
    context = {
        "section": "studies", "study": study, "latest": found, "invite": invitation(request, study),
        "copying": [one for one in map(copying.signs, stages) if one],
        **people_page.contents(request, study, found, request.GET.get("show", "")),
    }  # fmt: skip
    if "plots" in request.GET and found.data and found.made_at:
        context["plots"] = people_page.plots(study, found.data, found.made_at.isoformat())
    return render(request, "dashboard/people.html", context)


def _position_in(text: str | None) -> int:
    """Return a stage's position from an address; 0, which no stage has, for anything else."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 5 else 0


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_annotator(request: StaffRequest, pk: int, number: int) -> HttpResponse:
    """Show one person. `?stage=2`: their work there; `show=runs`: the screens behind that sign. A POST is a decision;
    with `list`, made on the page of all people, with that filter.
    """
    who = permissions.annotator_for(request.user, pk, number, permissions.needed(request))
    if request.method == "POST":
        act = request.POST.get("act", "")
        if act == "erase":
            return _erase(request, who)
        decide(request, who, act) if act in ACTS else messages.error(request, "Unknown decision.")
        if (show := request.POST.get("list")) is not None:
            return redirect(reverse("study-annotators", args=[pk], query={"show": show} if show else None))
        return redirect(f"{reverse('study-annotator', args=[pk, number])}#decision")
    return _one(request, who)


def _erase(request: StaffRequest, who: Annotator) -> HttpResponse:
    if request.POST.get("confirm", "").strip().upper() != who.pseudonym:
        messages.error(request, f"Type {who.pseudonym} to erase their personal data. Nothing was erased.")
    elif erasure.erase(annotator=who, by=audit.named(request.user)):
        messages.success(request, f"{who.pseudonym}: personal data erased.")
    return redirect("study-annotator", who.study_id, who.number)


def _one(request: StaffRequest, who: Annotator) -> HttpResponse:
    study, found = who.study, annotators.latest(who.study)
    lines = people_page.lines(study, found.data or people_page.EMPTY)
    line = next(line for line in lines if line.who == who)
    people_page.add_details(study, found.data or people_page.EMPTY, [line])
    context: dict[str, object] = {
        "section": "studies", "study": study, "who": who, "latest": found, "line": line, "whole": line.row,
        "decisions": line.decisions, "site": request.build_absolute_uri("/").rstrip("/"),
    }  # fmt: skip
    if found.data:
        asked = _position_in(request.GET.get("stage")) or annotator_page.main_stage(found.data, who.number)
        context |= {"speed": found.data["speed"], "several_stages": len(found.data["stages"]) > 1}
        context |= _work(who, found.data, asked, request.GET.get("show", ""), request.GET.get("page"))
    return render(request, "dashboard/annotator.html", context)


def _work(who: Annotator, data: dict, position: int, show: str, page: str | None) -> dict:
    """Return statistics, charts, tests and some screens behind a sign in one stage; {} if they never worked there."""
    there = stage_of(data, position)
    row = there and row_of(there["rows"], who.number)
    been = {stage["position"] for stage in data["stages"] if row_of(stage["rows"], who.number)}
    tabs = [(one, f"stage={one.position}") for one in who.study.stages.order_by("position") if one.position in been]
    if there is None or row is None:
        return {"tabs": tabs}
    stage = who.study.stages.get(position=position)
    stage.study = who.study
    screens = annotator_screens.evidence(stage, who)
    view = annotators.compared_on(data, there, row)
    behind = annotator_screens.behind(screens, row, stage, view, usual_time(data, there, row))
    if not who.study.may.manage:
        del behind["checks"]  # viewers do not see known answers
    picks = [(given.place, given.places) for given in (one.row for one in screens.judged) if given.place]
    show = show if show in behind else "all"
    return {
        "tabs": tabs, "stage": stage, "there": there, "row": row, "protocol": protocol_named(stage.protocol),
        "tests": annotator_page.tests(row, readable_label, view, "level" in there), "show": show,
        "view": view, "same": row["majority"][view], "kappa": row["kappas"].get(there["coarse"]),
        "confusion": dawid_skene.confusion_of(stage, who.number),
        "found": Paginator(behind[show], annotator_page.SCREENS, orphans=2).get_page(page),
        "counts": {kind: len(of) for kind, of in behind.items()}, "count": len(behind[show]),
        **annotator_page.charts(row, there, picks),
    }  # fmt: skip
