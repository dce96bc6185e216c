"""Asking for an import, and watching the job that does it."""

from dataclasses import fields

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.formats.parquet import OF_EXPORTS
from benchmarks.formats.registry import FORMATS
from benchmarks.imports import run
from benchmarks.imports.forms import ImportForm
from benchmarks.jobs import jobs, uploads
from benchmarks.models import Job


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def import_new(request: HttpRequest) -> HttpResponse:
    asked = {name: request.GET[name] for name in ("name", "new_candidates") if name in request.GET}
    form = ImportForm(request.POST or None, request.FILES or None, initial=asked)
    if request.method == "POST" and form.is_valid():
        job = _queue_import(request, form)
        if job:
            jobs.dispatch(job)
            return redirect("job-detail", job.pk)
    often = [format for format in FORMATS.values() if format not in OF_EXPORTS]
    context = {"section": "benchmarks", "form": form, "formats": often, "of_exports": OF_EXPORTS}
    context["opened"] = form["format"].value() in {format.name for format in OF_EXPORTS}
    return render(request, "imports/new.html", context, status=422 if form.errors else 200)


def _queue_import(request: HttpRequest, form: ImportForm) -> Job | None:
    """Keep the uploaded files and queue their import; None, with the form saying why, when the disk is full."""
    asked = form.cleaned_data
    try:
        with uploads.arriving() as folder:
            path = uploads.keep(asked["data"], folder / "data")
            second = uploads.keep(asked["second"], folder / "second")
            images = uploads.keep(asked["images"], folder / "images")
    except uploads.NoRoom as full:
        form.add_error(None, str(full))
        return None
    if len(asked["images"]) == 1 and images.suffix.lower() not in {".zip", ".tar", ".gz", ".tgz"}:
        images = images.parent  # a single image file is a folder of one
    options = run.Options(**{option.name: asked[option.name] for option in fields(run.Options)})
    return run.queue_import(
        name=asked["name"], format=asked["format"], path=path, second=second, images=images, options=options,
        origins=form.origins(asked, FORMATS[asked["format"]]),
        by=named(request.user), created_by=request.user, upload=str(folder),
    )  # fmt: skip


@require_safe
@never_cache
@permissions.staff_only
def job_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """The page, or (for htmx) the part of it that changes."""
    job = permissions.job_for(request.user, pk)
    template = "jobs/_job.html" if request.htmx else "jobs/detail.html"
    may_cancel = permissions.may_change(request.user, job)
    context = {"section": "benchmarks", "job": job, "pace": jobs.pace(job), "may_cancel": may_cancel}
    return render(request, template, context)


@require_POST
@permissions.staff_only
def job_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    jobs.cancel_job(job=permissions.job_for(request.user, pk, change=True), by=named(request.user))
    return redirect("job-detail", pk)
