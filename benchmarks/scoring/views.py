"""The page on which a model is named that is to score a benchmark."""

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.jobs.views import order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest
from benchmarks.scoring import score
from benchmarks.scoring.forms import ScoreForm


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def score_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark, form = permissions.benchmark_for(request.user, pk), ScoreForm(request.POST or None)
    user = request.user

    def queue() -> Job:
        return score.queue_score(benchmark=benchmark, **form.cleaned_data, by=named(user), created_by=user)

    return order_page(request, "scoring/new.html", form, queue, benchmark=benchmark)
