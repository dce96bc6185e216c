"""The import page."""

from dataclasses import fields
from functools import partial

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.formats.parquet import OF_EXPORTS
from benchmarks.formats.registry import FORMATS
from benchmarks.imports import run
from benchmarks.imports.forms import ARCHIVES, ImportForm
from benchmarks.jobs import uploads
from benchmarks.jobs.forms import fits
from benchmarks.jobs.views import order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def import_new(request: StaffRequest) -> HttpResponse:
    asked = {name: request.GET[name] for name in ("name", "new_candidates") if name in request.GET}
    form = ImportForm(request.POST or None, request.FILES or None, initial=asked)
    return order_page(
        request, "imports/new.html", form, partial(_queue_import, request, form),
        formats=[format for format in FORMATS.values() if format not in OF_EXPORTS], of_exports=OF_EXPORTS,
        opened=form["format"].value() in {format.name for format in OF_EXPORTS},
    )  # fmt: skip


def _queue_import(request: StaffRequest, form: ImportForm) -> Job:
    """Keep the uploaded files and queue their import."""
    asked = form.cleaned_data
    with uploads.arriving() as folder:
        path, second, images = (
            uploads.keep(asked[name], folder / name) if asked[name] else None for name in ("data", "second", "images")
        )
    assert path is not None  # the field is required
    if images and len(asked["images"]) == 1 and not fits(images.name, ARCHIVES):
        images = images.parent  # a single image file is a folder of one
    options = run.Options(**{option.name: asked[option.name] for option in fields(run.Options)})
    return run.queue_import(
        name=asked["name"], format=asked["format"], path=path, second=second, images=images, options=options,
        origins=form.origins(FORMATS[asked["format"]]),
        by=named(request.user), created_by=request.user, upload=str(folder),
        check_only=asked["check_only"],
    )  # fmt: skip
