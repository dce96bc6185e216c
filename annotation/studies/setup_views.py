"""The managers' pages that set a study up."""

from itertools import zip_longest

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.designs.plan import effort_in_words, total_effort
from annotation.designs.presets import PRESETS
from annotation.protocols.registry import PROTOCOLS
from annotation.studies import lifecycle
from annotation.studies.setup_forms import Setup, preset_of
from benchmarks import audit
from benchmarks.permissions import staff_only

UNFIT = 422


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_new(request: HttpRequest) -> HttpResponse:
    """A form with every value of the study and its stages, beside what they will take; `plan` works only that out."""
    data = request.POST if request.method == "POST" else None
    setup = Setup(preset_of(data or request.GET), data, request.GET.get("benchmark"))
    if data is None or not setup.is_valid() or "plan" in data:
        return _form(request, setup, UNFIT if setup.wrong() else 200)
    try:
        study = lifecycle.create_study(by=audit.named(request.user), created_by=request.user, **setup.plan())
    except lifecycle.CannotCreate as refusal:
        setup.study.add_error(None, str(refusal).split("\n"))
        return _form(request, setup, UNFIT)
    return redirect("study-detail", study.pk)


def _form(request: HttpRequest, setup: Setup, status: int) -> HttpResponse:
    expected = setup.expected()
    context = {
        "section": "studies", "setup": setup, "presets": PRESETS.values(), "protocols": PROTOCOLS.values(),
        "rows": [(form, one and effort_in_words(one)) for form, one in zip_longest(setup.stages, expected)],
        "total": expected and effort_in_words(total_effort(expected)),
    }  # fmt: skip
    return render(request, "studies/new.html", context, status=status)
