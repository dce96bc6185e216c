"""That each table has its columns and keys, and in them what belongs there; that tables fit each other."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from annotation.releases.verification.forms import is_image
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report
from annotation.releases.verification.spec import HIDDEN, HIDDEN_COLUMNS, JUDGMENTS, TABLES, fits

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
PLAIN = (pa.string(), pa.int64(), pa.float64(), pa.bool_())


def check_schemas(place: Place, report: Report) -> None:
    for name in place.below("data"):
        with report.reading(name):
            _check_shard(place, name, report)
    with report.reading("judgments.parquet"):
        _check_judgments(place, report)
    for name, keys in TABLES.items():
        with report.reading(name):
            _check_lines(place, name, keys, report)


def _check_shard(place: Place, name: str, report: Report) -> None:
    """Images, words, and fields of meta of any plain kind."""
    schema, columns = pq.read_schema(place.folder / name), place.manifest["columns"]
    report.count("schemas of tables")
    if sorted(schema.names) != sorted(columns):
        report.problem(name, f"it has the columns {', '.join(schema.names)}; the manifest says {', '.join(columns)}")
        return
    for column, part in columns.items():
        kind = schema.field(column).type
        fits = kind == IMAGE if is_image(part) else kind in (PLAIN if part.startswith("meta:") else PLAIN[:1])
        if not fits:
            report.problem(name, f"its column {column} is {kind}, as {part} it cannot be")


def _check_judgments(place: Place, report: Report) -> None:
    name = "judgments.parquet"
    schema = pq.read_schema(place.folder / name)
    report.count("schemas of tables")
    found = {field.name: str(field.type) for field in schema}
    for column in sorted({*found, *JUDGMENTS}):
        if found.get(column) != JUDGMENTS.get(column):
            report.problem(
                name, f"its column {column} is {found.get(column, 'missing')}, not {JUDGMENTS.get(column, 'known')}"
            )
            return
    hidden = [column for part, columns in HIDDEN_COLUMNS.items() if part not in place.public for column in columns]
    tasks = {key_of(line) for line in place.lines("tasks.jsonl")}
    people = {line["annotator"] for line in place.lines("annotators.jsonl")}
    keys = ["stage", "item", "question", "round", "kind"]
    for batch in place.judgments([*keys, "annotator", *hidden]):
        report.count("judgments with their tasks and annotators", len(batch))
        asked = set(zip(*(batch.column(key).to_pylist() for key in keys), strict=True))
        for one in sorted(asked - tasks, key=str):
            report.problem(name, f"a judgment is of a task that tasks.jsonl has not: {one}")
        for who in sorted(set(pc.unique(batch.column("annotator")).to_pylist()) - people, key=str):
            report.problem(name, f"a judgment is of {who!r}, whom annotators.jsonl has not")
        for column in hidden:
            if batch.column(column).null_count < len(batch):
                report.problem(name, f"its column {column} is not public and has values")


def key_of(line: dict) -> tuple:
    return tuple(line[name] for name in ("stage", "item", "question", "round", "kind"))


def _check_lines(place: Place, name: str, keys: dict[str, str], report: Report) -> None:
    hidden = [key for part, tables in HIDDEN.items() if part not in place.public for key in tables.get(name, ())]
    for number, line in enumerate(place.lines(name), 1):
        report.count("lines of JSON by their keys")
        if line.keys() != keys.keys():
            odd = ", ".join(sorted(line.keys() ^ keys.keys()))
            report.problem(name, f"line {number} has other keys than it should: {odd}")
            continue
        for key, kind in keys.items():
            if not fits(line[key], kind):
                report.problem(name, f"line {number}: {key} is {line[key]!r:.60}, which is no {kind.removesuffix('?')}")
        for key in hidden:
            if line[key] is not None:
                report.problem(name, f"line {number}: {key} is not public and has a value")
