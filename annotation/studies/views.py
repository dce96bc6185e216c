"""Pages for setting up a study, for its members (which only owners change), and for deleting it."""

from collections.abc import Mapping
from itertools import zip_longest
from urllib.parse import urlencode

from csp.constants import SELF
from csp.decorators import csp_replace
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import permissions
from annotation.designs import fit
from annotation.designs.plan import effort_in_words, total_effort
from annotation.designs.presets import PRESETS
from annotation.models import Member, Role, Study, StudyTemplate
from annotation.permissions import whole_number
from annotation.protocols.registry import protocol_named
from annotation.screens.screens import screens_under
from annotation.screens.trial import leases_under
from annotation.studies import deletion, lifecycle, members, starting_points
from annotation.studies.cards import card_of, offers
from annotation.studies.forms import MemberForm, RoleForm
from annotation.studies.setup import STEPS, Setup, known_benchmark
from benchmarks import audit, queries
from benchmarks.housekeeping.delete import CannotDelete
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.seen import latest

UNFIT = 422
DIGITS = 18  # the most digits in a number in a URL or form


# A new study


@require_http_methods(["GET", "HEAD", "POST"])
@csp_replace({"frame-src": [SELF]})
@staff_only
def study_new(request: StaffRequest) -> HttpResponse:
    """Show a form with every setting of the study and its stages in three steps, one at a time.

    In a POST, `plan` only computes the plan, `choose` changes the starting point and keeps what was typed, `save` keeps
    the settings as a template, and `delete` deletes the template that the form started from.
    """
    data = request.POST if request.method == "POST" else None
    given = request.POST or request.GET
    start = _starting_point(request, given)
    if data is None:
        setup = Setup(start, benchmark=given.get("benchmark", ""), name=given.get("name", ""))
        named = any(given.get(kind) == start.key for kind in ("copy", "template", "protocol", "preset"))
        return _setup_page(request, setup, step="people" if named else "question")
    if "delete" in data:
        return _delete_template(request, start)
    setup = Setup(start, data)
    if "choose" in data or "add_stage" in data:
        return _setup_page(request, _chosen_instead(request, setup, data))
    if "save" in data:
        return _save_template(request, setup)
    if "plan" in data:
        setup.study.fields["name"].required = False
        return _setup_page(request, setup, "The plan was not updated.")
    if not setup.is_valid():
        return _setup_page(request, setup)
    try:
        study = _create(request, setup)
    except lifecycle.CannotCreate as refusal:
        setup.study.add_error(None, str(refusal).split("\n"))
        return _setup_page(request, setup)
    return redirect("study-detail", study.pk)


def _chosen_instead(request: StaffRequest, setup: Setup, data: Mapping[str, str]) -> Setup:
    """Return the form with another starting point, benchmark or stage added, keeping what was typed."""
    kind, _, key = data.get("choose", "").partition(":")
    if "add_stage" in data and setup.start.questions:
        kind, key = "protocol", starting_points.SEVERAL.join([setup.start.questions, data.get("further", "")])
    benchmark = data.get("benchmark", "")
    present = {setup.start.kind: setup.start.key} if "add_stage" in data else {"benchmark": benchmark}
    chosen = _starting_point(request, {kind: key} if kind else present)
    return Setup(chosen, benchmark=benchmark, kept=setup.typed())


def _create(request: StaffRequest, setup: Setup) -> Study:
    """Create the study; a copy takes over the images of the instructions. Raises CannotCreate."""
    given = {"by": audit.named(request.user), "created_by": request.user, **setup.plan()}
    if setup.start.kind != "copy":
        return lifecycle.create_study(**given)
    return lifecycle.duplicate_study(source=Study.objects.get(pk=setup.start.key), **given)


def _starting_point(request: StaffRequest, given: Mapping[str, str]) -> starting_points.StartingPoint:
    """Return the starting point in a URL or form; otherwise the one that shows most of the benchmark's items."""
    if given.get("copy"):
        number = whole_number(given["copy"], DIGITS) or 0
        return starting_points.of_study(permissions.study_for(request.user, number, Role.MANAGER))
    if given.get("template"):
        found = [one for one in starting_points.templates() if one.key == given["template"]]
        if not found:
            raise Http404("That template does not exist.")
        return found[0]
    if starting_points.are_known(given.get("protocol", "")):
        return starting_points.of_protocols(given["protocol"])
    if given.get("preset") in PRESETS:
        return starting_points.of_preset(PRESETS[given["preset"]])
    best = offers(starting_points.on_offer(), queries.first_record(known_benchmark(given.get("benchmark")))).best
    return best.start if best else starting_points.all_presets()[0]


