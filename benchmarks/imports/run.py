"""The import, all or nothing: everything is checked, files are staged, then one transaction stores it all."""

import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet

from benchmarks import audit, permissions
from benchmarks.construction.captions import format_records
from benchmarks.formats import recognition
from benchmarks.formats.base import Format, ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.writing import without_images
from benchmarks.imports import candidate_rounds, frames, listeners, previews, staging
from benchmarks.imports import images as import_images
from benchmarks.imports import store as imports_store
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Event, Image, Job, JobState
from benchmarks.predictions.plan import kind_of
from benchmarks.records import ItemRecord, Origin, Problem, Refused
from workers.archives.archive import ArchiveRefused, Source, open_archive

UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # categories: control, format, none, private, line breaks
BLANKS = "\u034f\u115f\u1160\u2800\u3164\uffa0\ufe0e\ufe0f"  # invisible letters, marks and symbols
LISTED = 100  # names of unused files kept in the report
ADD = "Add it there, or skip rows with missing images (--skip-missing-images)."
NAMED = 10_000  # ids of skipped rows kept with the benchmark


@dataclass(frozen=True)
class Options:
    """`format_captions`: BiVLC's step 1, all captions of an item in one form. `text_only`: leave the images out.

    `new_candidates`: the rows are existing items and add another round of candidate images. `skip_incomplete`:
    incomplete rows are skipped and listed in the report, instead of rejecting the import. `skip_missing_images`: so are
    rows that name an image which was not given, and the benchmark's page names them for good. `split`: the only one to
    import of a format with splits.
    """

    format_captions: bool = False
    text_only: bool = False
    new_candidates: bool = False
    skip_incomplete: bool = False
    skip_missing_images: bool = False
    split: str = ""


@dataclass(frozen=True)
class Order:
    """The request for an import. `by` and `created_by` say who requested it; `source` is the name of the format in
    which its items first came; `check_only`: everything is done except to store it; `report`: what a job that made its
    items adds to the report."""

    benchmark_name: str
    source: str
    options: Options
    by: str
    created_by_id: int | None = None
    check_only: bool = False
    report: Mapping[str, object] = field(default_factory=dict)


def benchmark_name(given: str) -> str:
    """The name as stored, in NFC. Raises Refused if part of it is invisible."""
    name = unicodedata.normalize("NFC", given).strip()
    wrong = next((one for one in name if unicodedata.category(one) in UNSEEN or one in BLANKS), None)
    if wrong is None and name:
        return name
    what = f"the character U+{ord(wrong):04X} in it is invisible" if wrong else "it is empty"
    raise Refused([Problem("WRONG_VALUE", "", None, "name", f"Give the benchmark another name: {what}.")])


def refuse_others(name: str, user: User | None) -> None:
    """Raise Refused if there is a benchmark of that name that the user may not change. None: the server's operator."""
    benchmark = Benchmark.objects.select_related("created_by").filter(name=name).first()
    try:
        if user is not None and benchmark is not None:
            permissions.check_change(user, benchmark)
    except PermissionDenied as why:
        raise Refused([Problem("NOT_YOURS", "", None, "name", str(why))]) from None


def queue_import(
    *, name: str, format: str, path: Path, images: Path | None, options: Options, by: str, created_by=None,
    upload: str | None = None, second: Path | None = None, origins: Sequence[str] = (), foreground: bool = False,
    check_only: bool = False, kept: Mapping[str, Sequence[str]] = {},
) -> Job:  # fmt: skip
    """Create a job that imports files. `upload`: a folder to delete afterwards; `kept`: ids of the linked uploads, by
    field; `second`, `origins`: see Format.read; `check_only`: see Order.

    Raises Refused for an invalid benchmark name, or that of a benchmark which `created_by` may not change.
    """
    name = benchmark_name(name)
    refuse_others(name, created_by)
    params: dict[str, object] = {
        "name": name, "format": format, "path": str(path), "images": str(images) if images else None,
        "options": asdict(options), "by": by, "upload": upload, "foreground": foreground,
    }  # fmt: skip
    params |= {"second": str(second)} if second else {}
    params |= {"origins": list(origins)} if origins else {}
    params |= {"check_only": True} if check_only else {}
    params |= {"kept": {name: list(ids) for name, ids in kept.items()}} if kept else {}
    title = f"New candidates for {name}" if options.new_candidates else f"Import {name}"
    title = f"Check: {title}" if check_only else title
    return jobs.queue_job(kind="import", title=title, params=params, by=by, created_by=created_by)


