"""What an import of one's own file needs to know before it reads the rows: the columns, and which is what."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.formats import recognition
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own.format import proposed
from benchmarks.formats.own.mapping import (
    Choice,
    ColumnMapping,
    NotAMapping,
    Row,
    as_text,
    cell,
    choices,
    items,
    members,
    missing,
    read_mapping,
)
from benchmarks.formats.own.rows import is_several
from benchmarks.formats.registry import FORMATS
from benchmarks.imports.order import Files, Order
from benchmarks.models import Benchmark
from benchmarks.records import ItemRecord, Origin
from workers.archives.archive import ArchiveRefused, open_archive

ROWS, ITEMS, EXAMPLES = 8, 3, 3  # kept of the first rows; shown as items; values of a column
LONGEST = 120  # characters of a value that is shown
WHATS = {
    "": "further information", "text": "text", "image": "image", "id": "id", "type": "type", "subtype": "subtype",
    "together": "id of several rows",
}  # fmt: skip
ROLES = ("positive", "negative", "second_positive", "candidate", "caption", "question", "option", "prompt", "picture")
UNKNOWN = "No column is recognised as a caption or an image. Say which is which in a mapping (--mapping)."


def understood(order: Order, files: Files, log: ProblemLog) -> Order:
    """The order with a mapping: the given one, the benchmark's, or else the likely one; and with what the file has in
    its report. Raises Refused if the file cannot be read, has other columns, or none that is recognised."""
    likely, names, sample = proposed(files.path, log, _image_names(files))
    if not sample:
        log.refuse_if_any()
    given = order.options.mapping or _of_benchmark(order.benchmark_name)
    mapping = read_mapping(given) if given else likely
    report: dict[str, Any] = {
        "file": files.path.name,
        "columns": [{"name": name, "examples": _examples(name, sample)} for name in names],
        "mapping": mapping.as_json(),
        "rows": [*_kept(sample)],
    }
    if order.options.look:
        known = recognition.recognised(files.path, [one for one in FORMATS.values() if one.shape])
        report |= {"look": True, "known": [{"name": one.name, "title": one.title} for one in known]}
        return replace(order, report={**order.report, **report})
    if not (mapping.texts or mapping.images):
        log.error("COLUMN_MISSING", files.path.name, None, "", f"{UNKNOWN} The columns are: {', '.join(names[:20])}.")
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
    place = files.images or (files.path if is_several(files.path) else None)
    if place is None:
        return ()
    try:
        with open_archive(place) as source:
            return source.names
    except ArchiveRefused:  # the import says so
        return ()


def _examples(name: str, rows: Sequence[Row]) -> list[str]:
    values = (member for row in rows for member in members(cell(row, name)))
    return [_short(value) for value in list(dict.fromkeys(map(as_text, values)))[:EXAMPLES]]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _kept(sample: Sequence[Row]) -> Iterator[Row]:
    """The first rows as far as they are small enough for a report."""
    room = 100_000
    for row in sample[:ROWS]:
        room -= len(json.dumps(row))
        if room < 0:
            return
        yield row


def first_items(report: dict, mapping: ColumnMapping) -> list[ItemRecord]:
    """What the mapping makes of the rows in a job's report. Raises NotAMapping where it names no column of theirs."""
    rows: list[Row] = report["rows"]
    names = [*(column["name"] for column in report["columns"]), *(name for row in rows for name in row)]
    for column, advice in missing(mapping, names).items():
        raise NotAMapping(f"There is no column “{column}”. {advice}")
    numbered = ((Origin(report["file"], number), row) for number, row in enumerate(rows, 1))
    return list(items(numbered, mapping, ProblemLog()))[:ITEMS]


def columns_page(report: dict) -> dict:
    """For the template of a job that has looked at a file: its columns with what they probably are, and first items."""
    mapping = ColumnMapping.from_json(report["mapping"]) if len(report["mapping"]) > 1 else ColumnMapping()
    names = [one["name"] for one in report["columns"]]
    said = choices(mapping, names) or [Choice(name) for name in names]
    rows = [{**column, "choice": choice} for column, choice in zip(report["columns"], said, strict=True)]
    return {"columns": rows, "whats": WHATS, "roles": ROLES, "items": first_items(report, mapping)}
