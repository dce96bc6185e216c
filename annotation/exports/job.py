"""The export job, and code shared by jobs that build a folder and store it as one zip."""

import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.core.files import File
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.text import slugify

from annotation.exports.export import export_split
from annotation.exports.files import files_below
from annotation.models import Study
from benchmarks import audit
from benchmarks.jobs import jobs, work_folder
from benchmarks.models import Job
from benchmarks.storage.files import kept

KIND = "export"


def queue_export(*, study: Study, by: str, created_by=None) -> Job:
    """Create the job; send it with `tasks.run_export.delay_on_commit`."""
    title = f"Export of {study.name}"
    return jobs.queue_job(kind=KIND, title=title, params={"study": study.pk}, by=by, created_by=created_by)


def exports_of(study: Study) -> QuerySet[Job]:
    """Return the study's exports, newest first."""
    return Job.objects.filter(kind=KIND, params__study=study.pk)


def run_export(job: Job, progress: jobs.Progress) -> None:
    study = Study.objects.get(pk=job.params["study"])
    by = audit.named(job.created_by) if job.created_by else "worker"

    def write(folder: Path, separate: jobs.SeparateProgress) -> dict:
        separate.begin("writing items")
        return export_split(study=study, out=folder, by=by, step=separate.tell)

    folder = slugify(study.name) or f"study-{study.pk}"
    with stored_archive(job, progress, f"exports/{job.pk}", folder, write) as made:
        download = reverse("study-download", args=[study.pk, job.pk])
        report = {"file": made.name, "bytes": made.size, "counts": made.manifest["counts"], "download": download}
        jobs.finish_job(job=job, by="worker", report=report)


@dataclass(frozen=True, slots=True)
class StoredArchive:
    """`name` is the zip's name in the storage, `local` its copy in the work folder."""

    name: str
    local: Path
    manifest: dict

    @property
    def size(self) -> int:
        return self.local.stat().st_size


@contextmanager
def stored_archive(
    job: Job, progress: jobs.Progress, below: str, folder: str, write: Callable[[Path, jobs.SeparateProgress], dict]
) -> Iterator[StoredArchive]:
    """Have `write` make the folder and return its manifest, and store the folder as `<below>/<folder>.zip`.

    `below` must belong to the job. The zip stays in storage only if the block finishes the job. It may run again, and
    replaces what an earlier run left in storage.
    """
    with work_folder.workplace(job) as place:
        with jobs.separate_progress(progress) as separate:
            manifest = write(place / folder, separate)
            separate.write()
        packed = zip_folder(place / folder, place / "packed.zip")
        progress.write()
        name = f"{below}/{folder}.zip"
        work_folder.will_store(job, name)
        kept.delete(name)  # left by a run that was interrupted on another machine
        with packed.open("rb") as file:
            name = kept.save(name, File(file))
        yield StoredArchive(name, packed, manifest)


def zip_folder(folder: Path, target: Path) -> Path:
    """Zip the folder uncompressed (images already are), in name order and with one date: same files, same zip."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in files_below(folder):
            entry = zipfile.ZipInfo(f"{folder.name}/{name}")
            entry.external_attr = 0o644 << 16
            with (folder / name).open("rb") as source, archive.open(entry, "w", force_zip64=True) as packed:
                shutil.copyfileobj(source, packed, 1024 * 1024)
    return target