def import_files(job: Job, progress: jobs.Progress) -> None:
    """The work of a job of kind `import`, as passed to `jobs.jobs.run`."""
    params = job.params
    order = Order(
        params["name"], params["format"], Options(**params["options"]), params["by"], job.created_by_id,
        params.get("check_only", False),
    )  # fmt: skip
    log, format = ProblemLog(order.options.skip_incomplete), FORMATS[order.source]
    progress.begin("reading rows")
    given: dict[str, object] = {"second": Path(params["second"])} if "second" in params else {}
    given |= {"origins": tuple(params["origins"])} if "origins" in params else {}
    given |= {"split": order.options.split} if order.options.split else {}
    rows = _counted(format.read(Path(params["path"]), log, **given), progress)
    records = check_records(prepared(rows, order.options), log, format.keeps_same)
    if log.count:
        recognition.replace_by_other_format(Path(params["path"]), format, FORMATS.values(), log)
    elif format.first_format:
        order = replace(order, source=format.first_format(Path(params["path"]), records, kind_of))
    with images_of(format, params, order.options, log) as source:
        import_records(job, progress, order, records, source, log)


def import_items(
    *, name: str, records: list[ItemRecord], images, source: str, by: str,
    created_by=None, options: Options = Options(), tell: Callable | None = None,
) -> Benchmark:  # fmt: skip
    """Import records from memory at once. `images` is a workers.archives.Source, or anything with `names` and
    `stream(wanted)` that yields (name, bytes), or None; `source` names their origin.

    Raises Refused with every problem. The report is in the job that it creates.
    """
    name = benchmark_name(name)
    params = {"name": name, "format": source, "foreground": True}
    job = jobs.queue_job(kind="import", title=f"Import {name}", params=params, by=by, created_by=created_by)
    order = Order(name, source, options, by, job.created_by_id)

    def work(job: Job, progress: jobs.Progress) -> None:
        log = ProblemLog(options.skip_incomplete)
        progress.begin("reading rows")
        files = images if images is None or isinstance(images, Source) else import_images.ImagesInMemory(images)
        checked = check_records(prepared(_counted(records, progress), options), log)
        import_records(job, progress, order, checked, files, log)

    return outcome(jobs.run(job_id=job.pk, by=by, work=work, tell=tell))


def outcome(job: Job) -> Benchmark:
    """The benchmark of a finished import; raises Refused if it failed."""
    if job.state != JobState.DONE:
        raise Refused([Problem(**problem) for problem in job.problems], job.problem_count)
    return Benchmark.objects.get(pk=job.report["benchmark"])


def _counted(records: Iterable[ItemRecord], progress: jobs.Progress) -> Iterator[ItemRecord]:
    for record in records:
        progress.step()
        yield record


@contextmanager
def images_of(format: Format, params: dict, options: Options, log: ProblemLog) -> Iterator[Source | None]:
    """The source of the images: the file itself for formats that contain them, otherwise the one given. None if none
    was given or its archive cannot be opened (the log then says why)."""
    with ExitStack() as stack:
        source = None
        if format.images is not None:
            source = None if log.count or options.text_only else format.images(Path(params["path"]))
        elif params["images"] is not None:
            try:
                source = stack.enter_context(open_archive(Path(params["images"])))
            except ArchiveRefused as refused:
                log.archive(refused)
        yield source


def import_records(
    job: Job, progress: jobs.Progress, order: Order, records: list[ItemRecord], source: Source | None, log: ProblemLog,
    stored_images: import_images.Gathered | None = None,
) -> None:  # fmt: skip
    """Turn checked records into a finished job. Raises Refused or Cancelled, and then leaves nothing behind.

    `stored_images`: of records whose images are all stored already, instead of a source.
    """
    started = time.monotonic()
    refuse_others(order.benchmark_name, job.created_by)  # a study may have been created since it was queued
    if order.options.new_candidates:
        candidate_rounds.check_known_items(order.benchmark_name, records, log, order.options.format_captions)
        records = candidate_rounds.candidates_only(records)
    else:
        records = without_absent_positives(records, source, log)
    skipped: list[str] = []
    if order.options.skip_missing_images and source is not None:
        records, skipped = without_missing_images(records, source, log)
    if not order.options.new_candidates:
        imports_store.check_against_stored(order.benchmark_name, records, log)
    if stored_images is None:
        check_images_given(records, source, log)
    log.refuse_if_any()
    staging.sweep_staging()
    staged = staging.Staging(job.pk)
    staged.clear()  # of an earlier process; the sweep leaves it, since this one holds the job's lock
    try:
        with staging.images_stay():
            gathered = stored_images or import_images.gather(
                source=source, records=records, staging=staged, progress=progress, log=log,
                then=0 if order.check_only else import_images.storing(records),
            )  # fmt: skip
            log.refuse_if_any()
            if order.check_only:
                finish_check(job, order, records, source, gathered, staged, log, started, skipped)
                return
            store(job, progress, order, records, source, gathered, staged, log, started, skipped)
    finally:
        staged.clear()


