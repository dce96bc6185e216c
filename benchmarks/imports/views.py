"""The import page."""

from dataclasses import replace
from functools import partial

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.formats.parquet import OF_EXPORTS
from benchmarks.formats.registry import FORMATS
from benchmarks.imports import order
from benchmarks.imports.forms import ARCHIVES, ImportForm
from benchmarks.imports.own_files import has_mapping
from benchmarks.jobs import kept_uploads, uploads
from benchmarks.jobs.forms import fits
from benchmarks.jobs.views import order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def import_new(request: StaffRequest) -> HttpResponse:
    """Show the form. `?again=` a job: with its values, and those of its files that still exist."""
    asked: dict = {name: request.GET[name] for name in ("name", "new_candidates") if name in request.GET}
    if request.GET.get("again", "").isdecimal():
        asked = _as_in(permissions.job_for(request.user, int(request.GET["again"][:18])))
    kept = kept_uploads.of_user(request.user)
    sent = request.POST if request.method == "POST" else None  # an empty form also counts as sent
    form = ImportForm(sent, request.FILES or None, initial=asked, kept=kept)
    if request.method == "POST" and not form.is_valid():
        form.retain(request.user)
    return order_page(
        request, "imports/new.html", form, partial(queue_from_form, request.user, form, looks_first=True),
        formats=[format for format in FORMATS.values() if format not in OF_EXPORTS], of_exports=OF_EXPORTS,
        opened=form.has_options(),
    )  # fmt: skip


def _as_in(job: Job) -> dict:
    """Return the form's values that led to this import."""
    params = job.params
    asked = {"name": params.get("name", ""), "format": params.get("format"), **params.get("options", {})}
    asked |= dict(zip(("first_origin", "second_origin"), params.get("origins", ()), strict=False))
    return asked | {f"{name}_kept": ids for name, ids in params.get("kept", {}).items()}


def queue_from_form(user: User, form: ImportForm, replaces: bool = True, looks_first: bool = False) -> Job:
    """Keep the files of a valid form and queue their import. `replaces`: they replace the user's earlier uploads with
    the same names. `looks_first`: from a user's own file without a mapping, read only the first rows. Raises Refused,
    CannotKeep or NoRoom."""
    asked = form.cleaned_data
    with uploads.arriving() as folder:
        paths, ids = form.keep(user, folder, replaces)
    images = paths.get("images")
    if images and len(asked["images"]) == 1 and not fits(images.name, ARCHIVES):
        images = images.parent  # a single image file counts as a folder with one
    options = form.order
    if looks_first and asked["format"] == order.OWN and not options.mapping and not has_mapping(asked["name"]):
        options = replace(options, look=True)
    origins = form.origins(FORMATS[asked["format"]])
    return order.queue_import(
        name=asked["name"], format=asked["format"], by=named(user), created_by=user,
        files=order.Files(paths["data"], images, paths.get("second"), origins, upload=str(folder), kept=ids),
        options=options,
    )  # fmt: skip
