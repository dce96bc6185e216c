"""Pages that import predictions and reported scores, and deleting a run."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.formats.base import ProblemLog
from benchmarks.jobs import uploads
from benchmarks.jobs.views import answers_page
from benchmarks.models import Benchmark
from benchmarks.permissions import StaffRequest
from benchmarks.predictions.kinds import KINDS
from benchmarks.records import Problem, Refused
from benchmarks.runs import import_predictions, material, reported
from benchmarks.runs.forms import PredictionsForm, ReportedForm


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def predictions_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark = permissions.benchmark_for(request.user, pk)
    asked = {"kind": material.kind(benchmark)}
    return answers_page(
        request, "runs/predictions.html", PredictionsForm, benchmark, import_predictions.queue_predictions, asked
    )


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def reported_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark = permissions.benchmark_for(request.user, pk)
    kind = material.kind(benchmark)
    form = ReportedForm(request.POST or None, request.FILES or None, initial={"kind": kind}, kind=kind)
    problems: list[Problem] = []
    if request.method == "POST" and form.is_valid():
        try:
            made = entered(request, benchmark, form)
        except Refused as refusal:
            problems = refusal.problems
        else:
            messages.success(request, f"Added {len(made):,} rows, marked as reported.")
            return redirect("benchmark-models", benchmark.pk)
    context = {"section": "benchmarks", "benchmark": benchmark, "form": form, "problems": problems}
    return render(request, "runs/reported.html", context, status=422 if form.errors or problems else 200)


def entered(request: StaffRequest, benchmark: Benchmark, form: ReportedForm) -> list:
    asked = form.cleaned_data
    rows = [row for table in form.offered if table.name in asked["tables"] for row in table.rows]
    if asked["file"]:
        rows = uploaded(asked["file"], asked["kind"])
    user = request.user
    return reported.enter_reported(benchmark=benchmark, kind=asked["kind"], rows=rows, by=named(user), created_by=user)


def uploaded(file, kind: str) -> list[reported.ReportedRow]:
    """Return the rows of an uploaded file, which is then deleted. Raises Refused for problems."""
    log, folder = ProblemLog(), uploads.new_folder()
    try:
        rows = reported.read_reported(uploads.keep([file], folder / "data"), KINDS[kind], log)
    finally:
        uploads.drop(folder)
    log.refuse_if_any()
    return rows


@require_POST
@permissions.staff_only
def run_delete(request: StaffRequest, pk: int, run: int) -> HttpResponse:
    found = permissions.run_for(request.user, pk, run)
    reported.delete_run(run=found, by=named(request.user))
    messages.success(request, f"Deleted {found.title} from this benchmark.")
    return redirect("benchmark-models", pk)
