"""The import: all or nothing. Everything is checked first, the files are staged, then one transaction stores it all."""

import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from django.db import transaction

from benchmarks import audit
from benchmarks.construction.captions import format_records
from benchmarks.formats.base import Format, ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.writing import without_images
from benchmarks.imports import candidate_rounds, listeners, staging
from benchmarks.imports import images as import_images
from benchmarks.imports import store as imports_store
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Image, Job, JobState
from benchmarks.records import ItemRecord, Problem, Refused
from workers.archives.archive import ArchiveRefused, Source, open_archive

UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # categories: control, format, none, private, line breaks
BLANKS = "\u034f\u115f\u1160\u2800\u3164\uffa0\ufe0e\ufe0f"  # letters, marks and symbols that draw nothing
LISTED = 100  # names of unused files that the report keeps


@dataclass(frozen=True)
class Options:
    """`format_captions`: BiVLC's step 1, capital first letter and full stop. `text_only`: leave the images out.

    `new_candidates`: the rows are items that the benchmark has, and bring another round of candidate images for them.
    `skip_incomplete`: rows that lack a part are left out and listed in the report, instead of refusing the import.
    """

    format_captions: bool = False
    text_only: bool = False
    new_candidates: bool = False
    skip_incomplete: bool = False


@dataclass(frozen=True)
class Order:
    """What one import is asked to do. `by` and `created_by` say who asks; `source` is the name of the format that its
    items first came in."""

    benchmark_name: str
    source: str
    options: Options
    by: str
    created_by_id: int | None = None


def benchmark_name(given: str) -> str:
    """The name as it is kept, its characters composed (NFC). Raises Refused where part of it cannot be seen."""
    name = unicodedata.normalize("NFC", given).strip()
    wrong = next((one for one in name if unicodedata.category(one) in UNSEEN or one in BLANKS), None)
    if wrong is None and name:
        return name
    what = f"the character U+{ord(wrong):04X} in it cannot be seen" if wrong else "it is empty"
    raise Refused([Problem("WRONG_VALUE", "", None, "name", f"Give the benchmark another name: {what}.")])


def queue_import(
    *, name: str, format: str, path: Path, images: Path | None, options: Options, by: str, created_by=None,
    upload: str | None = None, second: Path | None = None, origins: Sequence[str] = (), foreground: bool = False,
) -> Job:  # fmt: skip
    """A job that imports files. `upload`: a folder to delete when the job is over; `second`, `origins`: Format.read.

    Raises Refused for a name that a benchmark cannot have.
    """
    name = benchmark_name(name)
    params: dict[str, object] = {
        "name": name, "format": format, "path": str(path), "images": str(images) if images else None,
        "options": asdict(options), "by": by, "upload": upload, "foreground": foreground,
    }  # fmt: skip
    params |= {"second": str(second)} if second else {}
    params |= {"origins": list(origins)} if origins else {}
    title = f"New candidates for {name}" if options.new_candidates else f"Import {name}"
    return jobs.queue_job(kind="import", title=title, params=params, by=by, created_by=created_by)


def import_files(job: Job, progress: jobs.Progress) -> None:
    """What a job of kind `import` does: the work that `jobs.jobs.run` is given."""
    params = job.params
    order = Order(params["name"], params["format"], Options(**params["options"]), params["by"], job.created_by_id)
    log, format = ProblemLog(order.options.skip_incomplete), FORMATS[order.source]
    progress.begin("reading rows")
    given: dict[str, object] = {"second": Path(params["second"])} if "second" in params else {}
    given |= {"origins": tuple(params["origins"])} if "origins" in params else {}
    rows = _counted(format.read(Path(params["path"]), log, **given), progress)
    records = check_records(prepared(rows, order.options), log, format.keeps_same)
    if format.first_format and not log.count:
        order = replace(order, source=format.first_format(Path(params["path"]), records))
    with images_of(format, params, order.options, log) as source:
        import_records(job, progress, order, records, source, log)


