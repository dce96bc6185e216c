"""Preparing the import of a user's own file before its rows are read: its columns and their meanings."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace

from django.http import QueryDict

from benchmarks.formats import recognition
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own.choices import Choice, choices, chosen
from benchmarks.formats.own.format import proposed
from benchmarks.formats.own.mapping import (
    ColumnMapping,
    NotAMapping,
    Row,
    as_text,
    items,
    members,
    missing,
    read_mapping,
)
from benchmarks.formats.own.rows import is_several
from benchmarks.formats.registry import FORMATS
from benchmarks.imports.order import Files, Options, Order
from benchmarks.imports.previews import small
from benchmarks.jobs import columns
from benchmarks.jobs.orders import options_of
from benchmarks.models import Benchmark, Job
from benchmarks.records import ItemRecord
from workers.archives.archive import ArchiveRefused, Source, open_archive
from workers.images import ImageRefused, check_and_render

ITEMS, PICTURES = 3, 12  # shown of the first rows
WHATS = {
    "": "further information", "text": "text", "image": "image", "id": "id", "type": "type", "subtype": "subtype",
    "together": "id of several rows",
}  # fmt: skip
ROLES = ("positive", "negative", "second_positive", "candidate", "caption", "question", "option", "prompt", "picture")
UNKNOWN = "No column was recognised as a caption or an image. Identify them in a mapping (--mapping)."


def understood(order: Order, files: Files, log: ProblemLog) -> Order:
    """Return the order with a mapping (the given one, the benchmark's, or a guess), and the file's contents in its
    report. Raises Refused if the file cannot be read, has other columns, or none that is recognised."""
    shaped = [one for one in FORMATS.values() if one.shape]
    known = recognition.recognised(files.path, shaped) if order.options.look else []
    likely, names, sample = proposed(files.path, log, _image_names(files))
    if not (sample or known):
        log.refuse_if_any()
    given = order.options.mapping or _of_benchmark(order.benchmark_name)
    mapping = read_mapping(given) if given else likely
    report = columns.looked(files.path.name, names, sample, mapping.as_json())
    if order.options.look:
        report |= {"look": True, "known": [{"name": one.name, "title": one.title} for one in known]}
        return replace(order, report={**order.report, **report, "pictures": _pictures(files, sample)})
    if not (mapping.texts or mapping.images):
        log.error("COLUMN_MISSING", files.path.name, None, "", f"{UNKNOWN} The columns are {', '.join(names[:20])}.")
    known_names = [*names, *dict.fromkeys(name for row in sample for name in row)]
    for column, advice in missing(mapping, known_names).items():
        log.error("COLUMN_MISSING", files.path.name, None, column, f"The mapping names this column. {advice}")
    log.refuse_if_any()
    options = replace(order.options, mapping=json.dumps(mapping.as_json()))
    return replace(order, options=options, report={**order.report, **report})


def has_mapping(name: str) -> bool:
    return bool(_of_benchmark(name))


def _of_benchmark(name: str) -> str:
    found = Benchmark.objects.filter(name=name).values_list("mapping", flat=True).first()
    return json.dumps(found) if found else ""


def _image_names(files: Files) -> Sequence[str]:
    with suppress(ArchiveRefused), _images(files) as source:  # the import reports it
        return source.names if source else ()
    return ()


def _images(files: Files) -> AbstractContextManager[Source | None]:
    place = files.images or (files.path if is_several(files.path) else None)
    return open_archive(place) if place else nullcontext()


def _pictures(files: Files, sample: Sequence[Row]) -> dict[str, str]:
    """Return small copies of the images in the first rows, by name; the import reports unreadable ones."""
    cells = {as_text(one) for row in sample[:ITEMS] for value in row.values() for one in members(value)}
    found: dict[str, str] = {}
    with suppress(ArchiveRefused), _images(files) as source:
        wanted = sorted(name for name in cells if source.find(name))[:PICTURES] if source else []
        for name, data in source.stream(wanted) if source else ():
            with suppress(ImageRefused):
                found[name] = small(check_and_render(data).thumbnail)
    return found


@columns.page_of("import", "name", "format", *options_of(Options), "first_origin", "second_origin")
def _page(job: Job, sent: QueryDict | None) -> columns.Page:
    """Return the page of columns with the guess or the form's choices, and the first items."""
    report, names = job.report, [one["name"] for one in job.report["columns"]]
    mapping = ColumnMapping.from_json(report["mapping"]) if len(report["mapping"]) > 1 else ColumnMapping()
    said = columns.choices_in(sent) if sent is not None else choices(mapping, names) or [Choice(name) for name in names]
    page = columns.Page(said, WHATS, "imports/_first.html", "The first items would be", roles=ROLES, checks=True)
    try:
        first, small = first_items(job, chosen(said) if sent is not None else mapping), report.get("pictures", {})
        page.first = [
            {"key": item.key, "type": item.type, "subtype": item.subtype, "captions": item.captions, "pictures": [
                {"role": one.role, "name": one.name, "source": small.get(one.name)} for one in item.images
            ]} for item in first
        ]  # fmt: skip
    except NotAMapping as error:
        page.problems.append(str(error))
    return page


def first_items(job: Job, mapping: ColumnMapping) -> list[ItemRecord]:
    """Map the rows in a job's report to items. Raises NotAMapping if the mapping names none of their columns."""
    rows = columns.rows_of(job)
    names = [*(column["name"] for column in job.report["columns"]), *(name for _, row in rows for name in row)]
    for column, advice in missing(mapping, names).items():
        raise NotAMapping(f"There is no column “{column}”. {advice}")
    return list(items(rows, mapping, ProblemLog()))[:ITEMS]
