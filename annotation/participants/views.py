"""The managers' page of a study's participants: who they are, what is due, who is out; and what goes to Prolific.

Names and Prolific ids stand here: managers alone may even look.
"""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation import permissions
from annotation.models import Annotator, Role, Stage, Study
from annotation.participants import lifecycle, prolific, roster
from annotation.participants.forms import CodesForm, ReasonForm, ReturnedForm
from benchmarks import audit
from benchmarks.permissions import staff_only

SHOWN = 20  # unknown ids


def invitation(request: HttpRequest, to: Study | Stage) -> str:
    return request.build_absolute_uri(reverse("join", args=[to.invite]))


@require_safe
@staff_only
def study_participants(request: HttpRequest, pk: int) -> HttpResponse:
    return _page(request, permissions.study_for(request.user, pk, Role.MANAGER))


def _page(request: HttpRequest, study: Study, status: int = 200, **bound) -> HttpResponse:
    found = roster.participants(study)
    context = {
        "section": "studies", "study": study, "participants": found, "links": _links(request, study),
        "codes": CodesForm(initial={name: getattr(study, name) for name in prolific.CODES}), "returned": ReturnedForm(),
        "totals": _totals(found), **bound,
    }  # fmt: skip
    return render(request, "participants/participants.html", context, status=status)


def _links(request: HttpRequest, study: Study) -> list[tuple[str, str]]:
    stages = study.stages.prefetch_related("followers")
    to = [("the whole study", study), *((_reach(stage), stage) for stage in stages)]
    return [(name, prolific.with_parameters(invitation(request, one))) for name, one in to]


def _reach(stage: Stage) -> str:
    """Whoever comes by a stage's link goes on to the stages that follow it with the same people."""
    return ", then ".join([f"stage {stage.name}", *(after.name for after in stage.followers.all())])


def _totals(found: list[roster.Participant]) -> dict[str, float]:
    names = ("answers", "counted", "active_minutes", "pay", "span_pay")
    return {name: sum(getattr(one, name) for one in found) for name in names}


@require_POST
@staff_only
def study_codes(request: HttpRequest, pk: int) -> HttpResponse:
    study, form = permissions.study_for(request.user, pk, Role.MANAGER), CodesForm(request.POST)
    if not form.is_valid():
        return _page(request, study, status=422, codes=form)
    try:
        prolific.set_codes(study=study, by=audit.named(request.user), **form.cleaned_data)
    except prolific.CannotSet as refusal:
        form.add_error(None, str(refusal))
        return _page(request, study, status=422, codes=form)
    messages.success(request, "The codes are stored. Set the same ones on Prolific.")
    return redirect("study-participants", pk)


@require_safe
@staff_only
def study_submissions(request: HttpRequest, pk: int) -> HttpResponse:
    study = permissions.study_for(request.user, pk, Role.MANAGER)
    text = prolific.submissions(study, roster.by_submission(study))
    name = f'attachment; filename="submissions-study-{study.pk}.csv"'
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers={"Content-Disposition": name})


@require_POST
@staff_only
def study_returned(request: HttpRequest, pk: int) -> HttpResponse:
    study, form = permissions.study_for(request.user, pk, Role.MANAGER), ReturnedForm(request.POST, request.FILES)
    try:
        found = prolific.read(form.cleaned_data["file"].read()) if form.is_valid() else None
    except prolific.Unreadable as refusal:
        form.add_error("file", str(refusal))
        found = None
    if found is None:
        return _page(request, study, status=422, returned=form)
    _tell(request, prolific.mark_gone(study=study, found=found, by=audit.named(request.user)))
    return redirect("study-participants", pk)


def _tell(request: HttpRequest, report: prolific.Report) -> None:
    statuses = ", ".join(f"{count} {status.lower()}" for status, count in sorted(report.statuses.items()))
    left = f"Marked as left: {', '.join(report.left)}." if report.left else "Nobody new has left."
    older = f" {report.older} of an earlier submission of somebody who has a newer one." if report.older else ""
    messages.success(request, f"Submissions: {statuses}. {left}{older}")
    if report.unknown:
        more = f" and {len(report.unknown) - SHOWN} more" if len(report.unknown) > SHOWN else ""
        messages.warning(request, f"Not in this study: {', '.join(report.unknown[:SHOWN])}{more}.")


# One participant


@require_POST
@staff_only
def study_participant(request: HttpRequest, pk: int, number: int, act: str) -> HttpResponse:
    decide(request, permissions.annotator_for(request.user, pk, number, Role.MANAGER), act)
    return redirect("study-participants", pk)


def decide(request: HttpRequest, who: Annotator, act: str) -> None:
    """One of ACTS, with the reason that was sent; a message says what came of it."""
    if act not in ACTS:
        raise Http404("There is no such action.")
    form = ReasonForm(request.POST)
    if not form.is_valid() and act in REASONED:
        messages.error(request, f"{who.pseudonym}: {' '.join(form.errors['reason'])}")
    else:
        messages.success(request, f"{who.pseudonym} {ACTS[act](request, who, form.cleaned_data.get('reason', ''))}")


def _exclude(request: HttpRequest, who: Annotator, reason: str) -> str:
    by = audit.named(request.user)
    count = lifecycle.exclude(annotator=who, reason=reason, by=by, excluded_by=request.user)
    return f"is excluded; {_answers(count)} no longer, and the screens are free for others."


def _reinstate(request: HttpRequest, who: Annotator, reason: str) -> str:
    count = lifecycle.reinstate(annotator=who, reason=reason, by=audit.named(request.user))
    return f"is reinstated; {_answers(count)} again. Where others have judged since, theirs stay."


def _keep(request: HttpRequest, who: Annotator, reason: str) -> str:
    lifecycle.keep(annotator=who, reason=reason, by=audit.named(request.user))
    return "is kept; the reason is stored."


def _answers(count: int) -> str:
    return f"{count} answer{'' if count == 1 else 's'} count{'s' if count == 1 else ''}"


def _left(request: HttpRequest, who: Annotator, reason: str) -> str:
    lifecycle.leave(annotator=who, by=audit.named(request.user))
    return "has left; what they answered counts, and their screens go to others."


def _back(request: HttpRequest, who: Annotator, reason: str) -> str:
    lifecycle.come_back(annotator=who, by=audit.named(request.user))
    return "can go on."


ACTS = {"keep": _keep, "exclude": _exclude, "reinstate": _reinstate, "left": _left, "back": _back}
REASONED = {"keep", "exclude", "reinstate"}
