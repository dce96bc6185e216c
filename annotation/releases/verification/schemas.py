"""That each table has the columns and keys of the release's schema version, and in them what belongs there; that tables
fit each other.
"""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from annotation.exports.files import split_schema
from annotation.measures.types import Array
from annotation.releases.schema import JUDGMENTS, KEYS, MANIFEST, OPTIONAL, STAGES
from annotation.releases.verification.forms import is_image
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report

KINDS: Mapping[str, type | tuple[type, ...]] = {
    "text": str, "int": int, "number": (int, float), "bool": bool, "list": list, "object": dict,
}  # fmt: skip


# What has no values where that part is not public.
HIDDEN_COLUMNS = {"times": ("created_at", "active_ms", "elapsed_ms"), "comments": ("reason", "flags")}
HIDDEN = {
    "times": {"texts.jsonl": ("created_at",)},
    "annotators": {"annotators.jsonl": ("left",)},
    "comments": {"adjudications.jsonl": ("note",), "flags.jsonl": ("reason",)},
    "gold": {"tasks.jsonl": ("gold",)},
}
EMBEDDED = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
TASK = ("stage", "item", "question", "round", "kind")  # in every table
key_of = itemgetter(*TASK)
PLAIN = (pa.string(), pa.int64(), pa.float64(), pa.bool_())


def check_schemas(place: Place, report: Report) -> None:
    for name in place.below("data"):
        with report.reading(name):
            _check_shard(place, name, report)
    with report.reading(JUDGMENTS):
        _check_judgments(place, report)
    with report.reading(MANIFEST):
        _check_manifest(place, report)
    for name in KEYS:
        if name.endswith(".jsonl"):
            with report.reading(name):
                _check_lines(place, name, report)


def _check_shard(place: Place, name: str, report: Report) -> None:
    """Images, words, and fields of meta of any plain kind."""
    schema, columns = pq.read_schema(place.folder / name), place.manifest["columns"]
    report.count("schemas of tables")
    if sorted(schema.names) != sorted(columns):
        report.problem(name, f"it has the columns {', '.join(schema.names)}; the manifest says {', '.join(columns)}")
        return
    for column, part in columns.items():
        kind = schema.field(column).type
        fitting = kind == EMBEDDED if is_image(part) else kind in (PLAIN if part.startswith("meta:") else PLAIN[:1])
        if not fitting:
            report.problem(name, f"its column {column} is {kind}, as {part} it cannot be")
    wanted = split_schema([(field.name, field.type) for field in schema]).metadata
    _check_metadata(name, schema, wanted, report)


def _check_metadata(name: str, schema: pa.Schema, wanted: Mapping | None, report: Report) -> None:
    """Of a parquet file: what the `datasets` library reads, and nothing else."""
    if (schema.metadata or {}) != (wanted or {}) or any(field.metadata for field in schema):
        report.problem(name, "its metadata is not what its columns give")


def _check_judgments(place: Place, report: Report) -> None:
    name, known = JUDGMENTS, KEYS[JUDGMENTS]
    schema = pq.read_schema(place.folder / name)
    report.count("schemas of tables")
    found = {field.name: str(field.type) for field in schema}
    for column in sorted({*found, *known}):
        if found.get(column) != known.get(column):
            report.problem(
                name, f"its column {column} is {found.get(column, 'missing')}, not {known.get(column, 'known')}"
            )
            return
    _check_metadata(name, schema, None, report)
    hidden = [column for part, columns in HIDDEN_COLUMNS.items() if part not in place.public for column in columns]
    tasks = {key_of(line) for line in place.lines("tasks.jsonl")}
    people = {line["annotator"] for line in place.lines("annotators.jsonl")}
    for batch in place.judgments([*TASK, "annotator", *hidden]):
        report.count("judgments with their tasks and annotators", len(batch))
        asked = {key for _, key in tasks_of(batch)}
        for one in sorted(asked - tasks, key=str):
            report.problem(name, f"a judgment is of a task that tasks.jsonl has not: {one}")
        for who in sorted(set(pc.unique(batch.column("annotator")).to_pylist()) - people, key=str):
            report.problem(name, f"a judgment is of {who!r}, whom annotators.jsonl has not")
        for column in hidden:
            if batch.column(column).null_count < len(batch):
                report.problem(name, f"its column {column} is not public and has values")


def tasks_of(batch: pa.RecordBatch) -> list[tuple[int, tuple]]:
    """Of judgments, (its first row, its key) of each task, as the batch has them. KeyError if it lacks a column."""
    begins, columns = np.arange(len(batch)) == 0, []
    for name in TASK:
        if name not in batch.schema.names:
            raise KeyError(name)
        columns.append(coded(batch.column(name)))
        code = columns[-1][1]
        begins[1:] |= code[1:] != code[:-1]
    rows = np.flatnonzero(begins)
    keys = zip(*([values[place] for place in code[rows].tolist()] for values, code in columns), strict=True)
    return list(zip(rows.tolist(), keys, strict=True))


def coded(column: pa.Array) -> tuple[list[Any], Array]:
    """The distinct values, and the position of each row's among them."""
    found = column.dictionary_encode(null_encoding="encode")
    return found.dictionary.to_pylist(), found.indices.to_numpy()


def _check_manifest(place: Place, report: Report) -> None:
    manifest = place.manifest
    report.count("keys of the manifest", len(manifest))
    for words in _odd_keys(manifest, KEYS[MANIFEST], {}):
        report.problem(MANIFEST, f"it {words}")
    for stage in manifest["stages"]:
        for words in _odd_keys(stage, KEYS[STAGES], OPTIONAL[STAGES]):
            report.problem(MANIFEST, f"the stage {stage.get('name')!r:.60} {words}")


def _check_lines(place: Place, name: str, report: Report) -> None:
    keys, optional = KEYS[name], OPTIONAL.get(name, {})
    hidden = [key for part, tables in HIDDEN.items() if part not in place.public for key in tables.get(name, ())]
    fine: set[tuple] = set()  # keys and types of lines that were
    for number, line in enumerate(place.lines(name), 1):
        report.count("lines of JSON by their keys")
        shape = *line, *map(type, line.values())
        odd = [] if shape in fine else list(_odd_keys(line, keys, optional))
        for words in odd:
            report.problem(name, f"line {number} {words}")
        if not odd:
            fine.add(shape)
        for key in hidden if not odd else ():
            if line[key] is not None:
                report.problem(name, f"line {number}: {key} is not public and has a value")


def _odd_keys(found: Mapping, keys: Mapping[str, str], optional: Mapping[str, str]) -> Iterator[str]:
    """What its keys and their values should not be; it may lack `optional` ones."""
    keys = {**keys, **{key: kind for key, kind in optional.items() if key in found}}
    if found.keys() != keys.keys():
        yield f"has other keys than it should: {', '.join(sorted(found.keys() ^ keys.keys()))}"
        return
    for key, kind in keys.items():
        if not fits(found[key], kind):
            yield f"has {key} {found[key]!r:.60}, which is no {kind.removesuffix('?')}"


def fits(value: object, kind: str) -> bool:
    """Whether a value of a JSON object is of a kind of `schema.KEYS`."""
    if value is None:
        return kind.endswith("?")
    if isinstance(value, bool):
        return kind.startswith("bool")
    return isinstance(value, KINDS[kind.removesuffix("?")])
