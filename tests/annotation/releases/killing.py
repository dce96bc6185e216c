"""What tests of killed workers share: jobs, the files that they should make, what they made, and the kill."""

import hashlib
import os
import signal
import tempfile
import time
from pathlib import Path

from django.core.files import File
from django.utils.text import slugify

from annotation import tasks
from annotation.exports import export as exports_export
from annotation.exports import job as export_job
from annotation.exports.export import export_split
from annotation.models import Release, Study
from annotation.releases import build
from annotation.releases import lifecycle as release_lifecycle
from annotation.releases.plan import Plan
from benchmarks import locks
from benchmarks.models import Job

RUN = {"export": tasks.run_export, "release": tasks.run_release}


def queued(study: Study, kind: str) -> Job:
    if kind == "export":
        return export_job.queue_export(study=study, by="test")
    return release_lifecycle.freeze(study=study, plan=Plan("cups", f"1.{Release.objects.count()}"), by="test").job


def stored(media: Path) -> dict[str, str]:
    """The SHA-256 of each zip in the storage."""
    return {str(path.relative_to(media)): sha256(path) for path in media.rglob("*.zip")}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def undisturbed(job: Job) -> str:
    """The hash of the file that the job must make, made here by nobody who dies."""
    release = Release.objects.filter(job=job).select_related("study").first()
    study = release.study if release else Study.objects.get(pk=job.params["study"])
    with tempfile.TemporaryDirectory() as place:
        export = Path(place) / slugify(study.name)
        export_split(study=study, out=export, by="test")
        folder = export
        if release:
            folder = Path(place) / release.folder
            folder.mkdir()
            build.build(export, Plan.from_json(release.plan), folder)
        return sha256(export_job.zip_folder(folder, Path(place) / "made.zip"))


def wait_until_dead(job: Job) -> None:
    """PostgreSQL lets go of a killed process's lock when it finds the connection closed."""
    for _ in range(100):
        with locks.alone(f"job:{job.pk}") as dead:
            if dead:
                return
        time.sleep(0.1)
    raise AssertionError("somebody is still at the job")


def run_and_die(kind: str, job: int, moment: str) -> None:
    """Run the job in this process, which a kill -9 ends at the moment."""

    def die(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGKILL)

    def half(file: File, size=None):
        """Part of what is to be stored, then nothing more."""
        yield file.read(1000)
        die()

    place, name, instead = {
        "writing": (exports_export.item_table, "write_source", die),  # the items are written, the folder has no name
        "building": (build.redaction, "write_tables", die),
        "storing": (File, "chunks", half),
    }[moment]
    setattr(place, name, instead)
    RUN[kind](job)
