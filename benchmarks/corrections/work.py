"""A job that makes a file's corrections, with the images it names, all or none."""

from collections.abc import Sequence
from pathlib import Path

from django.db import transaction

from benchmarks.corrections.correct import Change, check, correct
from benchmarks.corrections.reading import read_changes
from benchmarks.formats.base import ProblemLog
from benchmarks.imports import frames, staging, store
from benchmarks.imports.images import Gathered, gather
from benchmarks.imports.run import check_images_given
from benchmarks.jobs import jobs
from benchmarks.jobs.benchmark_work import BenchmarkWork
from benchmarks.models import Action, Benchmark, Correction, Image, Job
from benchmarks.records import ImageRecord, ItemRecord
from benchmarks.transactions import retry_deadlocks
from workers.archives.archive import ArchiveRefused, open_archive

KIND = "correct"
NONE: dict[str, list[str]] = {}


def queue_corrections(
    *, benchmark: Benchmark, file: Path, images: Path | None, by: str, created_by=None, upload: str | None = None,
    foreground: bool = False, kept: dict[str, list[str]] = NONE,
) -> Job:  # fmt: skip
    """`images`: a folder or an archive; `upload`: a folder to delete when the job has ended;
    `kept`: ids of the linked uploads by field.
    """
    params = {"benchmark": benchmark.pk, "file": str(file), "images": str(images) if images else "", "by": by}
    params |= {"upload": upload, "foreground": foreground} | ({"kept": kept} if kept else {})
    title = f"Corrections of {benchmark.name}"
    return jobs.queue_job(kind=KIND, title=title, params=params, by=by, created_by=created_by)


class Correcting(BenchmarkWork):
    def run(self) -> None:
        params, log = self.job.params, ProblemLog()
        self.progress.begin("reading corrections")
        changes = read_changes(Path(params["file"]), log)
        log.refuse_if_any()
        check(benchmark=self.benchmark, changes=changes)
        made = self.with_pictures(changes, log) if _records(changes) else self.store(changes, None, None)
        self.finish({"benchmark": self.benchmark.pk, "corrections": len(made), "items": len({o.item_id for o in made})})

    def with_pictures(self, changes: Sequence[Change], log: ProblemLog) -> list[Correction]:
        staged = staging.Staging(self.job.pk)
        staging.sweep_staging()
        staged.clear()
        try:
            with staging.images_stay():
                gathered = self.gathered(_records(changes), staged, log)
                made = self.store(changes, gathered, staged)
        except ArchiveRefused as refused:
            log.archive(refused)
            log.refuse_if_any()
            raise
        finally:
            staged.clear()
        frames.make_missing(self.benchmark)
        return made

    def gathered(self, records: list[ItemRecord], staged: staging.Staging, log: ProblemLog) -> Gathered:
        if not self.job.params["images"]:
            check_images_given(records, None, log)
            log.refuse_if_any()
        with open_archive(Path(self.job.params["images"])) as source:
            check_images_given(records, source, log)
            log.refuse_if_any()
            found = gather(source=source, records=records, staging=staged, progress=self.progress, log=log)
        log.refuse_if_any()
        return found

    @retry_deadlocks
    @transaction.atomic
    def store(
        self, changes: Sequence[Change], gathered: Gathered | None, staged: staging.Staging | None
    ) -> list[Correction]:
        """Store the changes. Files move last: after a deadlock everything before that can be repeated."""
        pictures: dict[str, Image] = {}
        if gathered and staged:
            staging.serial()
            new = store.store_images(gathered)
            stored = Image.objects.in_bulk(store.image_ids(gathered).values())
            contents = {image.sha256: image for image in stored.values()}
            pictures = {name: contents[sha256] for (name, _), sha256 in gathered.sha256.items()}
        made = correct(
            benchmark=self.benchmark, changes=changes, by=self.by, made_by=self.job.created_by, pictures=pictures
        )
        if gathered and staged:
            staged.place(new, lambda: None)
        return made


def _records(changes: Sequence[Change]) -> list[ItemRecord]:
    return [
        ItemRecord(one.item, "", "", (), (ImageRecord(one.place.rpartition("-")[0], one.new),), origin=one.origin)
        for one in changes
        if one.action == Action.IMAGE
    ]
