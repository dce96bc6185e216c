"""The page on which an owner deletes a study: what goes with it, and its name to be typed."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation import access, deleting
from annotation.models import Role
from benchmarks import events
from benchmarks.access import staff_only
from benchmarks.removing import CannotDelete

UNFIT = 422


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_only
def study_delete(request: HttpRequest, pk: int) -> HttpResponse:
    study, problem = access.study_for(request.user, pk, Role.OWNER), ""
    size = deleting.size(study)
    large = size["judgments"] > deleting.BY_COMMAND
    if request.method == "POST":
        problem = _refused(request, study, large)
        if not problem:
            messages.success(request, f"“{study.name}” is deleted. Its benchmark, “{study.benchmark}”, is still there.")
            return redirect("study-list")
    context = {"section": "studies", "study": study, "size": size, "large": large, "problem": problem}
    context["releases"] = study.releases.exclude(frozen_at=None)
    return render(request, "studies/delete.html", context, status=UNFIT if problem else 200)


def _refused(request: HttpRequest, study, large: bool) -> str:
    """Why it was not deleted, in a sentence; nothing where it was."""
    if large:
        return "A study of this size is deleted by command."
    if request.POST.get("name", "").strip() != study.name:
        return "That is not the study’s name. Nothing was deleted."
    try:
        releases = request.POST.get("releases") == "go"
        deleting.delete_study(study=study, by=events.named(request.user), releases=releases)
    except CannotDelete as why:
        return str(why)
    return ""
