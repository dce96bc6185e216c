"""The managers' pages for studies: the list, a study with its statistics, agreement, baseline and blocked items."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation import permissions
from annotation.adjudication.decisions import settle_flag
from annotation.checks.fields import PercentField
from annotation.dashboard import (
    agreement_page,
    home_page,
    human_baseline_page,
    next_step,
    overview_page,
    stage_progress,
    study_page,
    study_tables,
)
from annotation.exports import job as export_job
from annotation.exports.downloads import download_export
from annotation.figures import blocked_items, cache
from annotation.models import DecisionRule, Role, Stage, StageState, Strategy
from annotation.participants.views import invitation
from annotation.pipeline import dawid_skene
from annotation.studies import audit_target, closing, reopening
from annotation.studies import lifecycle as study_lifecycle
from annotation.wording import counted
from benchmarks import audit
from benchmarks.housekeeping.archive import set_archived
from benchmarks.jobs import jobs
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.tables import page_or_csv

NOTHING_NEW = 204
PAGE = 50  # blocked items


@require_safe
@staff_only
def study_list(request: StaffRequest) -> HttpResponse:
    """Show the first page after logging in: all studies, first those that need somebody."""
    context = {"section": "studies", **home_page.contents(request)}
    return render(request, "dashboard/list.html", context)


@require_POST
@staff_only
def study_archive(request: StaffRequest, pk: int) -> HttpResponse:
    """Archive the study, or with `to=list` bring it back."""
    study, back = permissions.study_for(request.user, pk, Role.MANAGER), request.POST.get("to") == "list"
    set_archived(thing=study, archived=not back, by=audit.named(request.user))
    messages.success(request, f"“{study}” is {'in the list again' if back else 'archived'}.")
    return redirect("study-list")


@require_safe
@staff_only
def study_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the study's overview; with `seen=`, only what has changed since. `?stage=2` was a stage page's address."""
    study = permissions.study_for(request.user, pk)
    if position := request.GET.get("stage"):
        return redirect("study-stage", pk, permissions.stage_for(request.user, pk, position).position)
    seen = request.GET.get("seen")
    if seen and seen == overview_page.fingerprint(study):
        return HttpResponse(status=NOTHING_NEW)
    shown = overview_page.contents(study, request.user)
    if seen == shown["seen"]:
        return HttpResponse(status=NOTHING_NEW)
    return render(request, "dashboard/overview.html", {**shown, "section": "studies"})


