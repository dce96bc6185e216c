"""Asking for a model to score a benchmark; the job's page shows how far it is."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Job
from benchmarks.records import Refused
from benchmarks.scoring import score
from benchmarks.scoring.forms import ScoreForm


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def score_new(request: HttpRequest, pk: int) -> HttpResponse:
    benchmark, form = permissions.benchmark_for(request.user, pk), ScoreForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        job = _queue(request, benchmark, form)
        if job:
            jobs.dispatch(job)
            return redirect("job-detail", job.pk)
    context = {"section": "benchmarks", "benchmark": benchmark, "form": form}
    return render(request, "scoring/new.html", context, status=422 if form.errors else 200)


def _queue(request: HttpRequest, benchmark: Benchmark, form: ScoreForm) -> Job | None:
    """The job; None, with the form saying why, where the request makes no sense."""
    user = request.user
    try:
        return score.queue_score(benchmark=benchmark, **form.cleaned_data, by=named(user), created_by=user)
    except Refused as refusal:
        form.add_error(None, refusal.problems[0].advice)
        return None
