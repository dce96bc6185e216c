"""The managers' page of a study's human baseline."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation import permissions
from annotation.dashboard import human_baseline_page
from benchmarks.permissions import staff_only

NOTHING_NEW = 204


@require_safe
@staff_only
def study_baseline(request: HttpRequest, pk: int) -> HttpResponse:
    """The page, or with `?seen=` what has changed in it since."""
    contents = human_baseline_page.contents(permissions.study_for(request.user, pk))
    seen = request.GET.get("seen")
    if seen == contents["seen"]:
        return HttpResponse(status=NOTHING_NEW)
    return render(request, "dashboard/human_baseline.html", {"section": "studies", **contents})
