"""The report of a study: a page to read and to print, and its numbers as JSON."""

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from annotation import permissions
from annotation.reports import page, report
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only

ACCEPTED = 202
AGAIN = 30  # seconds
NOT_YET = "A worker is computing this report for the first time. Try again in half a minute."


@require_safe
@staff_only
def study_report(request: StaffRequest, pk: int) -> HttpResponse:
    study = permissions.study_for(request.user, pk)
    found = report.latest(study, by=audit.named(request.user))
    return render(request, "reports/report.html", {"section": "studies", **page.contents(study, found)})


@require_safe
@staff_only
def study_report_json(request: StaffRequest, pk: int) -> JsonResponse:
    """Return the latest report, with its time in `as_of`; 202 with a sentence if there is none yet."""
    study = permissions.study_for(request.user, pk)
    found = report.latest(study, by=audit.named(request.user))
    if found.data is None:
        return JsonResponse({"detail": NOT_YET}, status=ACCEPTED, headers={"Retry-After": str(AGAIN)})
    name = f"report-{slugify(study.name) or study.pk}.json"
    return JsonResponse(
        report.dated(found),
        json_dumps_params={"ensure_ascii": False, "indent": 2},
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
