"""An export as a job: the worker writes the files, packs them into one zip and keeps it in the storage."""

import shutil
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import connections
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.text import slugify

from annotation.exports.export import export_split
from annotation.exports.files import files_below
from annotation.models import Study
from benchmarks.jobs import jobs, work_folder
from benchmarks.models import Job

KIND = "export"


def queue_export(*, study: Study, by: str, created_by=None) -> Job:
    """Send it with `tasks.run_export.delay_on_commit`."""
    title = f"Export of {study.name}"
    return jobs.queue_job(kind=KIND, title=title, params={"study": study.pk}, by=by, created_by=created_by)


def exports_of(study: Study) -> QuerySet[Job]:
    """Newest first."""
    return Job.objects.filter(kind=KIND, params__study=study.pk)


def run_export(job: Job, progress: jobs.Progress) -> None:
    """Export to a zip in the storage. Progress is written by a connection of its own: the export's sees one moment."""
    study = Study.objects.get(pk=job.params["study"])
    with work_folder.workplace(job) as place, ThreadPoolExecutor(1) as thread:
        folder = place / (slugify(study.name) or f"study-{study.pk}")
        thread.submit(progress.begin, "writing items").result()
        try:
            manifest = export_split(study=study, out=folder, by="worker", step=aside(thread, progress))
            thread.submit(progress.write).result()
        finally:
            thread.submit(connections.close_all).result()
        packed = zip_folder(folder, place / "export.zip")
        name = f"exports/{job.pk}/{folder.name}.zip"
        work_folder.will_store(job, name)
        default_storage.delete(name)  # of a run that was cut short on another machine
        with packed.open("rb") as file:
            name = default_storage.save(name, File(file))
        download = reverse("study-download", args=[study.pk, job.pk])
        report = {"file": name, "bytes": default_storage.size(name), "counts": manifest["counts"], "download": download}
        jobs.finish_job(job=job, by="worker", report=report)


def aside(thread: ThreadPoolExecutor, progress: jobs.Progress) -> Callable[[int, int], None]:
    """`step(done, total)` that writes progress in that thread: the export's own connection sees one moment alone."""

    def step(done: int, total: int) -> None:
        progress.total = total
        thread.submit(progress.step).result()

    return step


def zip_folder(folder: Path, target: Path) -> Path:
    """Stored, not compressed (images are already), in name order and with one date: the same files, the same zip."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in files_below(folder):
            entry = zipfile.ZipInfo(f"{folder.name}/{name}")
            entry.external_attr = 0o644 << 16
            with (folder / name).open("rb") as source, archive.open(entry, "w", force_zip64=True) as packed:
                shutil.copyfileobj(source, packed, 1024 * 1024)
    return target