def import_items(
    *, name: str, records: list[ItemRecord], images, source: str, by: str,
    created_by=None, options: Options = Options(), tell: Callable | None = None,
) -> Benchmark:  # fmt: skip
    """Import records that are in memory, now. `images` is a workers.archives.Source, or anything with `names` and
    `stream(wanted)` that yields (name, bytes), or None; `source` names what made them.

    Raises Refused with every problem. The job that it leaves behind holds the report.
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
    """The benchmark of an import that is over; Refused where it failed."""
    if job.state != JobState.DONE:
        raise Refused([Problem(**problem) for problem in job.problems], job.problem_count)
    return Benchmark.objects.get(pk=job.report["benchmark"])


def _counted(records: Iterable[ItemRecord], progress: jobs.Progress) -> Iterator[ItemRecord]:
    for record in records:
        progress.step()
        yield record


@contextmanager
def images_of(format: Format, params: dict, options: Options, log: ProblemLog) -> Iterator[Source | None]:
    """Where the images are: in the file itself, of formats that hold theirs; else where the user says. None where none
    are given or their archive cannot be opened (the log then says why)."""
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
    job: Job, progress: jobs.Progress, order: Order, records: list[ItemRecord], source: Source | None, log: ProblemLog
) -> None:
    """From checked records to a finished job. Raises Refused, Cancelled; nothing of the import is left then."""
    started = time.monotonic()
    if order.options.new_candidates:
        candidate_rounds.check_known_items(order.benchmark_name, records, log)
        records = candidate_rounds.candidates_only(records)
    else:
        records = without_absent_positives(records, source, log)
        imports_store.check_against_stored(order.benchmark_name, records, log)
    check_images_given(records, source, log)
    log.refuse_if_any()
    staging.sweep_staging()
    staged = staging.Staging(job.pk)
    staged.clear()  # of an earlier process; the sweep leaves it, since this one holds the job's lock
    try:
        with staging.images_stay():
            gathered = import_images.gather(source=source, records=records, staging=staged, progress=progress, log=log)
            log.refuse_if_any()
            progress.begin("storing")
            store(job, order, records, source, gathered, staged, log, started)
    finally:
        staged.clear()


def prepared(records: Iterable[ItemRecord], options: Options) -> list[ItemRecord]:
    """What is then checked and stored: formatting may make two captions equal."""
    if options.text_only:
        records = map(without_images, records)
    return format_records(records) if options.format_captions else list(records)


def without_absent_positives(records: list[ItemRecord], source: Source | None, log: ProblemLog) -> list[ItemRecord]:
    """Generated candidates are often shared without the photographs that they go with.

    Where what is missing is every positive image and nothing else, the items go in without them; the report says so.
    """
    named = [image for _, image in import_images.image_uses(records)]
    positives = {image.part[0] for image in named if image.role == "positive"}
    others = {image.part[0] for image in named} - positives
    if source is None or not positives or not others or set(source.missing(positives | others)) != positives:
        return records
    advice = f"None of the {len(positives):,} positive images is in {source.title}; the items have none."
    log.note("POSITIVE_IMAGES_ABSENT", imports_store.file_names(records), None, "positive image", advice)
    return [replace(r, images=tuple(image for image in r.images if image.role != "positive")) for r in records]


def check_images_given(records: list[ItemRecord], source: Source | None, log: ProblemLog) -> None:
    """Every image that a row names must be in the source; a row each."""
    named = list(import_images.image_uses(records))
    if source is None:
        if named and not log.count:
            advice = f"The rows name {len(named):,} images. Give their folder or archive, or import the text alone."
            log.error("NO_IMAGES", imports_store.file_names(records), None, "", advice)
        return
    missing = set(source.missing(image.part[0] for _, image in named))
    for origin, image in named:
        if image.part[0] in missing:
            advice = f"“{image.name}” is not among the {len(source.names):,} files of {source.title}. Add it there."
            log.error("MISSING_IMAGE", origin.file, origin.row, f"{image.role} image", advice)


def store(
    job: Job, order: Order, records: list[ItemRecord], source: Source | None, gathered: import_images.Gathered,
    staged: staging.Staging, log: ProblemLog, started: float,
) -> None:  # fmt: skip
    """The one transaction: rows, files to their places, event, report, job done. After it, the listeners.

    Whoever creates a study locks the benchmark's row too: the study either has the new items, or is there for the
    listeners.
    """
    with transaction.atomic():
        staging.serial()
        write = write_candidates if order.options.new_candidates else write_items
        benchmark, stored, facts = write(job, order, records, gathered, log)
        staged.place(stored)
        report = report_of(records, source, gathered, stored=len(stored), log=log)
        report |= {"benchmark": benchmark.pk, "seconds": round(time.monotonic() - started, 1), **facts}
        jobs.finish_job(job=job, by=order.by, report=report)
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    listeners.notify(benchmark)


Written = tuple[Benchmark, list[Image], dict]  # the images whose files are to move, and what the report says


def write_items(
    job: Job, order: Order, records: list[ItemRecord], gathered: import_images.Gathered, log: ProblemLog
) -> Written:
    imports_store.check_against_stored(order.benchmark_name, records, log)  # again: another import may have been faster
    log.refuse_if_any()
    defaults = {"source": order.source, "created_by_id": order.created_by_id}
    benchmark, new = Benchmark.objects.get_or_create(name=order.benchmark_name, defaults=defaults)
    stored = imports_store.store_images(gathered)
    imports_store.store_items(benchmark, records, gathered)
    audit.record(by=order.by, verb="imported", subject=benchmark, job=job.pk, items=len(records))
    return benchmark, stored, {"new": new, "source": order.source}


def write_candidates(
    job: Job, order: Order, records: list[ItemRecord], gathered: import_images.Gathered, log: ProblemLog
) -> Written:
    benchmark = Benchmark.objects.get(name=order.benchmark_name)
    candidate_rounds.check_new(benchmark, records, gathered, log)
    log.refuse_if_any()
    stored = imports_store.store_images(gathered)
    count = candidate_rounds.store(benchmark, records, gathered)
    facts = {"items": len(records), "images": count}
    audit.record(by=order.by, verb="imported new candidates", subject=benchmark, job=job.pk, **facts)
    return benchmark, stored, {"new": False, "new_candidates": count}


def report_of(
    records: list[ItemRecord], source: Source | None, gathered: import_images.Gathered, *, stored: int, log: ProblemLog
) -> dict:
    """A JSON-able dict. `images`: what rows name (a file, a crop of one) = stored now + met before + same as another.

    `files`: files of the source = used + unused + system files.
    """
    names = len(gathered.sha256)
    same = len(gathered.same)
    known = gathered.known + len(gathered.new) - stored  # these were stored by another import meanwhile
    for part, other in gathered.same:
        advice = f"The same bytes as {import_images.part_name(other)}; stored once."
        log.note("SAME_CONTENT", import_images.part_name(part), None, "", advice)
    return {
        "items": len(records),
        "left_out": log.left_out,  # rows that lacked a part
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
