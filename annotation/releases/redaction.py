"""The public part of an export: its tables, its figures and its manifest, reduced. Pure.

The minimum leaves out times, single annotators' results, free comments and right answers of checks; each of
releases.plan.PUBLIC adds its part. A column or key stays even if its values do not: it is null, so that all
releases have the same tables. The public figures can be computed again from the other public files
(verification/).

Tables are read a row at a time, and judgments in batches: a million rows need a few dozen MB. Without times nobody
could tell which of a task's judgments came first, but ties and edits depend on that. So a separate column has only
this: `given`, the place of a judgment among those of its task.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annotation.exports.columns import FILES_OF_ITEMS, SEATS, TABLES, TASK_KEY, hidden
from annotation.exports.files import ParquetFile, as_line, parquet_schema, write_json, write_lines
from annotation.releases.export_reader import DATA, ExportReader

TIMES, COMMENTS, GOLD = "times", "comments", "gold"
OF_IMAGE = ("format", "width", "height")
LISTED_OF_IMAGE = ("source_name", "licence", "attribution")  # an image may have several values of each

Passed = Mapping[tuple[int, str], Mapping]  # by annotator and stage: the comprehension questions and the practice

BATCH = 10_000  # judgments in memory
COPIED = ("tasks", "texts", "adjudications", "flags", "corrections")  # as in the export, except for hidden columns
REASON = "reason"  # free text, which an answer that is more than a pick may also have
CONTENT = b'"content": {"'  # an answer that is more than a pick, in a line of JSON
GIVEN = "given"
JUDGMENTS = TABLES["judgments"].file

# Everything that depends on when judgments were given or how long they took, including the order of an annotator's
# screens.
TIMED_STAGE = {"pace", "cost", "series"}
TIMED_SEAT = {"median_seconds", "active_minutes", "paid"}
TIMED_PAGE = {"median_seconds", "bands", "times"}
TIMED_ROW = {
    "active_minutes", "per_hour", "paid", "median_seconds", "log_time", "quick", "quick_share", "bands", "runs", "away",
}  # fmt: skip
TIMED_SIGNS = {"fast", "far", "runs"}
GOLD_ROW, GOLD_SIGNS = {"checks"}, {"checks"}


def write_tables(
    export: ExportReader, folder: Path, public: Collection[str], splits: Mapping[str, str]
) -> dict[str, int]:
    """Write the tables and figures.json; return rows by table. `splits` has those of the kept items, in order."""
    quiet = COMMENTS not in public
    passed = _write_figures(export, folder, public)
    large = {
        **{name: _lines(export, name, quiet) for name in FILES_OF_ITEMS.values()},
        **{f"{name}.jsonl": _lines(export, f"{name}.jsonl", quiet) for name in COPIED},
    }
    large["items.jsonl"] = _with_splits(large["items.jsonl"], splits.values())
    rows = {name: _write(folder / name, _without(found, _hidden(name, public))) for name, found in large.items()}
    small = {"annotators.jsonl": _annotators(export, passed, public), "images.jsonl": images(export)}
    rows |= {name: write_lines(folder / name, found) for name, found in small.items()}
    rows[JUDGMENTS] = _write_judgments(export, folder / JUDGMENTS, public)
    return rows


def _write(path: Path, lines: Iterable[bytes]) -> int:
    """Write the lines and return their number."""
    with path.open("wb") as file:
        return sum(file.write(line) > 0 for line in lines)


def _hidden(file: str, public: Collection[str]) -> list[str]:
    """Return the columns of a table that have no values."""
    return next(table for table in TABLES.values() if table.file == file).hidden(public)


# Most lines of these tables are copied unchanged from the export.


def _lines(export: ExportReader, name: str, quiet: bool) -> Iterator[bytes]:
    for line in export.raw_lines(name):
        yield as_line(_uncommented(json.loads(line))) if quiet and CONTENT in line else line


def _with_splits(lines: Iterable[bytes], splits: Iterable[str]) -> Iterator[bytes]:
    for line, split in zip(lines, splits, strict=True):
        yield b'%s, "split": "%s"}\n' % (line[: -len("}\n")], split.encode())


def _without(lines: Iterable[bytes], names: Collection[str]) -> Iterator[bytes]:
    """Yield lines with null for these names. Nearly all of a million tasks have an empty list there, which is replaced
    without parsing the line: inside a text, quotation marks are escaped.
    """
    for line in lines:
        for name in names:
            empty, null = (b'"%s": %s' % (name.encode(), value) for value in (b"[]", b"null"))
            line = line.replace(empty, null) if empty in line else as_line(json.loads(line) | {name: None})
        yield line


def _uncommented(line: Mapping) -> dict:
    """Return a line without the reasons written with its answers and decisions."""
    found = dict(line)
    if "content" in line:
        found["content"] = _without_reason(line["content"])
    if "decisions" in line:
        found["decisions"] = [_uncommented(one) for one in line["decisions"]]
    return found


def _annotators(export: ExportReader, passed: Passed, public: Collection[str]) -> Iterator[dict]:
    """Yield annotators by pseudonym, with who was excluded and why. Their results in a stage are personal."""
    of_line, of_seat = (dict.fromkeys(hidden(one, public)) for one in (TABLES["annotators"].columns, SEATS))
    for line in export.lines("annotators.jsonl"):
        number = int(line["annotator"].removeprefix("A-"))
        seats = ({**seat, "passed": passed.get((number, seat["stage"]), {})} for seat in line["stages"])
        yield {**line, **of_line, "stages": [seat | of_seat for seat in seats]}


def images(export: ExportReader) -> Iterator[dict]:
    """Yield every image in the data, once for each content, sorted by hash.

    If it has several names or licences, they are listed one after the other.
    """
    names = _embedded(export)
    found: dict[str, dict] = {}
    listed: dict[str, dict[str, dict[str, None]]] = {}  # by hash and column, each a set in order of appearance
    for line in export.lines("items.jsonl"):
        for image in line["images"]:
            content = image["sha256"]
            if content in names:
                found.setdefault(content, {name: image[name] for name in OF_IMAGE})
                for name, values in listed.setdefault(content, {name: {} for name in LISTED_OF_IMAGE}).items():
                    values.setdefault(image[name])
    for content in sorted(found):
        joined = {name: "; ".join(filter(None, values)) for name, values in listed[content].items()}
        yield {"sha256": content, "file_names": sorted(names[content]), **found[content], **joined}


def _embedded(export: ExportReader) -> dict[str, set[str]]:
    """Return the names of images in the split by hash, without reading their bytes."""
    found: dict[str, set[str]] = {}
    columns = [f"{field.name}.path" for field in export.schema(DATA) if pa.types.is_struct(field.type)]
    for batch in export.batches(DATA, 1000, columns) if columns else ():
        for column in batch.columns:
            for path in column.field("path").drop_null().to_pylist():
                found.setdefault(path.partition(".")[0], set()).add(path)
    return found


def settings(manifest: Mapping, public: Collection[str]) -> dict:
    """Return the public part of the export's manifest, without its files and what the release states in its own way."""
    found = {name: part for name, part in manifest.items() if name not in ("files", "evaluation_kind")}
    if GOLD not in public:
        found["stages"] = [{**stage, "comprehension": _without_answers(stage)} for stage in manifest["stages"]]
    if TIMES not in public:
        last = manifest["last_judgment_at"]
        found["study"] = without_pay(manifest["study"])
        found["last_judgment_at"] = last and last[: len("2026-03-02")]
    return found


