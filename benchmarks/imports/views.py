"""The import page."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.formats.own.mapping import NotAMapping, chosen
from benchmarks.formats.parquet import OF_EXPORTS
from benchmarks.formats.registry import FORMATS
from benchmarks.imports import order
from benchmarks.imports.forms import ARCHIVES, FILES, ImportForm, choices_in
from benchmarks.imports.own_files import first_items, has_mapping
from benchmarks.jobs import kept_uploads, uploads
from benchmarks.jobs.forms import fits
from benchmarks.jobs.kept_uploads import Upload
from benchmarks.jobs.views import order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def import_new(request: StaffRequest) -> HttpResponse:
    """`?again=` a job: the form as it was then, with the files that are still there."""
    asked: dict = {name: request.GET[name] for name in ("name", "new_candidates") if name in request.GET}
    if request.GET.get("again", "").isdecimal():
        asked = _as_in(permissions.job_for(request.user, int(request.GET["again"][:18])))
    kept = kept_uploads.of_user(request.user)
    sent = request.POST if request.method == "POST" else None  # an empty form was sent too
    form = ImportForm(sent, request.FILES or None, initial=asked, kept=kept)
    if request.method == "POST" and not form.is_valid():
        _retain_files(request, form)
    return order_page(
        request, "imports/new.html", form, partial(queue_from_form, request.user, form, looks_first=True),
        formats=[format for format in FORMATS.values() if format not in OF_EXPORTS], of_exports=OF_EXPORTS,
        opened=form["format"].value() != order.OWN,
    )  # fmt: skip


@require_POST
@permissions.staff_only
def import_preview(request: StaffRequest, pk: int) -> HttpResponse:
    """The first items, as the columns that were chosen make them of the rows in that job's report."""
    report, problem, found = permissions.job_for(request.user, pk).report, "", []
    try:
        found = first_items(report, chosen(choices_in(request.POST)))
    except NotAMapping as error:
        problem = str(error)
    return render(request, "imports/_first.html", {"items": found, "problem": problem})


def _as_in(job: Job) -> dict:
    """The form's values that gave this import."""
    params = job.params
    asked = {"name": params.get("name", ""), "format": params.get("format"), **params.get("options", {})}
    asked |= dict(zip(("first_origin", "second_origin"), params.get("origins", ()), strict=False))
    return asked | {f"{name}_kept": ids for name, ids in params.get("kept", {}).items()}


def _retain_files(request: StaffRequest, form: ImportForm) -> None:
    """Keep the files of a form with errors, apart from fields with an error of their own: browsers forget them."""
    new: list[Upload] = []
    with suppress(OSError):  # the disk is full: they are sent again
        for name in FILES:
            for one in form.cleaned_data.get(name, ()) if name not in form.errors else ():
                _kept(one, name, request.user, new)
    kept_uploads.drop_replaced(request.user, new)
    form.kept, form.retained = kept_uploads.of_user(request.user), {upload.id for upload in new}


def queue_from_form(user: User, form: ImportForm, replaces: bool = True, looks_first: bool = False) -> Job:
    """Keep the files of a valid form and queue their import. `replaces`: they take the place of the user's earlier
    uploads with the same names. `looks_first`: of a file of one's own without a mapping only the first rows are read.
    Raises Refused, CannotKeep or NoRoom."""
    asked = form.cleaned_data
    new: list[Upload] = []
    with uploads.arriving() as folder:
        try:
            kept = {name: [_kept(one, name, user, new) for one in asked[name]] for name in FILES}
            path, second, images = (kept_uploads.link(kept[n], folder / n) if kept[n] else None for n in FILES)
        except OSError:
            kept_uploads.drop(upload.id for upload in new)
            raise
    assert path is not None  # the form requires it
    if images and len(asked["images"]) == 1 and not fits(images.name, ARCHIVES):
        images = images.parent  # a single image file is a folder of one
    if replaces:
        kept_uploads.drop_replaced(user, [one for chosen in kept.values() for one in chosen])
    options = form.order
    if looks_first and asked["format"] == order.OWN and not options.mapping and not has_mapping(asked["name"]):
        options = replace(options, look=True)
    origins, ids = form.origins(FORMATS[asked["format"]]), {name: [one.id for one in kept[name]] for name in FILES}
    return order.queue_import(
        name=asked["name"], format=asked["format"], by=named(user), created_by=user,
        files=order.Files(path, images, second, origins, upload=str(folder), kept=ids),
        options=options,
    )  # fmt: skip


def _kept(one, name: str, user: User, new: list[Upload]) -> Upload:
    """The upload itself, or the form's file as one, which is then in `new` too."""
    if not isinstance(one, Upload):
        one = kept_uploads.keep(user, name, one)
        new.append(one)
    return one
