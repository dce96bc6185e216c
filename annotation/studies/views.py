"""Pages for setting up a study, for its members (which only owners change), and for deleting it."""

from itertools import zip_longest

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation import permissions
from annotation.designs.plan import effort_in_words, total_effort
from annotation.designs.presets import PRESETS
from annotation.models import Member, Role, Study
from annotation.protocols.registry import PROTOCOLS
from annotation.studies import deletion, lifecycle, members
from annotation.studies.forms import MemberForm, RoleForm
from annotation.studies.setup_forms import Setup, preset_of
from benchmarks import audit
from benchmarks.housekeeping.delete import CannotDelete
from benchmarks.permissions import StaffRequest, staff_only

UNFIT = 422


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_new(request: StaffRequest) -> HttpResponse:
    """A form with every setting of the study and its stages, beside the plan; `plan` only computes the plan."""
    data = request.POST if request.method == "POST" else None
    setup = Setup(preset_of(data or request.GET), data, request.GET.get("benchmark"))
    if data is None or not setup.is_valid() or "plan" in data:
        return _setup_page(request, setup, UNFIT if setup.wrong() else 200)
    try:
        study = lifecycle.create_study(by=audit.named(request.user), created_by=request.user, **setup.plan())
    except lifecycle.CannotCreate as refusal:
        setup.study.add_error(None, str(refusal).split("\n"))
        return _setup_page(request, setup, UNFIT)
    return redirect("study-detail", study.pk)


def _setup_page(request: StaffRequest, setup: Setup, status: int) -> HttpResponse:
    expected = setup.expected()
    context = {
        "section": "studies", "setup": setup, "presets": PRESETS.values(), "protocols": PROTOCOLS.values(),
        "rows": [(form, one and effort_in_words(one)) for form, one in zip_longest(setup.stages, expected)],
        "total": expected and effort_in_words(total_effort(expected)),
    }  # fmt: skip
    return render(request, "studies/new.html", context, status=status)


# Members


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_members(request: StaffRequest, pk: int) -> HttpResponse:
    """The list of members; a POST adds one."""
    study = permissions.study_for(request.user, pk, permissions.needed(request, look=Role.MANAGER, change=Role.OWNER))
    form = MemberForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, study, form)
    try:
        added = members.add_by_name(study=study, by=audit.named(request.user), **form.cleaned_data)
    except members.CannotChange as refusal:
        form.add_error("name", str(refusal))
        return _page(request, study, form)
    messages.success(request, f"{added.user} is now {added.get_role_display().lower()} of this study.")
    return redirect("study-members", pk)


def _page(request: StaffRequest, study: Study, form: MemberForm) -> HttpResponse:
    found = [(member, RoleForm(member=member)) for member in members.members_of(study)]
    context = {"section": "studies", "study": study, "members": found, "form": form, "roles": MemberForm.ROLES}
    return render(request, "studies/members.html", context, status=UNFIT if form.errors else 200)


@require_POST
@staff_only
def study_member(request: StaffRequest, pk: int, member: int) -> HttpResponse:
    """Change a member's role, or with `remove` remove the member."""
    found = permissions.member_for(request.user, pk, member)
    try:
        messages.success(request, _do(request, found))
    except members.CannotChange as refusal:
        messages.error(request, str(refusal))
    still = Member.objects.filter(study=pk, user=request.user, role__in=(Role.MANAGER, Role.OWNER))
    stays = request.user.is_superuser or still.exists()
    return redirect("study-members", pk) if stays else redirect("study-list")


def _do(request: StaffRequest, member: Member) -> str:
    """Carry out the change and return a sentence that describes it. Raises CannotChange."""
    by = audit.named(request.user)
    if "remove" in request.POST:
        members.remove(member=member, by=by)
        return f"{member.user} is no longer a member of this study."
    form = RoleForm(request.POST, member=member)
    if not form.is_valid():
        raise members.CannotChange("There is no such role.")
    changed = members.change(member=member, role=form.cleaned_data["role"], by=by)
    return f"{changed.user} is now {changed.get_role_display().lower()} of this study."


# Deleting a study


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_delete(request: StaffRequest, pk: int) -> HttpResponse:
    study, problem = permissions.study_for(request.user, pk, Role.OWNER), ""
    size = deletion.size(study)
    large = size["judgments"] > deletion.BY_COMMAND
    if request.method == "POST":
        problem = _refused(request, study, large)
        if not problem:
            messages.success(request, f"“{study.name}” has been deleted. Its benchmark, “{study.benchmark}”, was kept.")
            return redirect("study-list")
    context = {"section": "studies", "study": study, "size": size, "large": large, "problem": problem}
    context["releases"] = study.releases.exclude(frozen_at=None)
    return render(request, "studies/delete.html", context, status=UNFIT if problem else 200)


def _refused(request: StaffRequest, study, large: bool) -> str:
    """Why the study was not deleted, in a sentence; empty if it was."""
    if large:
        return "This study is too large to delete here. Use manage.py delete_study."
    if request.POST.get("name", "").strip() != study.name:
        return "That is not the study’s name. Nothing was deleted."
    try:
        releases = request.POST.get("releases") == "go"
        deletion.delete_study(study=study, by=audit.named(request.user), releases=releases)
    except CannotDelete as why:
        return str(why)
    return ""
