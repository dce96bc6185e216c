"""Pages for a study's releases: the list, a new release, one with its files; and actions on an unfinished one."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import permissions
from annotation.figures import cache
from annotation.models import Role
from annotation.releases import downloads, lifecycle, page
from annotation.releases.formats.registry import FORMS
from annotation.releases.forms import PlanForm
from annotation.releases.listing import list_row, open_items, releases_of
from benchmarks import audit
from benchmarks.jobs import jobs
from benchmarks.permissions import StaffRequest, staff_only

NOTHING_NEW, UNFIT = 204, 422


@require_safe
@staff_only
def release_list(request: StaffRequest, pk: int) -> HttpResponse:
    study = permissions.study_for(request.user, pk)
    rows = [list_row(release) for release in releases_of(study)]
    context = {"section": "studies", "study": study, "rows": rows, "open": 0 if rows else open_items(study)}
    return render(request, "releases/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def release_new(request: StaffRequest, pk: int) -> HttpResponse:
    """Show a form with the whole plan, beside what the release would contain now; `look` counts this for the chosen
    stages.

    `instead` is the number of a release that failed, whose place it takes.
    """
    study, by = permissions.study_for(request.user, pk, Role.MANAGER), audit.named(request.user)
    number = request.POST.get("instead") or request.GET.get("instead", "")
    instead = next((one for one in study.releases.filter(frozen_at=None) if str(one.pk) == number), None)
    form = PlanForm(study, request.POST if request.method == "POST" else None, instead)
    if form.is_valid() and "look" not in request.POST:
        try:
            with transaction.atomic():
                if instead:
                    lifecycle.discard(release=instead, by=by)
                release = lifecycle.freeze(study=study, plan=form.plan(), by=by, created_by=request.user)
        except lifecycle.CannotFreeze as refusal:
            form.refuse(refusal.problems)
        else:
            assert release.job
            jobs.dispatch(release.job)
            return redirect("release-detail", release.pk)
    context = {"section": "studies", "study": study, "form": form, "instead": instead}
    context |= {"not_done": "The release was not frozen", "parquet": FORMS["parquet"]}
    context |= {"outlook": page.outlook(study, form.positions, by), "large": not cache.is_small(study)}
    return render(request, "releases/new.html", context, status=UNFIT if form.errors else 200)


@require_safe
@staff_only
def release_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """Show its contents or its progress; htmx gets only the progress meanwhile. `?against=3`: compared with another."""
    release = permissions.release_for(request.user, pk)
    shown = {"section": "studies", "study": release.study, **page.release_context(release)}
    if request.htmx and "against" not in request.GET:
        if shown["making"]:
            return render(request, "releases/_progress.html", shown)
        return HttpResponse(status=NOTHING_NEW, headers={"HX-Refresh": "true"})
    if not release.frozen_at:
        return render(request, "releases/making.html", shown)
    with downloads.removed_is_404():
        shown |= page.comparison_context(release, request.GET.get("against", ""))
        if request.htmx:
            return render(request, "releases/_changes.html", shown)
        return render(request, "releases/detail.html", shown | page.frozen_context(release))


@require_POST
@staff_only
def release_again(request: StaffRequest, pk: int) -> HttpResponse:
    release = permissions.release_for(request.user, pk, Role.MANAGER)
    try:
        job = lifecycle.try_again(release=release, by=audit.named(request.user), created_by=request.user)
        jobs.dispatch(job)
    except lifecycle.CannotFreeze as refusal:
        messages.error(request, str(refusal))
    return redirect("release-detail", pk)


@require_POST
@staff_only
def release_discard(request: StaffRequest, pk: int) -> HttpResponse:
    release = permissions.release_for(request.user, pk, Role.MANAGER)
    try:
        lifecycle.discard(release=release, by=audit.named(request.user))
    except lifecycle.CannotFreeze as refusal:
        messages.error(request, str(refusal))
        return redirect("release-detail", pk)
    messages.success(request, f"{release} was discarded. You can use its version again.")
    return redirect("release-list", release.study_id)


@require_safe
@staff_only
def release_download(request: StaffRequest, pk: int, name: str = "") -> HttpResponseBase:
    """Return the whole zip, or one file of it."""
    return downloads.download(request, permissions.release_for(request.user, pk), name)
