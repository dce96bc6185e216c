"""Check that each table has the columns and keys of the release's schema version, with suitable values, and that tables
fit each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.exports import item_parts
from annotation.exports.columns import TABLES, TASK_KEY, Column, Table
from annotation.exports.files import EXTENSIONS, are_videos, parquet_schema, split_schema
from annotation.releases.schema import JUDGMENTS, MANIFEST, OF_MANIFEST, OF_STAGES
from annotation.releases.verification.forms import is_image
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report
from benchmarks.records import VIDEOS

IN_JSON: Mapping[str, type | tuple[type, ...]] = {  # by kind of column
    "text": str, "time": str, "integer": int, "long": int, "number": (int, float), "boolean": bool, "texts": list,
    "integers": list, "objects": list, "object": dict,
}  # fmt: skip
EMBEDDED = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
key_of = itemgetter(*TASK_KEY)
Media = Mapping[str, frozenset[bool]]
PLAIN = (pa.string(), pa.int64(), pa.float64(), pa.bool_())


def check_schemas(place: Place, report: Report) -> None:
    media: Media = {}
    with report.reading(TABLES["items"].file):
        media = _media(place)
    for name in place.below("data"):
        with report.reading(name):
            _check_shard(place, name, media, report)
    with report.reading(JUDGMENTS):
        _check_judgments(place, report)
    with report.reading(MANIFEST):
        _check_manifest(place, report)
    for table in TABLES.values():
        if table.file != JUDGMENTS:
            with report.reading(table.file):
                _check_lines(place, table, report)


def _media(place: Place) -> Media:
    """For each column with images, return `are_videos` for all splits; nothing if no image is a video."""
    if not any(line["format"] in VIDEOS for line in place.lines(TABLES["images"].file)):
        return {}
    found: dict[str, set[str]] = {column: set() for column, part in place.manifest["columns"].items() if is_image(part)}
    for line in place.lines(TABLES["items"].file):
        parts = item_parts.parts_of(line)
        for column, names in found.items():
            if image := item_parts.part_of(parts, place.manifest["columns"][column]):
                names.add(f".{EXTENSIONS.get(image['format'])}")
    return {column: are_videos(names) for column, names in found.items()}


def _check_shard(place: Place, name: str, media: Media, report: Report) -> None:
    """Check images, words, and fields of meta of any plain kind."""
    schema, columns = pq.read_schema(place.folder / name), place.manifest["columns"]
    report.count("schemas of tables")
    if sorted(schema.names) != sorted(columns):
        report.problem(name, f"it has the columns {', '.join(schema.names)}; the manifest says {', '.join(columns)}")
        return
    for column, part in columns.items():
        kind = schema.field(column).type
        fitting = kind == EMBEDDED if is_image(part) else kind in (PLAIN if part.startswith("meta:") else PLAIN[:1])
        if not fitting:
            report.problem(name, f"its column {column} is {kind}, which is not valid for {part}")
    wanted = split_schema([(field.name, field.type) for field in schema], media).metadata
    _check_metadata(name, schema, wanted, report)


def _check_metadata(name: str, schema: pa.Schema, wanted: Mapping | None, report: Report) -> None:
    """Check a parquet file's metadata: what the `datasets` library reads, and nothing else."""
    if (schema.metadata or {}) != (wanted or {}) or any(field.metadata for field in schema):
        report.problem(name, "its metadata does not match its columns")


def _check_judgments(place: Place, report: Report) -> None:
    name, known = JUDGMENTS, {field.name: field.type for field in parquet_schema(TABLES["judgments"].columns)}
    schema = pq.read_schema(place.folder / name)
    report.count("schemas of tables")
    found = {field.name: field.type for field in schema}
    for column in sorted({*found, *known}):
        if found.get(column) != known.get(column):
            report.problem(
                name, f"its column {column} is {found.get(column, 'missing')}, not {known.get(column, 'known')}"
            )
            return
    _check_metadata(name, schema, None, report)


def _check_manifest(place: Place, report: Report) -> None:
    manifest = place.manifest
    report.count("keys of the manifest", len(manifest))
    for words in _odd_keys(manifest, OF_MANIFEST):
        report.problem(MANIFEST, f"it {words}")
    for stage in manifest["stages"]:
        for words in _odd_keys(stage, OF_STAGES):
            report.problem(MANIFEST, f"the stage {stage.get('name')!r:.60} {words}")


def _check_lines(place: Place, table: Table, report: Report) -> None:
    name, hidden = table.file, table.hidden(place.public)
    fine: set[tuple] = set()  # keys and types of valid lines
    for number, line in enumerate(place.lines(name), 1):
        report.count("lines of JSON by their keys")
        shape = *line, *map(type, line.values())
        odd = [] if shape in fine else list(_odd_keys(line, table.columns))
        for words in odd:
            report.problem(name, f"line {number} {words}")
        if not odd:
            fine.add(shape)
        for key in hidden if not odd else ():
            if line[key] is not None:
                report.problem(name, f"line {number}: {key} is not public and has a value")


def _odd_keys(found: Mapping, columns: Sequence[Column]) -> Iterator[str]:
    """Yield what is wrong with its keys and their values."""
    if odd := other_keys(found, columns):
        yield f"has other keys than it should: {', '.join(odd)}"
        return
    for column in columns:
        if column.name in found and not fits(found[column.name], column):
            yield f"has {column.name} {found[column.name]!r:.60}, not of kind {column.kind}"


def other_keys(found: Mapping, columns: Sequence[Column]) -> list[str]:
    """Return the superfluous and the missing keys."""
    wanted = {column.name for column in columns if column.name in found or not column.may_be_missing}
    return sorted(found.keys() ^ wanted)


def fits(value: object, column: Column) -> bool:
    """Return whether a value of a JSON object is of the column's kind."""
    if value is None:
        return column.may_be_null
    if isinstance(value, bool):
        return column.kind == "boolean"
    return isinstance(value, IN_JSON[column.kind])