def _setup_page(request: StaffRequest, setup: Setup, refusal: str = "", step: str = "people") -> HttpResponse:
    """Return the page, with a `refusal` if the form cannot be used; `step` is open unless another has errors."""
    start, wrong = setup.start, setup.bound and not setup.is_valid()
    context = {
        "section": "studies", "setup": setup, "steps": STEPS, "forms": setup.forms, **_plan(setup),
        "not_done": refusal or "The study was not created",
    }  # fmt: skip
    if "plan" in request.POST and request.headers.get("HX-Request"):
        return render(request, "studies/_plan.html", {**context, "again": True})
    own = [start] if start.kind == "copy" else []
    offered = offers([*own, *starting_points.on_offer(), *starting_points.templates()], setup.first, setup.benchmark)
    step = step if setup.can_ask else "question"
    context |= {
        "offers": offered, "further": _further(setup), "step": (wrong and setup.wrong_step) or step,
        "may_delete": starting_points.may_delete(start, request.user),
    }  # fmt: skip
    return render(request, "studies/new.html", context, status=UNFIT if wrong else 200)


def _plan(setup: Setup) -> dict[str, object]:
    """Return the plan in words; without numbers while a field is wrong."""
    expected = setup.expected()
    return {
        "plan": [(form, one and effort_in_words(one)) for form, one in zip_longest(setup.stages, expected)],
        "total": expected and effort_in_words(total_effort(expected), setup.currency),
        "enough": setup.enough_in_words(expected),
        "seen": setup.texts_as_read(),
        "wrong": [form[name] for form in setup.forms if form.is_bound for name in form.errors if name in form.fields],
    }  # fmt: skip


@require_safe
@csp_replace({"frame-ancestors": [SELF]})
@xframe_options_sameorigin
@staff_only
def study_new_screen(request: StaffRequest) -> HttpResponse:
    """Show a question's first screen, on the benchmark's first item; the cards frame it."""
    benchmark = known_benchmark(request.GET.get("benchmark"))
    item, stages = queries.first_item(benchmark), _starting_point(request, request.GET).stages
    fitted = item and fit.fitted(stages, queries.record_of(item))
    if not item or not fitted:
        raise Http404("The question does not suit the benchmark’s first item.")
    protocol = protocol_named(fitted[0].protocol)
    screens = screens_under(leases_under(protocol, [item], seed=0, wanted=1), protocol, "")
    return render(request, "studies/new_screen.html", {"screen": screens[0], "protocol": protocol, "language": "en"})


def _further(setup: Setup) -> list[starting_points.StartingPoint]:
    """Return the questions that can follow the last stage."""
    if not setup.start.questions or setup.first is None:
        return []
    singles = [*starting_points.single_questions(), *starting_points.published_questions()]
    after = {one.key: starting_points.SEVERAL.join([setup.start.questions, one.key]) for one in singles}
    return [one for one in singles if starting_points.are_known(after[one.key])
            and card_of(starting_points.of_protocols(after[one.key]), setup.first)]  # fmt: skip


def _save_template(request: StaffRequest, setup: Setup) -> HttpResponse:
    """Save a template, which needs neither a benchmark nor a study's name."""
    form = setup.study
    setup.become_template()
    if setup.is_valid():
        try:
            template = starting_points.save_template(
                name=form.cleaned_data["save_as"], user=request.user, by=audit.named(request.user),
                stages=[stage.planned() for stage in setup.stages], study=setup.study.cleaned_data,
            )  # fmt: skip
        except starting_points.CannotSave as refusal:
            form.add_error("save_as", str(refusal))
        else:
            messages.success(request, f"The template “{template.name}” was saved. All managers can use it.")
            kept = {"template": template.pk, "benchmark": setup.benchmark, "name": setup.study["name"].data or ""}
            return redirect(f"{reverse('study-new')}?{urlencode(kept)}")
    return _setup_page(request, setup, "The template was not saved.")


