"""The managers' pages that set a study up."""

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation import studies
from annotation.forms import StudyForm
from annotation.protocols.registry import PROTOCOLS
from benchmarks import events
from benchmarks.access import staff_only
from benchmarks.models import Benchmark


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_new(request: HttpRequest) -> HttpResponse:
    protocol = next(iter(PROTOCOLS.values()))
    initial = {"benchmark": request.GET.get("benchmark"), "instructions": protocol.instructions}
    form = StudyForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            study = studies.create_study(by=events.named(request.user), created_by=request.user, **form.plan())
            return redirect("study-detail", study.pk)
        except studies.CannotCreate as refusal:
            form.add_error(None, str(refusal).split("\n"))
    sizes = Benchmark.objects.annotate(items_count=Count("items"))
    return render(request, "studies/new.html", {"section": "studies", "form": form, "benchmarks": sizes})
