"""Pages to correct one item, or to take a file of corrections, with the corrections so far."""

import json
from collections.abc import Sequence
from pathlib import Path

from django.contrib import messages
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from benchmarks import permissions, queries
from benchmarks.audit import named
from benchmarks.corrections.correct import Change, check, correct
from benchmarks.corrections.forms import CorrectionsForm, ItemForm
from benchmarks.corrections.work import queue_corrections
from benchmarks.jobs import jobs, kept_uploads, uploads
from benchmarks.jobs.kept_uploads import Upload
from benchmarks.jobs.views import order_page
from benchmarks.models import Action, Benchmark, Correction, Job
from benchmarks.permissions import StaffRequest
from benchmarks.records import Refused

Picture = UploadedFile | Upload
ARCHIVES = (".zip", ".tar", ".tgz", ".gz")
DONE = {
    "": "Corrected. Studies that show the corrected part ask about the item again.",
    "withdraw": "Withdrawn. Studies no longer ask about the item, and releases leave it out.",
    "restore": "Put back. Studies ask about the item again.",
}  # by the button pressed


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def item_correct(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Show an item by its position: a key may contain any character, a URL may not."""
    benchmark = permissions.benchmark_for(request.user, pk, change=True)
    item = get_object_or_404(queries.with_material(benchmark.items.all()), position=position)
    form = ItemForm(request.POST or None, request.FILES or None, item=item)
    if request.method == "POST" and form.is_valid():
        action = next((name for name in ("withdraw", "restore") if name in request.POST), "")
        changes = form.changes(action)
        try:
            if not changes:
                form.add_error(None, "Nothing was changed. Correct a text, choose a picture, or withdraw the item.")
            elif job := _make(request, benchmark, changes, form):
                return redirect("job-detail", job.pk)
            else:
                messages.success(request, DONE[action])
                return redirect("item-correct", pk, position)
        except Refused as refusal:
            for problem in refusal.problems:
                form.add_error(None, problem.advice)  # its column refers to a file
        except uploads.NoRoom as reason:
            form.add_error(None, str(reason))
    context = {
        "section": "benchmarks", "benchmark": benchmark, "item": item, "form": form,
        "corrections": _with_names(item.corrections.order_by("-pk")),
        "studies": list(benchmark.studies.order_by("name")),
    }  # fmt: skip
    return render(request, "corrections/item.html", context, status=422 if form.errors else 200)


def _make(request: StaffRequest, benchmark: Benchmark, changes: Sequence[Change], form: ItemForm) -> Job | None:
    """Make changes of texts at once; for images, queue a job."""
    by, user = named(request.user), request.user
    if all(change.action != Action.IMAGE for change in changes):
        correct(benchmark=benchmark, changes=changes, by=by, made_by=user)
        return None
    check(benchmark=benchmark, changes=changes)
    rows = []
    for change in changes:
        row = {"id": change.item, "place": change.place, "reason": change.reason}
        rows.append(row | ({"file": change.new} if change.action == Action.IMAGE else {"text": change.new}))
    files = [form.cleaned_data[field.name] for field in form.pictures() if form.cleaned_data[field.name]]
    for number, file in enumerate(files):  # two files with the same name stay distinct
        file.name = f"{number}-{file.name}" if sum(one.name == file.name for one in files) > 1 else file.name
    names = iter(files)
    for row in rows:
        row |= {"file": next(names).name} if "file" in row else {}
    return queue_rows(benchmark, rows, files, user)


def queue_rows(benchmark: Benchmark, rows: Sequence[dict], images: Sequence[Picture], user) -> Job:
    """Queue a job for rows in memory."""
    content = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()
    job = queue_files(benchmark, SimpleUploadedFile("corrections.jsonl", content), images, user)
    jobs.dispatch(job)
    return job


def queue_files(benchmark: Benchmark, file: UploadedFile, images: Sequence[Picture], user) -> Job:
    """Queue a job. `images`: images, or one archive of them, or earlier uploads."""
    with uploads.arriving() as folder:
        path = uploads.keep([file], folder / "data")
        there: Path | None = None
        earlier = [one for one in images if isinstance(one, Upload)]
        if earlier:
            kept_uploads.link(earlier, folder / "images")
        elif images:
            uploads.keep([one for one in images if isinstance(one, UploadedFile)], folder / "images")
        if images:
            packed = len(images) == 1 and str(images[0].name).lower().endswith(ARCHIVES)
            there = folder / "images" / str(images[0].name) if packed else folder / "images"
    return queue_corrections(
        benchmark=benchmark, file=path, images=there, by=named(user), created_by=user, upload=str(folder),
        kept={"images": [one.id for one in earlier]} if earlier else {},
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def corrections_new(request: StaffRequest, pk: int) -> HttpResponse:
    """Take a file of corrections, and list all corrections so far, the newest first."""
    benchmark = permissions.benchmark_for(request.user, pk, change=True)
    form = CorrectionsForm(request.POST or None, request.FILES or None)
    made = _with_names(Correction.objects.filter(item__benchmark=benchmark)).order_by("-pk")

    def queue() -> Job:
        return queue_files(benchmark, form.cleaned_data["file"], form.cleaned_data["images"], request.user)

    return order_page(request, "corrections/new.html", form, queue, benchmark=benchmark, corrections=made)


def _with_names(corrections):
    return corrections.select_related("made_by", "old_image", "new_image", "item")
