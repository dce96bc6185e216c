"""The page on which an owner deletes a study: what goes with it, and its name to be typed."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation import permissions
from annotation.models import Role
from annotation.studies import deletion
from benchmarks import audit
from benchmarks.housekeeping.delete import CannotDelete
from benchmarks.permissions import staff_only

UNFIT = 422


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_only
def study_delete(request: HttpRequest, pk: int) -> HttpResponse:
    study, problem = permissions.study_for(request.user, pk, Role.OWNER), ""
    size = deletion.size(study)
    large = size["judgments"] > deletion.BY_COMMAND
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
        deletion.delete_study(study=study, by=audit.named(request.user), releases=releases)
    except CannotDelete as why:
        return str(why)
    return ""