def _without_answers(stage: Mapping) -> list[dict]:
    """Return the comprehension questions without their answers."""
    return [{"question": one["question"], "options": one["options"], "answer": None} for one in stage["comprehension"]]


# Judgments


def _write_judgments(export: ExportReader, target: Path, public: Collection[str]) -> int:
    """Write the judgments and return the number of rows."""
    hidden, schema = TABLES["judgments"].hidden(public), parquet_schema(TABLES["judgments"].columns)
    given, file, done = _order(export), ParquetFile(target, schema), 0
    for batch in export.batches(JUDGMENTS, BATCH):
        columns = {
            column.name: pa.nulls(len(batch), column.type) if column.name in hidden else batch.column(column.name)
            for column in schema
            if column.name != GIVEN
        }
        if REASON in hidden:
            columns["content"] = _column_without_reason(columns["content"])
        columns[GIVEN] = pa.array(given[done : done + len(batch)], pa.int32())
        file.file.write_table(pa.table(columns, schema=schema))
        done += len(batch)
    file.close()
    return done


def _without_reason(content: Mapping | None) -> Mapping | None:
    """Return an answer's content without the reason written beside it."""
    return {**content, REASON: None} if content and REASON in content else content


def _column_without_reason(column: pa.Array) -> pa.Array:
    """Remove the reasons in a column of JSON."""
    texts = (
        text and json.dumps(_without_reason(json.loads(text)), ensure_ascii=False, sort_keys=True)
        for text in column.to_pylist()
    )
    return pa.array(texts, column.type)