def _delete_template(request: StaffRequest, start: starting_points.StartingPoint) -> HttpResponse:
    template = get_object_or_404(StudyTemplate, pk=start.key if start.kind == "template" else 0)
    if not starting_points.may_delete(start, request.user):
        maker = template.created_by or "a former user"
        raise PermissionDenied(f"{maker} saved the template “{template.name}”. Only they or an admin can delete it.")
    starting_points.delete_template(template=template, by=audit.named(request.user))
    messages.success(request, f"The template “{template.name}” was deleted. Its studies were kept.")
    return redirect("study-new")


# Members


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_members(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the list of members; a POST adds one."""
    study = permissions.study_for(request.user, pk, permissions.needed(request, look=Role.MANAGER, change=Role.OWNER))
    form = MemberForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, study, form)
    try:
        added = members.add_by_name(study=study, by=audit.named(request.user), **form.cleaned_data)
    except members.CannotChange as refusal:
        form.add_error("name", str(refusal))
        return _page(request, study, form)
    messages.success(request, f"{added.user} now has the role {added.get_role_display().lower()} in this study.")
    return redirect("study-members", pk)


def _page(request: StaffRequest, study: Study, form: MemberForm) -> HttpResponse:
    found = [
        (member, RoleForm(member=member) if study.may.own and not members.is_last_owner(member) else None)
        for member in members.members_of(study)
    ]
    context = {"section": "studies", "study": study, "members": found, "form": form, "roles": MemberForm.ROLES}
    return render(request, "studies/members.html", context, status=UNFIT if form.errors else 200)


@require_POST
@staff_only
def study_member(request: StaffRequest, pk: int, member: int) -> HttpResponse:
    """Change a member's role, or with `remove` remove the member."""
    found = permissions.member_for(request.user, pk, member)
    try:
        with latest(found, request):
            done = _do(request, found)
        messages.success(request, done)
    except members.CannotChange as refusal:
        messages.error(request, str(refusal))
    still = Member.objects.filter(study=pk, user=request.user, role__in=(Role.MANAGER, Role.OWNER))
    stays = request.user.is_superuser or still.exists()
    return redirect("study-members", pk) if stays else redirect("study-list")


def _do(request: StaffRequest, member: Member) -> str:
    """Make the change and return a sentence that describes it. Raises CannotChange."""
    by = audit.named(request.user)
    form = RoleForm(request.POST, member=member)
    if form.is_outdated:
        now = member.get_role_display().lower()
        raise members.CannotChange(
            f"Somebody else has given {member.user} the role {now} since you opened the page, so nothing was changed. "
            "Check the list, and try again if necessary."
        )
    if "remove" in request.POST:
        members.remove(member=member, by=by)
        return f"{member.user} is no longer a member of this study."
    if not form.is_valid():
        raise members.CannotChange("That role does not exist.")
    changed = members.change(member=member, role=form.cleaned_data["role"], by=by)
    return f"{changed.user} now has the role {changed.get_role_display().lower()} in this study."


# Deleting a study


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_delete(request: StaffRequest, pk: int) -> HttpResponse:
    study, problem = permissions.study_for(request.user, pk, Role.OWNER), ""
    size = deletion.size(study, deletion.BY_COMMAND + 1)
    large = size["judgments"] > deletion.BY_COMMAND
    if request.method == "POST":
        problem = _refused(request, study)
        if not problem:
            messages.success(request, f"“{study.name}” has been deleted. Its benchmark, “{study.benchmark}”, was kept.")
            return redirect("study-list")
    context = {"section": "studies", "study": study, "size": size, "large": large, "problem": problem}
    context["releases"] = study.releases.exclude(frozen_at=None)
    return render(request, "studies/delete.html", context, status=UNFIT if problem else 200)


def _refused(request: StaffRequest, study) -> str:
    """Return why the study was not deleted, in a sentence; empty if it was."""
    name, releases = request.POST.get("name", ""), request.POST.get("releases") == "go"
    try:
        deletion.delete_named(study=study, name=name, by=audit.named(request.user), releases=releases)
    except CannotDelete as why:
        return str(why)
    return ""