@require_safe
@staff_only
def study_stages(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the stages with their progress, or the page of the only one."""
    study = permissions.study_for(request.user, pk)
    stages = stage_progress.stages_of(study)
    if len(stages) == 1:
        return redirect("study-stage", pk, stages[0].position)
    context = {"section": "studies", "study": study, "stages": overview_page.stage_rows(study, request.user, stages)}
    return render(request, "dashboard/stages.html", context)


@require_safe
@staff_only
def study_stage(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Show one stage: its question, progress, agreement, disagreements and annotators."""
    stage = permissions.stage_for(request.user, pk, position)
    listed = home_page.listed(request.user, stage.study) if stage.study.may.manage else None
    shown = study_page.contents(stage, not listed.large if listed else cache.is_small(stage.study))
    if listed:
        shown["next"] = home_page.step_of(listed, stage, shown.get("figures"))
    more = {"section": "studies", "invite": invitation(request, stage)}
    return render(request, "dashboard/stage.html", {**shown, **more})


@require_safe
@staff_only
def stage_live(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Return the changed parts of the page, to be swapped in by id; nothing if nothing has changed."""
    stage = permissions.stage_for(request.user, pk, position)
    seen = request.GET.get("seen", "")
    large = "_" in seen
    if seen and not large and seen == study_page.fingerprint(stage):
        return HttpResponse(status=NOTHING_NEW)
    shown = study_page.contents(stage, small=not large and cache.is_small(stage.study))
    if seen == shown["seen"]:
        return HttpResponse(status=NOTHING_NEW)
    if seen.startswith("0_") and "figures" in shown:  # the open page has no element for them yet
        return HttpResponse(status=NOTHING_NEW, headers={"HX-Refresh": "true"})
    return render(request, "dashboard/live.html", study_page.newer(shown, seen))


@require_POST
@staff_only
def study_move(request: StaffRequest, pk: int) -> HttpResponse:
    stage = permissions.stage_for(request.user, pk, needs=Role.MANAGER)
    try:
        study_lifecycle.move_study(study=stage.study, to=request.POST.get("to", ""), by=audit.named(request.user))
    except study_lifecycle.CannotMove as refusal:
        messages.error(request, str(refusal))
    return redirect("study-detail", pk)


@require_POST
@staff_only
def stage_move(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Close a stage, which promotes waiting items, or reopen it. Asks first if closing leaves items open or a sample
    too small (`anyway` is the answer). With `back`, the overview comes next.
    """
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    to = request.POST.get("to", "")
    if to == StageState.CLOSED and stage.state == StageState.OPEN and "anyway" not in request.POST:
        outlook = closing.outlook(stage)
        if outlook.needs_asking:
            context = {"section": "studies", "study": stage.study, "stage": stage, "outlook": outlook}
            return render(request, "dashboard/close_stage.html", context)
    try:
        moved = study_lifecycle.move_stage(stage=stage, to=to, by=audit.named(request.user))
        messages.success(request, next_step.after_move(moved, closing.open_items(stage)))
    except study_lifecycle.CannotMove as refusal:
        messages.error(request, str(refusal))
    return redirect("study-detail", pk) if "back" in request.POST else _to_stage(stage)


@require_POST
@staff_only
def stage_target(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Change an audit's target (`target`, in percent; for a bound, `futile`: whether it stops once out of reach)."""
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    try:
        share = PercentField().clean(request.POST.get("target"))
        seen = request.POST.get("seen", "")
        futile = "futile" in request.POST
        by = audit.named(request.user)
        audit_target.set_target(stage=stage, share=share, by=by, seen=seen, stops_if_futile=futile)
    except ValidationError as wrong:
        messages.error(request, " ".join(wrong.messages))
    except audit_target.CannotAim as refusal:
        messages.error(request, str(refusal))
    return _to_stage(stage)


@require_POST
@staff_only
def stage_reopen(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Reopen a closed stage only for items that came open after it was closed."""
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    try:
        items = reopening.reopen(stage=stage, by=audit.named(request.user))
        messages.success(request, f"Stage {stage.title} was reopened for {counted(items, 'item')}.")
    except study_lifecycle.CannotMove as refusal:
        messages.error(request, str(refusal))
    return _to_stage(stage)


@require_POST
@staff_only
def stage_estimate(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Queue an estimate for a stage decided by estimates, unless one is already running."""
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    if stage.rule == DecisionRule.DAWID_SKENE:
        dawid_skene.request_estimate(stage=stage, by=audit.named(request.user), created_by=request.user)
    return _to_stage(stage)


def _to_stage(stage: Stage) -> HttpResponse:
    return redirect("study-stage", stage.study_id, stage.position)


@require_safe
@staff_only
def study_agreement(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the page (`?stage=2&view=answer&by=type`), or with `?seen=` only what has changed since."""
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""))
    asked = agreement_page.Query.from_address(stage, request.GET)
    contents = agreement_page.contents(stage, asked, by=audit.named(request.user), request=request)
    if request.GET.get("seen") == contents["seen"]:
        return HttpResponse(status=NOTHING_NEW)
    name = f"agreement-study-{pk}-stage-{stage.position}-{asked.by}"
    return page_or_csv(request, "dashboard/agreement.html", {"section": "studies", **contents}, name)


@require_safe
@staff_only
def study_baseline(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the page, or with `?seen=` only what has changed since."""
    contents = human_baseline_page.contents(permissions.study_for(request.user, pk))
    seen = request.GET.get("seen")
    if seen == contents["seen"]:
        return HttpResponse(status=NOTHING_NEW)
    return render(request, "dashboard/human_baseline.html", {"section": "studies", **contents})


@require_safe
@staff_only
def study_blocked(request: StaffRequest, pk: int) -> HttpResponse:
    """Handle `?stage=2&reason=gone&blocked-page=3`; without a reason, the items of the first."""
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""))
    found, reason = blocked_items.latest(stage), request.GET.get("reason", "")
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "latest": found,
        "tabs": [(one, f"stage={one.position}") for one in stage.study.stages.order_by("position")],
        "named": stage.strategy == Strategy.NAMED, "joined": stage.study.annotators.exists(),
        "asks": not stage_progress.asks_nobody(stage.study),
    }  # fmt: skip
    if found.data:
        counts = found.data["counts"] if context["asks"] else {}
        context |= blocked_items.blocked_counts(counts)
        context["reopen"] = counts.get(blocked_items.REOPEN, 0)
        context["reopened"] = reopening.reopened(stage)
        reason = reason if reason in counts else next((name for name in blocked_items.REASONS if name in counts), "")
        rows = found.data["rows"].get(reason, [])
        context |= {"reason": reason, "most": blocked_items.MOST, "listed": len(rows)}
        context["blocked"] = study_tables.blocked_table(request, stage, rows, PAGE)
        context["holds"] = blocked_items.REASONS[reason][0] if reason else ""
        context["invite"] = counts.keys() & {*blocked_items.UNSTAFFED, "away"}
    return render(request, "dashboard/blocked_items.html", context)


@require_POST
@staff_only
def study_export(request: StaffRequest, pk: int) -> HttpResponse:
    study = permissions.study_for(request.user, pk, Role.MANAGER)
    job = export_job.queue_export(study=study, by=audit.named(request.user), created_by=request.user)
    jobs.dispatch(job)
    return redirect("job-detail", job.pk)


@require_safe
@staff_only
def study_download(request: StaffRequest, pk: int, job: int) -> HttpResponseBase:
    return download_export(request, permissions.export_for(request.user, pk, job))


@require_POST
@staff_only
def flag_settle(request: StaffRequest, pk: int) -> HttpResponse:
    flag = permissions.flag_for(request.user, pk)
    settle_flag(flag=flag, by=audit.named(request.user), settled_by=request.user)
    return _to_stage(flag.lease.task.stage)