def _order(export: ExportReader) -> np.ndarray:
    """Return each row's place among those of its task, from 1, by time. A task's rows are together."""
    task, at, slot = _keys(export)
    found = np.empty(len(task), dtype=np.int32)
    ordered = np.lexsort((slot, at, task))
    begins = np.searchsorted(task, task)  # tasks ascend
    found[ordered] = np.arange(len(task)) - begins + 1
    return found


def _keys(export: ExportReader) -> list[np.ndarray]:
    """Return, for each row, its task's number, when it was given (in microseconds), and its slot."""
    parts, before, last = [], None, 0
    for batch in export.batches(JUDGMENTS, BATCH, [*TASK_KEY, "created_at", "slot"]):
        words = [pc.cast(batch.column(name), pa.string()) for name in TASK_KEY]
        keys = pc.binary_join_element_wise(*words, "\x1f")
        new = np.ones(len(batch), dtype=np.int32)
        new[1:] = pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
        new[:1] = keys[0].as_py() != before
        task = np.cumsum(new) + last
        before, last = keys[-1].as_py(), int(task[-1])
        at = batch.column("created_at").cast(pa.int64())
        parts.append((task, at.to_numpy(), batch.column("slot").to_numpy()))
    columns = zip(*parts, strict=True) if parts else ([], [], [])
    return [np.concatenate(column) if column else np.empty(0, dtype=np.int64) for column in columns]


# Figures: those that depend on hidden data are left out


def _write_figures(export: ExportReader, folder: Path, public: Collection[str]) -> Passed:
    """Return each annotator's results in each stage. The figures are not kept, because their pairs take much memory."""
    figures = export.json("figures.json")
    write_json(folder / "figures.json", _public_figures(figures, public))
    stages = figures["annotators"]["stages"]
    return {(row["number"], stage["name"]): row["passed"] for stage in stages for row in stage["rows"]}


def _public_figures(figures: Mapping, public: Collection[str]) -> dict:
    people = "annotators" in public
    found = {
        "funnel": figures["funnel"],
        "stages": [public_stage(stage, public) for stage in figures["stages"]],
        "baselines": figures["baselines"]
        if people
        else [without_keys(one, {"annotators"}) for one in figures["baselines"]],
    }
    return found | ({"annotators": public_annotators(figures["annotators"], public)} if people else {})


def without_pay(study: Mapping) -> dict:
    return {**without_keys(study, ["earlier_pay"]), "pay_per_hour": None}


def without_keys(part: Mapping, names: Collection[str]) -> dict:
    return {name: value for name, value in part.items() if name not in names}


def public_stage(stage: Mapping, public: Collection[str]) -> dict:
    times = "times" in public
    found = without_keys(stage, () if times else TIMED_STAGE)
    if not times:
        found["study"] = without_pay(stage["study"])
    if GOLD not in public and found.get("audit", {}).get("corrected", {}).get("gold"):
        found["audit"] = without_keys(found["audit"], {"corrected"})  # it reveals the right answers of checks
    if "annotators" in public:
        return found | {"annotators": [_seat(row, times) for row in stage["annotators"]]}
    found["agreement"] = [without_keys(view, {"kappa_pairs"}) for view in stage["agreement"]]
    if "paper" in found:
        found["paper"] = without_keys(found["paper"], {"annotators"})
    return without_keys(found, {"annotators"})


def _seat(row: Mapping, times: bool) -> dict:
    """Return an annotator on a stage's page, with the signs only as words."""
    if times:
        return dict(row)
    return without_keys(row, TIMED_SEAT) | {"signs": [sign for sign in row["signs"] if sign not in TIMED_SIGNS]}


def public_annotators(figures: Mapping, public: Collection[str]) -> dict:
    """Return the public figures of annotators."""
    times = "times" in public
    found = {
        "stages": [
            without_keys(stage, () if times else TIMED_PAGE) | {"rows": [_row(row, public) for row in stage["rows"]]}
            for stage in figures["stages"]
        ],
        "whole": [_row(row, public) for row in figures["whole"]],
    }
    return found | ({"speed": figures["speed"]} if times else {})


def _row(row: Mapping, public: Collection[str]) -> dict:
    fields, signs = set(), set()
    for part, of_row, of_signs in (("times", TIMED_ROW, TIMED_SIGNS), ("gold", GOLD_ROW, GOLD_SIGNS)):
        if part not in public:
            fields |= of_row
            signs |= of_signs
    return without_keys(row, fields) | {"signs": [sign for sign in row["signs"] if sign["kind"] not in signs]}
