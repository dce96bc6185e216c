"""A page with a form that starts a job, and the job's page."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.formats.examples import right_example
from benchmarks.formats.registry import FORMATS
from benchmarks.jobs import columns, jobs, kept_uploads, uploads
from benchmarks.jobs.kinds import KINDS, OTHER, KindOfJob
from benchmarks.jobs.orders import OrderForm
from benchmarks.models import Benchmark, Job, JobState
from benchmarks.permissions import StaffRequest
from benchmarks.records import Problem, ProblemKinds, Refused
from benchmarks.storage.files import Unavailable


def order_page(
    request: StaffRequest, template: str, form: forms.Form, queue: Callable[[], Job], **context: object
) -> HttpResponse:
    """Show the form; once it is valid, `queue` its job and redirect to the job's page.

    The form shows what `queue` raises: NoRoom if the disk is full, Refused if the request is invalid.
    """
    if request.method == "POST" and form.is_valid():
        try:
            job = queue()
        except (uploads.NoRoom, kept_uploads.CannotKeep, Unavailable) as reason:
            form.add_error(None, str(reason))
        except Refused as refusal:
            form.add_error(None, refusal.problems[0].advice)
        else:
            jobs.dispatch(job)
            return redirect("job-detail", job.pk)
    context = {"section": "benchmarks", **context, "form": form}
    return render(request, template, context, status=422 if form.errors else 200)


def benchmark_order_page(
    request: StaffRequest, template: str, form: OrderForm, benchmark: Benchmark, queue: Callable[..., Job],
    estimate: Callable[[Benchmark, Any], object] | None = None, **context: object,
) -> HttpResponse:  # fmt: skip
    """As `order_page`, for an order about a benchmark. With `estimate`, the form's button of that name only shows an
    estimate for the order."""
    user, context = request.user, {"benchmark": benchmark, **context}
    if estimate and "estimate" in request.POST and form.is_valid():
        try:
            context["estimate"] = estimate(benchmark, form.order)
        except Refused as refusal:
            form.add_error(None, refusal.problems[0].advice)
        context = {"section": "benchmarks", **context, "form": form}
        return render(request, template, context, status=422 if form.errors else 200)

    def queue_for_user() -> Job:
        return queue(benchmark=benchmark, order=form.order, by=named(user), created_by=user)

    return order_page(request, template, form, queue_for_user, **context)


def answers_page(
    request: StaffRequest, template: str, form: type[columns.AnswersForm], benchmark: Benchmark,
    queue: Callable[..., Job], asked: Mapping[str, Any] = MappingProxyType({}),
) -> HttpResponse:  # fmt: skip
    """As `order_page`, for files of answers to a benchmark: without a mapping, their columns are shown first."""
    before = asked_before(request, *columns.PAGES)
    before |= {f"{name}_kept": ids for name, ids in before.get("kept", {}).items()}
    kept = kept_uploads.of_user(request.user)
    sent = request.POST if request.method == "POST" else None
    filled = form(sent, request.FILES or None, initial={**asked, **before}, kept=kept)
    if request.method == "POST" and not filled.is_valid():
        filled.retain(request.user)
    order = partial(columns.queue_answers, request.user, benchmark, filled, queue, looks_first=True)
    return order_page(request, template, filled, order, benchmark=benchmark)


def asked_before(request: StaffRequest, *kinds: str) -> dict[str, Any]:
    """Return the params of the earlier job in the address (`?again=`) to prefill a form; empty without a job of these
    kinds."""
    again = request.GET.get("again", "")
    if not (again.isascii() and again.isdecimal() and len(again) < 10):
        return {}
    job = permissions.job_for(request.user, int(again))
    return {**job.params} if job.kind in kinds else {}


@require_safe
@permissions.staff_only
def job_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the page, or (for htmx) the part of it that changes."""
    job = permissions.job_for(request.user, pk)
    template = "jobs/_job.html" if request.htmx else "jobs/detail.html"
    may_cancel = permissions.may_change(request.user, job)
    kind = KINDS.get(job.kind, OTHER)
    context = {
        "section": "benchmarks", "job": job, "pace": jobs.pace(job), "may_cancel": may_cancel, "kind_of_job": kind,
        "again": _again(job, kind), "benchmark": _benchmark(job),
        "kinds": (kinds := _problem_kinds(job)), "in_files": any(kind["in_files"] for kind in kinds),
    }  # fmt: skip
    return render(request, template, context)


def _benchmark(job: Job) -> Benchmark | None:
    """Return the benchmark that the job is about, or that an import has filled; None if there is none, or none left."""
    pk = job.params.get("benchmark") or job.report.get("benchmark")
    return Benchmark.objects.filter(pk=pk).first() if isinstance(pk, int) else None


def _again(job: Job, kind: KindOfJob) -> str:
    """Return the URL of the form prefilled from this job; empty if there is none."""
    of = [job.params["benchmark"]] if "benchmark" in job.params else []
    gone = any(problem["code"] == "BENCHMARK_GONE" for problem in job.problems)
    return f"{reverse(kind.form, args=of)}?again={job.pk}" if kind.form and not gone else ""


def _problem_kinds(job: Job) -> list[dict]:
    """Return the kinds of a failed job's problems (records.ProblemKinds), each with any valid example, and whether its
    problems are `in_files`; others are the server's, such as a full disk."""
    kinds = job.report.get("kinds") if job.state == JobState.FAILED else []
    if kinds is None:  # a job from an earlier version
        kinds = ProblemKinds(Problem(**problem) for problem in job.problems).as_json()
    format = FORMATS.get(job.params.get("format", "")) if job.kind == "import" else None
    rights: set[str] = set()
    for kind in kinds:
        right = right_example(kind["code"], format)
        kind["right"] = "" if right in rights else right  # each example once
        rights.add(right)
        kind["in_files"] = any(one["file"] or one["row"] or one["column"] for one in kind["examples"])
    return kinds


@require_POST
@permissions.staff_only
def job_columns(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the first rows in the job's report, read according to the form's choices."""
    job = permissions.job_for(request.user, pk)
    if not job.report.get("look"):
        return HttpResponse(status=204)
    return render(request, "jobs/_first.html", {"job": job, "sent": request.POST})


@require_POST
@permissions.staff_only
def job_cancel(request: StaffRequest, pk: int) -> HttpResponse:
    jobs.cancel_job(job=permissions.job_for(request.user, pk, change=True), by=named(request.user))
    return redirect("job-detail", pk)
