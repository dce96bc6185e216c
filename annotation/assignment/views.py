"""Show who judges what in a stage assigned by name. It shows names and links, so only managers may see it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation import permissions
from annotation.assignment import by_name, seats
from annotation.assignment.forms import AssignForm, PeopleForm
from annotation.models import Role, Stage, Strategy
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only

UNFIT = 422
SHOWN = 100  # items named in a list


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_assign(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Add annotators, assign items to them, take back what they have not started."""
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    if request.method != "POST" or stage.strategy != Strategy.NAMED:
        return _page(request, stage, PeopleForm(), AssignForm(stage))
    if "names" in request.POST:
        return _add(request, stage)
    if "back" in request.POST:
        return _take_back(request, stage)
    return _give(request, stage)


def _add(request: StaffRequest, stage: Stage) -> HttpResponse:
    form = PeopleForm(request.POST)
    if not form.is_valid():
        return _page(request, stage, form, AssignForm(stage))
    to = stage if form.cleaned_data["leads_to"] == PeopleForm.THIS else None
    for name in form.cleaned_data["names"]:
        seats.join(study=stage.study, stage=to, name=name, by=audit.named(request.user))
    return _done(request, stage, f"Added {len(form.cleaned_data['names'])}. Their links are listed below the table.")


def _give(request: StaffRequest, stage: Stage) -> HttpResponse:
    form = AssignForm(stage, request.POST)
    if not form.is_valid():
        return _page(request, stage, PeopleForm(), form)
    who = list(form.cleaned_data["annotators"])
    try:
        new = by_name.assign(stage=stage, annotators=who, keys=form.chosen(), by=audit.named(request.user))
    except by_name.CannotAssign as refusal:
        form.add_error("which", str(refusal).split("\n"))
        return _page(request, stage, PeopleForm(), form)
    return _done(request, stage, f"Assigned {new:,} judgments.")


def _take_back(request: StaffRequest, stage: Stage) -> HttpResponse:
    annotator = permissions.annotator_for(request.user, stage.study_id, request.POST.get("annotator", ""), Role.MANAGER)
    keys = [request.POST["back"]] if request.POST["back"] else None
    taken = by_name.unassign(stage=stage, annotator=annotator, keys=keys, by=audit.named(request.user))
    return _done(request, stage, f"Took back {taken:,} item{'' if taken == 1 else 's'} from {annotator.pseudonym}.")


def _done(request: StaffRequest, stage: Stage, message: str) -> HttpResponse:
    messages.success(request, message)
    return redirect("study-assign", stage.study_id, stage.position)


def _page(request: StaffRequest, stage: Stage, people: PeopleForm, form: AssignForm) -> HttpResponse:
    given = [
        (one, request.build_absolute_uri(reverse("judge", args=[one.annotator.token])))
        for one in by_name.assignments(stage)
    ]
    free = by_name.unassigned(stage)
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "people": people, "form": form, "given": given,
        "free": list(free)[:SHOWN], "free_count": len(free), "shown": f":{SHOWN}", "limit": SHOWN,
        "named": stage.strategy == Strategy.NAMED,
    }  # fmt: skip
    return render(request, "assignment/assign.html", context, status=UNFIT if people.errors or form.errors else 200)
