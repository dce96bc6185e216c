"""The managers' page of a stage's agreement, and its table as a file."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation import permissions
from annotation.dashboard import agreement_page
from annotation.figures import agreement
from benchmarks import audit
from benchmarks.permissions import staff_only

NOTHING_NEW = 204


@require_safe
@staff_only
def study_agreement(request: HttpRequest, pk: int) -> HttpResponse:
    """The page (`?stage=2&view=answer&by=type`), or with `?seen=` what has changed in it since."""
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""))
    asked = agreement_page.Asked.of(stage, request.GET)
    contents = agreement_page.contents(stage, asked, by=audit.named(request.user))
    if request.GET.get("seen") == contents["seen"]:
        return HttpResponse(status=NOTHING_NEW)
    return render(request, "dashboard/agreement.html", {"section": "studies", **contents})


@require_safe
@staff_only
def study_agreement_csv(request: HttpRequest, pk: int) -> HttpResponse:
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""))
    asked = agreement_page.Asked.of(stage, request.GET)
    found = agreement.look(stage, asked.view, by=audit.named(request.user))
    if found.data is None:
        raise Http404("These figures are still being computed. Try again when the page shows them.")
    text = agreement_page.table_csv(stage, asked, found.data)
    name = f'attachment; filename="agreement-study-{pk}-stage-{stage.position}-{asked.by}.csv"'
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers={"Content-Disposition": name})
