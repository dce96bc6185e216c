"""The exchange with Prolific, the pay sheet, and managers' decisions about one participant.

They show names and Prolific ids, so only managers may see them.
"""

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation import permissions
from annotation.figures import annotators
from annotation.models import Annotator, Role, Stage, Study
from annotation.participants import lifecycle, prolific, roster
from annotation.wording import REASON_LENGTH
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.seen import SeenForm, latest

SHOWN = 20  # unknown ids listed
MOST_BYTES = 5_000_000
REASONED = {"keep", "exclude", "reinstate"}
ACTS = REASONED | {"left", "back"}


class CodesForm(SeenForm):
    completion_code = forms.CharField(max_length=40, label="Finished")
    screened_out_code = forms.CharField(max_length=40, label="Screened out")
    no_consent_code = forms.CharField(max_length=40, label="Did not agree")

    def clean(self) -> None:
        if not self.errors and len(set(self.cleaned_data.values())) < len(prolific.CODES):
            raise forms.ValidationError(
                "Enter three different codes: Prolific uses them to distinguish the three endings."
            )


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=REASON_LENGTH,
        error_messages={"required": "Say why, in a few words. The reason is stored with the decision."},
    )


class ReturnedForm(forms.Form):
    file = forms.FileField(label="Prolific export (CSV)")

    def clean_file(self):
        sent = self.cleaned_data["file"]
        if sent.size > MOST_BYTES:
            raise forms.ValidationError("The file is larger than 5 MB. Export fewer submissions.")
        return sent


def invitation(request: HttpRequest, to: Study | Stage) -> str:
    return request.build_absolute_uri(reverse("join", args=[to.invite]))


@require_safe
@staff_only
def study_prolific(request: StaffRequest, pk: int) -> HttpResponse:
    return _page(request, permissions.study_for(request.user, pk, Role.MANAGER))


def _page(request: StaffRequest, study: Study, status: int = 200, **bound) -> HttpResponse:
    context = {
        "section": "studies", "study": study, "links": _links(request, study), "codes": _codes_form(study),
        "returned": ReturnedForm(), "forms": bound.values(), **bound,
    }  # fmt: skip
    return render(request, "participants/prolific.html", context, status=status)


@require_safe
@staff_only
def study_pay(request: StaffRequest, pk: int) -> HttpResponse:
    """Download everybody's work and pay due, as last computed."""
    study = permissions.study_for(request.user, pk, Role.MANAGER)
    return _sheet(study, "pay", roster.pay_sheet(study, annotators.latest(study).data))


def _sheet(study: Study, name: str, text: str) -> HttpResponse:
    named = f'attachment; filename="{name}-study-{study.pk}.csv"'
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers={"Content-Disposition": named})


def _codes_form(study: Study, sent: QueryDict | None = None) -> CodesForm:
    return CodesForm(sent, initial={name: getattr(study, name) for name in prolific.CODES})


def _links(request: HttpRequest, study: Study) -> list[tuple[str, str]]:
    """Return links by name of their target: a stage's link continues to the following stages with the same people."""
    to: list[tuple[str, Study | Stage]] = [("the whole study", study)]
    for stage in study.stages.prefetch_related("followers"):
        to.append((", then ".join([f"stage {stage.title}", *(after.title for after in stage.followers.all())]), stage))
    return [(name, prolific.with_parameters(invitation(request, one))) for name, one in to]


@require_POST
@staff_only
def study_codes(request: StaffRequest, pk: int) -> HttpResponse:
    study = permissions.study_for(request.user, pk, Role.MANAGER)
    with latest(study, request):
        form = _codes_form(study, request.POST)
        if form.is_valid():
            prolific.set_codes(study=study, by=audit.named(request.user), **form.cleaned_data)
    if form.errors:
        return _page(request, study, status=422, codes=form)
    messages.success(request, "The codes have been saved. Enter the same codes on Prolific.")
    return redirect("study-prolific", pk)


@require_safe
@staff_only
def study_submissions(request: StaffRequest, pk: int) -> HttpResponse:
    study = permissions.study_for(request.user, pk, Role.MANAGER)
    return _sheet(study, "submissions", prolific.submissions(study, roster.submissions(study)))


@require_POST
@staff_only
def study_returned(request: StaffRequest, pk: int) -> HttpResponse:
    study, form = permissions.study_for(request.user, pk, Role.MANAGER), ReturnedForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, study, status=422, returned=form)
    try:
        found = prolific.read(form.cleaned_data["file"].read())
    except prolific.Unreadable as refusal:
        form.add_error("file", str(refusal))
        return _page(request, study, status=422, returned=form)
    report = prolific.mark_gone(study=study, found=found, by=audit.named(request.user))
    statuses = ", ".join(f"{count} {status.lower()}" for status, count in sorted(report.statuses.items()))
    left = f"Marked as left: {', '.join(report.left)}." if report.left else "No one else has left."
    earlier = f"{report.older} earlier submission{'s' * (report.older != 1)}"
    older = f" Ignored {earlier} by returning participants." if report.older else ""
    messages.success(request, f"Submissions: {statuses}. {left}{older}")
    if report.unknown:
        more = f" and {len(report.unknown) - SHOWN} more" if len(report.unknown) > SHOWN else ""
        messages.warning(request, f"Not in this study: {', '.join(report.unknown[:SHOWN])}{more}.")
    return redirect("study-prolific", pk)


# One participant


def decide(request: StaffRequest, who: Annotator, act: str) -> None:
    """Carry out one of ACTS with the given reason, and show a message with the result."""
    form = ReasonForm(request.POST)
    if not form.is_valid() and act in REASONED:
        messages.error(request, f"{who.pseudonym}: {' '.join(map(str, form.errors['reason']))}")
        return
    done = act_on(request.user, who, act, form.cleaned_data.get("reason", ""))
    messages.success(request, f"{who.pseudonym} {done}")


def act_on(user: User, who: Annotator, act: str, reason: str) -> str:
    """Carry out one of ACTS; return what was done, to follow the pseudonym."""
    by = audit.named(user)
    if act == "exclude":
        count = lifecycle.exclude(annotator=who, reason=reason, by=by, excluded_by=user)
        return f"has been excluded. {_answers(count, 'no longer ')}, and the screens go to others."
    if act == "reinstate":
        count = lifecycle.reinstate(annotator=who, reason=reason, by=by)
        return f"has been reinstated. {_answers(count)} again. Judgments that others have since made are kept."
    if act == "keep":
        lifecycle.keep(annotator=who, reason=reason, by=by)
        return "is kept. The reason has been stored."
    if act == "left":
        lifecycle.leave(annotator=who, by=by)
        return "has been marked as left. Their answers count, and their open screens go to others."
    lifecycle.come_back(annotator=who, by=by)
    return "can continue."


def _answers(count: int, adverb: str = "") -> str:
    return f"{count} answer{'' if count == 1 else 's'} {adverb}count{'s' if count == 1 else ''}"