def prepared(records: Iterable[ItemRecord], options: Options) -> list[ItemRecord]:
    """The records to check and store: formatting may make two captions equal."""
    if options.text_only:
        records = map(without_images, records)
    return format_records(records) if options.format_captions else list(records)


def without_absent_positives(records: list[ItemRecord], source: Source | None, log: ProblemLog) -> list[ItemRecord]:
    """Generated candidates are often shared without their photographs.

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


def without_missing_images(
    records: list[ItemRecord], source: Source, log: ProblemLog
) -> tuple[list[ItemRecord], list[str]]:
    """The records whose images are all among the given files, and the ids of the others, each with a note."""
    missing = set(source.missing(image.part[0] for _, image in import_images.image_uses(records)))
    kept, skipped = [], []
    for number, record in enumerate(records, 1):
        absent = [image for image in record.images if image.part[0] in missing]
        if not absent:
            kept.append(record)
            continue
        skipped.append(record.key)
        origin, names = record.origin or Origin("", number), ", ".join(f"“{image.name}”" for image in absent)
        column = ", ".join(dict.fromkeys(f"{image.role} image" for image in absent))
        log.note("MISSING_IMAGE", origin.file, origin.row, column, f"Missing: {names}. Row “{record.key}” was skipped.")
    if skipped and not kept:
        advice = "Every row names a missing image, so nothing can be imported. Give the images that the rows name."
        log.error("NO_ROWS", imports_store.file_names(records), None, "", advice)
    return kept, skipped


def check_images_given(records: list[ItemRecord], source: Source | None, log: ProblemLog) -> None:
    """Log each image that a row names but the source lacks."""
    named = list(import_images.image_uses(records))
    if source is None:
        if named and not log.count:
            advice = f"The rows name {len(named):,} images. Give their folder or archive, or import the text only."
            log.error("NO_IMAGES", imports_store.file_names(records), None, "", advice)
        return
    missing = set(source.missing(image.part[0] for _, image in named))
    alike: dict[str, list[str]] = {}  # by the name without folder and capitals
    for name in source.names if missing else ():
        alike.setdefault(PurePosixPath(name).name.casefold(), []).append(name)
    for origin, image in named:
        if image.part[0] in missing:
            near = alike.get(PurePosixPath(image.name).name.casefold(), ())
            mend = f"Did you mean “{near[0]}”?" if len(near) == 1 else ADD
            advice = f"“{image.name}” is not among the {len(source.names):,} files of {source.title}. {mend}"
            log.error("MISSING_IMAGE", origin.file, origin.row, f"{image.role} image", advice)


def finish_check(
    job: Job, order: Order, records: list[ItemRecord], source: Source | None, gathered: import_images.Gathered,
    staged: staging.Staging, log: ProblemLog, started: float, skipped: list[str],
) -> None:  # fmt: skip
    """Finish a job that only checks: its report says what an import would bring."""
    benchmark = Benchmark.objects.filter(name=order.benchmark_name).first()
    if benchmark and order.options.new_candidates:
        candidate_rounds.check_new(benchmark, records, gathered, log)
        log.refuse_if_any()
    report = report_of(records, source, gathered, stored=len(gathered.new), log=log)
    report |= {"missing_images": {"rows": len(skipped), "ids": skipped[:NAMED]}} if skipped else {}
    report |= {"new_candidates": report["uses"]} if order.options.new_candidates else {}
    report |= {"check_only": True, "new": benchmark is None, "seconds": round(time.monotonic() - started, 1)}
    report |= previews.preview(records, gathered, staged)
    jobs.finish_job(job=job, by=order.by, report=report)


def store(
    job: Job, progress: jobs.Progress, order: Order, records: list[ItemRecord], source: Source | None,
    gathered: import_images.Gathered, staged: staging.Staging, log: ProblemLog, started: float, skipped: list[str],
) -> None:  # fmt: skip
    """The one transaction: rows, files to their places, event, report, job done. After it, frames and the listeners.

    Creating a study also locks the benchmark's row: the study either has the new items, or is known to the listeners.
    """
    with jobs.aside(progress) as aside, transaction.atomic():
        staging.serial()
        aside.begin("storing", sum(map(imports_store.rows_of, records)) + len(gathered.new))
        write = write_candidates if order.options.new_candidates else write_items
        benchmark, stored, facts = write(job, aside, order, records, gathered, log)
        if skipped:
            facts |= {"missing_images": {"rows": len(skipped), "ids": skipped[:NAMED]}}
            audit.record(by=order.by, verb=SKIPPED, subject=benchmark, job=job.pk, **facts["missing_images"])
        staged.place(stored, aside.step)
        aside.write()
        report = report_of(records, source, gathered, stored=len(stored), log=log)
        report |= {"benchmark": benchmark.pk, "seconds": round(time.monotonic() - started, 1), **facts}
        report |= order.report
        jobs.finish_job(job=job, by=order.by, report=report)
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    frames.make_missing(benchmark)
    listeners.notify(benchmark)


SKIPPED = "skipped rows with missing images"  # verb of an event


def skipped_rows(benchmark: Benchmark) -> QuerySet[Event]:
    """The events of imports that skipped rows with missing images; `data` has their number and ids."""
    return Event.objects.filter(subject=audit.named(benchmark), verb=SKIPPED).order_by("at")


Written = tuple[Benchmark, list[Image], dict]  # the images whose files must move, and the report


def write_items(
    job: Job, aside: jobs.ProgressAside, order: Order, records: list[ItemRecord], gathered: import_images.Gathered,
    log: ProblemLog,
) -> Written:  # fmt: skip
    imports_store.check_against_stored(order.benchmark_name, records, log)  # again: another import may have been first
    log.refuse_if_any()
    defaults = {"source": order.source, "created_by_id": order.created_by_id}
    benchmark, new = Benchmark.objects.get_or_create(name=order.benchmark_name, defaults=defaults)
    stored = imports_store.store_images(gathered)
    imports_store.store_items(benchmark, records, gathered, aside.step)
    audit.record(by=order.by, verb="imported", subject=benchmark, job=job.pk, items=len(records))
    return benchmark, stored, {"new": new, "source": order.source}


def write_candidates(
    job: Job, aside: jobs.ProgressAside, order: Order, records: list[ItemRecord], gathered: import_images.Gathered,
    log: ProblemLog,
) -> Written:  # fmt: skip
    benchmark = Benchmark.objects.get(name=order.benchmark_name)
    candidate_rounds.check_new(benchmark, records, gathered, log)
    log.refuse_if_any()
    stored = imports_store.store_images(gathered)
    count = candidate_rounds.store(benchmark, records, gathered, aside.step)
    facts = {"items": len(records), "images": count}
    audit.record(by=order.by, verb="imported new candidates", subject=benchmark, job=job.pk, **facts)
    return benchmark, stored, {"new": False, "new_candidates": count}


def report_of(
    records: list[ItemRecord], source: Source | None, gathered: import_images.Gathered, *, stored: int, log: ProblemLog
) -> dict:
    """The report, JSON-able. `images`: named files and crops = stored now + already stored + same as another.

    `files`: files of the source = used + unused + system files.
    """
    names = len(gathered.sha256)
    same = len(gathered.same)
    known = gathered.known + len(gathered.new) - stored  # stored by another import in the meantime
    for part, other in gathered.same:
        advice = f"Same content as {import_images.part_name(other)}; stored once."
        log.note("SAME_CONTENT", import_images.part_name(part), None, "", advice)
    return {
        "items": len(records),
        "left_out": log.left_out,  # incomplete rows
        "captions": sum(len(record.captions) for record in records),
        "uses": sum(len(record.images) for record in records),
        "images": {"named": names, "stored": stored, "known": known, "same": same},
        "files": _count_files(source, gathered),
        "notes": [note.as_json() for note in log.notes],
        "note_count": log.note_count,
    }


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
