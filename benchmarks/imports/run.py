"""The import, all or nothing: check everything, stage the files, then store it all in one transaction."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath

from django.db import transaction
from django.db.models import QuerySet

from benchmarks import audit
from benchmarks.construction.captions import format_records
from benchmarks.formats import recognition, release
from benchmarks.formats.base import Format, ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.writing import without_images
from benchmarks.imports import candidate_rounds, frames, listeners, own_files, previews, staging
from benchmarks.imports import images as import_images
from benchmarks.imports import store as imports_store
from benchmarks.imports.order import OWN, Files, Options, Order, benchmark_name, refuse_others
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Event, Image, Job, JobState
from benchmarks.predictions.plan import kind_of
from benchmarks.records import ItemRecord, Origin, Problem, Refused
from benchmarks.runs import material
from benchmarks.runs.reported import enter_new
from workers.archives.archive import ArchiveRefused, Source, open_archive

LISTED = 100  # names of unused files kept in the report
ADD = "Add it there, or skip rows with missing images (skip_missing_images)."
UNREADABLE = "No usable image"
OTHER_ENCODING = "The names in this archive are in another encoding. Create it again with names in UTF-8."
NAMED = 10_000  # ids of skipped rows kept with the benchmark


def import_files(job: Job, progress: jobs.Progress) -> None:
    """Do the work of a job of kind `import`, as passed to `jobs.jobs.run`."""
    params, files = job.params, Files.in_job(job.params)
    order = Order(params["name"], params["format"], Options(**params["options"]), params["by"], job.created_by_id)
    log, format = ProblemLog(order.options.skip_incomplete), FORMATS[order.source]
    progress.begin("reading rows")
    if format.name == OWN:
        order = own_files.understood(order, files, log)
        if order.options.look:
            jobs.finish_job(job=job, by=order.by, report=dict(order.report))
            return
    given = {
        "mapping": order.options.mapping,
        "second": files.second,
        "origins": tuple(files.origins),
        "split": order.options.split,
    }
    rows = _counted(format.read(files.path, log, **{name: value for name, value in given.items() if value}), progress)
    records = check_records(prepared(rows, order.options), log, format.keeps_same)
    if log.count:
        recognition.replace_by_other_format(files.path, format, FORMATS.values(), log)
    elif format.first_format:
        order = replace(order, source=format.first_format(files.path, records, kind_of))
    whole = format is release.FORMAT and not order.options.split
    with images_of(format, files, order.options, log) as source:
        Run(
            job, progress, order, log, records, source, release=release.folder_of(files.path) if whole else None
        ).finish()


def import_items(
    *, name: str, records: list[ItemRecord], images, source: str, by: str, created_by=None, tell: Callable | None = None
) -> Benchmark:
    """Import records from memory immediately. `images` is a workers.archives.source.Source, or anything with `names`
    and `stream(wanted)` that yields (name, bytes), or None; `source` names their origin.

    Raises Refused with every problem. The job that it creates has the report.
    """
    name = benchmark_name(name)
    params = {"name": name, "format": source, "foreground": True}
    job = jobs.queue_job(kind="import", title=f"Import {name}", params=params, by=by, created_by=created_by)
    order = Order(name, source, Options(), by, job.created_by_id)

    def work(job: Job, progress: jobs.Progress) -> None:
        log = ProblemLog()
        progress.begin("reading rows")
        files = images if images is None or isinstance(images, Source) else import_images.ImagesInMemory(images)
        checked = check_records(prepared(_counted(records, progress), order.options), log)
        Run(job, progress, order, log, checked, files).finish()

    return outcome(jobs.run(job_id=job.pk, by=by, work=work, tell=tell))


def outcome(job: Job) -> Benchmark:
    """Return the benchmark of a finished import; raises Refused if it failed."""
    if job.state != JobState.DONE:
        raise Refused([Problem(**problem) for problem in job.problems], job.problem_count)
    return Benchmark.objects.get(pk=job.report["benchmark"])


def _counted(records: Iterable[ItemRecord], progress: jobs.Progress) -> Iterator[ItemRecord]:
    for record in records:
        progress.step()
        yield record


@contextmanager
def images_of(format: Format, files: Files, options: Options, log: ProblemLog) -> Iterator[Source | None]:
    """Yield the source of the images: the file itself for formats that contain them, otherwise the one given. None if
    none was given or its archive cannot be opened (the log then has the reason)."""
    with ExitStack() as stack:
        source = None
        try:
            if files.images is not None:
                source = stack.enter_context(open_archive(files.images))
            elif format.images is not None and not (log.count or options.text_only):
                source = stack.enter_context(format.images(files.path))
        except ArchiveRefused as refused:
            log.archive(refused)
        yield source


def prepared(records: Iterable[ItemRecord], options: Options) -> list[ItemRecord]:
    """Return the records to check and store: formatting may make two captions equal."""
    if options.text_only:
        records = map(without_images, records)
    return format_records(records) if options.format_captions else list(records)


def without_absent_positives(records: list[ItemRecord], source: Source | None, log: ProblemLog) -> list[ItemRecord]:
    """Drop missing positive images: generated candidates are often shared without their photographs.

    If exactly all positive images are missing, the items are imported without them, as the report notes.
    """
    named = [image for _, image in import_images.image_uses(records)]
    positives = {image.part[0] for image in named if image.role == "positive"}
    others = {image.part[0] for image in named} - positives
    if source is None or not positives or not others or set(source.missing(positives | others)) != positives:
        return records
    absent = f"None of the {len(positives):,} positive images is in {source.title}"
    advice = f"{absent}, so the items are imported without them."
    log.note("POSITIVE_IMAGES_ABSENT", imports_store.file_names(records), None, "positive image", advice)
    return [replace(r, images=tuple(image for image in r.images if image.role != "positive")) for r in records]


def without_images_among(
    records: list[ItemRecord], unusable: Mapping[str, tuple[str, str]], log: ProblemLog, source: Source | None
) -> tuple[list[ItemRecord], list[str]]:
    """Return the records without any of these images, and the ids of the others, each with a note. `unusable`: by file
    name in the source, the code of the note and the problem.
    """
    kept, skipped = [], []
    for number, record in enumerate(records, 1):
        found = [image for image in record.images if image.part[0] in unusable]
        if not found:
            kept.append(record)
            continue
        skipped.append(record.key)
        origin, names = record.origin or Origin("", number), ", ".join(f"“{image.name}”" for image in found)
        column = ", ".join(dict.fromkeys(f"{image.role} image" for image in found))
        code, wrong = unusable[found[0].part[0]]
        log.note(code, origin.file, origin.row, column, f"{wrong}: {names}. Row “{record.key}” was skipped.")
    if skipped and not kept:
        mend = OTHER_ENCODING if source and source.other_encoding else "Provide the images."
        advice = f"Every row names an image that is missing or unreadable, so nothing can be imported. {mend}"
        log.error("NO_ROWS", imports_store.file_names(records), None, "", advice)
    return kept, skipped


def check_images_given(records: list[ItemRecord], source: Source | None, log: ProblemLog) -> None:
    """Log each image that a row names but the source lacks."""
    named = list(import_images.image_uses(records))
    if source is None:
        if named and not log.count:
            files = len({image.part[0] for _, image in named})
            advice = (
                f"The rows name {files:,} image{'s' * (files != 1)}. Add their folder or archive, or take only text."
            )
            log.error("NO_IMAGES", imports_store.file_names(records), None, "", advice)
        return
    missing = set(source.missing(image.part[0] for _, image in named))
    alike: dict[str, list[str]] = {}  # by name, ignoring folder and case
    for name in source.names if missing else ():
        alike.setdefault(PurePosixPath(name).name.casefold(), []).append(name)
    for origin, image in named:
        if image.part[0] in missing:
            near = alike.get(PurePosixPath(image.name).name.casefold(), ())
            mend = f"Did you mean “{near[0]}”?" if len(near) == 1 else OTHER_ENCODING if source.other_encoding else ADD
            advice = f"“{image.name}” is not among the {len(source.names):,} files of {source.title}. {mend}"
            log.error("MISSING_IMAGE", origin.file, origin.row, f"{image.role} image", advice)


SKIPPED = {  # entry of the report → verb of an event
    "missing_images": "skipped rows with missing images",
    "unreadable_images": "skipped rows with unreadable images",
}


def skipped_rows(benchmark: Benchmark) -> QuerySet[Event]:
    """Return the events of imports that skipped rows for their images; `data` has their number and ids."""
    return Event.objects.filter(subject=audit.named(benchmark), verb__in=SKIPPED.values()).order_by("at", "pk")


Written = tuple[Benchmark, list[Image], dict]  # the images whose files must move, and facts for the report


class Run:
    """One import, from checked records to a finished job.

    `gathered` replaces the source if the images are all stored already. `release`: the folder of the release that the
    records are from, if complete; its people are then compared with models.
    """

    def __init__(
        self, job: Job, progress: jobs.Progress, order: Order, log: ProblemLog, records: list[ItemRecord],
        source: Source | None = None, gathered: import_images.Gathered | None = None, release: Path | None = None,
    ):  # fmt: skip
        self.job, self.progress, self.order, self.log = job, progress, order, log
        self.records, self.source, self.stored_images, self.release = records, source, gathered, release
        self.skipped: dict[str, list[str]] = {}  # ids of rows, by entry of the report
        self.staged = staging.Staging(job.pk)
        self.started = time.monotonic()

    def finish(self) -> None:
        """Store everything, or only check it. If it raises Refused or Cancelled, it leaves nothing behind."""
        self.check()
        staging.sweep_staging()
        self.staged.clear()  # an earlier process's files; the sweep leaves them, because this one holds the job's lock
        try:
            with staging.images_stay():
                self.gathered = self.stored_images or self.gather()
                self.log.refuse_if_any()
                if self.order.options.check_only:
                    self.report_check()
                else:
                    self.store()
        finally:
            self.staged.clear()

    def check(self) -> None:
        """Leave out what will not be stored, and check what can be checked before any image is read."""
        name, options = self.order.benchmark_name, self.order.options
        refuse_others(name, self.job.created_by)  # a study may have been created since it was queued
        if options.new_candidates:
            candidate_rounds.check_known_items(name, self.records, self.log, options.format_captions)
            self.records = candidate_rounds.candidates_only(self.records)
        else:
            self.records = without_absent_positives(self.records, self.source, self.log)
        if options.skip_missing_images and self.source is not None:
            missing = self.source.missing(image.part[0] for _, image in import_images.image_uses(self.records))
            self.skip("missing_images", dict.fromkeys(missing, ("MISSING_IMAGE", "Missing")))
        if not options.new_candidates:
            self.check_against_stored()
        if self.stored_images is None:
            check_images_given(self.records, self.source, self.log)
        self.log.refuse_if_any()

    def check_against_stored(self) -> None:
        name, log = self.order.benchmark_name, self.log
        if self.order.options.skip_stored:
            self.records = imports_store.without_stored(name, self.records, self.source, log)
        imports_store.check_against_stored(name, self.records, log)

    def skip(self, entry: str, unusable: Mapping[str, tuple[str, str]]) -> None:
        """Leave out the rows with these images, and list them under that entry of the report."""
        self.records, skipped = without_images_among(self.records, unusable, self.log, self.source)
        if skipped:
            self.skipped[entry] = skipped

    def gather(self) -> import_images.Gathered:
        options = self.order.options
        gathered = import_images.gather(
            source=self.source, records=self.records, staging=self.staged, progress=self.progress, log=self.log,
            then=0 if options.check_only else import_images.storing(self.records),
            skip_unreadable=options.skip_unreadable_images,
        )  # fmt: skip
        if not (options.skip_unreadable_images and gathered.unreadable):
            return gathered
        self.skip("unreadable_images", {name: (why.code, UNREADABLE) for name, why in gathered.unreadable.items()})
        return gathered.limited_to(self.records)

    def report_check(self) -> None:
        """Finish a check-only job: its report describes what an import would store."""
        benchmark = Benchmark.objects.filter(name=self.order.benchmark_name).first()
        if benchmark and self.order.options.new_candidates:
            self.check_new_candidates(benchmark)
        report = self.report(len(self.gathered.new))
        report |= {"new_candidates": report["uses"]} if self.order.options.new_candidates else {}
        report |= {"check_only": True, "new": benchmark is None, **self.order.report}
        report |= previews.preview(self.records, self.gathered, self.staged)
        jobs.finish_job(job=self.job, by=self.order.by, report=report)

    def store(self) -> None:
        """Store everything in one transaction: rows, files in place, event, report, job done. Then run frames and
        listeners.

        Creating a study also locks the benchmark's row, so the study either has the new items or is known to the
        listeners.
        """
        with jobs.separate_progress(self.progress) as separate, transaction.atomic():
            staging.serial()
            separate.begin("storing", sum(map(imports_store.rows_of, self.records)) + len(self.gathered.new))
            write = self.write_candidates if self.order.options.new_candidates else self.write_items
            benchmark, stored, facts = write(separate.step)
            self.staged.place(stored, separate.step)
            separate.write()
            report = self.report(len(stored)) | {"benchmark": benchmark.pk, **facts, **self.order.report}
            for entry in self.skipped:
                self.record(SKIPPED[entry], benchmark, **report[entry])
            jobs.finish_job(job=self.job, by=self.order.by, report=report)
            Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        frames.make_missing(benchmark)
        listeners.notify(benchmark)

    def write_items(self, step: Callable[[int], object]) -> Written:
        order = self.order
        self.check_against_stored()  # another import may have been faster
        self.log.refuse_if_any()
        self.gathered = self.gathered.limited_to(self.records) if order.options.skip_stored else self.gathered
        defaults = {"source": order.source, "created_by_id": order.created_by_id}
        benchmark, new = Benchmark.objects.get_or_create(name=order.benchmark_name, defaults=defaults)
        if order.options.mapping:
            Benchmark.objects.filter(pk=benchmark.pk).update(mapping=json.loads(order.options.mapping))
        stored = imports_store.store_images(self.gathered)
        imports_store.store_items(benchmark, self.records, self.gathered, step)
        if self.records:
            self.record("imported", benchmark, items=len(self.records))
        if self.release:
            kind = material.kind(benchmark)
            people = listeners.people_of(self.release, kind, self.log)
            enter_new(benchmark=benchmark, kind=kind, rows=people, by=order.by, created_by=self.job.created_by)
        return benchmark, stored, {"new": new, "source": order.source}

    def write_candidates(self, step: Callable[[int], object]) -> Written:
        benchmark = Benchmark.objects.get(name=self.order.benchmark_name)
        self.check_new_candidates(benchmark)
        stored = imports_store.store_images(self.gathered)
        count = candidate_rounds.store(benchmark, self.records, self.gathered, step)
        if count:
            self.record("imported new candidates", benchmark, items=len(self.records), images=count)
        return benchmark, stored, {"new": False, "new_candidates": count}

    def check_new_candidates(self, benchmark: Benchmark) -> None:
        skip = self.order.options.skip_stored
        self.records = candidate_rounds.check_new(benchmark, self.records, self.gathered, self.log, skip)
        self.log.refuse_if_any()
        self.gathered = self.gathered.limited_to(self.records) if skip else self.gathered

    def record(self, verb: str, benchmark: Benchmark, **facts: object) -> None:
        audit.record(by=self.order.by, verb=verb, subject=benchmark, job=self.job.pk, **facts)

    def report(self, stored: int) -> dict:
        """Make a JSON-able report. `images`: named files and crops = stored now + already stored + same as another.

        `files`: files of the source = used + unused + system files.
        """
        gathered, log = self.gathered, self.log
        known = gathered.known + len(gathered.new) - stored  # stored by another import in the meantime
        for part, other in gathered.same:
            advice = f"Same content as {import_images.part_name(other)}; stored once."
            log.note("SAME_CONTENT", import_images.part_name(part), None, "", advice)
        report = {
            "items": len(self.records),
            "left_out": log.left_out,  # incomplete rows
            "captions": sum(len(record.captions) for record in self.records),
            "uses": sum(len(record.images) for record in self.records),
            "images": {"named": len(gathered.sha256), "stored": stored, "known": known, "same": len(gathered.same)},
            "files": _count_files(self.source, gathered),
            "notes": [note.as_json() for note in log.notes],
            "note_count": log.note_count,
            "seconds": round(time.monotonic() - self.started, 1),
        }
        return report | {entry: {"rows": len(ids), "ids": ids[:NAMED]} for entry, ids in self.skipped.items()}


def _count_files(source: Source | None, gathered: import_images.Gathered) -> dict | None:
    if source is None:
        return None
    unused = source.unused(name for name, _ in gathered.sha256)
    return {
        "found": len(source.names) + len(source.ignored),
        "used": len(source.names) - len(unused),
        "unused": len(unused),
        "unused_names": unused[:LISTED],
        "system": len(source.ignored),
        "system_names": source.ignored[:LISTED],
    }
