"""The required columns of a parquet file, and problems with others. Pure."""

from collections.abc import Collection, Mapping

import pyarrow as pa

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import missing_column, note_extra_columns
from workers import limits

TEXT = {pa.string(), pa.large_string(), pa.string_view()}
BYTES = {pa.binary(), pa.large_binary()}
NUMBERS = {pa.bool_(), pa.float32(), pa.float64()}
NUMBERS |= {pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()}
EXTENSION = b"ARROW:extension:name"
IMAGE = "struct<bytes: binary, path: string>"
LONGEST = 100  # characters of a type in a message


def expected(part: str | None) -> str:
    """Return the content required of a column, by its part (base.SPLIT); None for a column unknown to the format."""
    if part is None or part.startswith("meta:"):
        return "text, true and false, or numbers"
    return IMAGE if part.startswith("image:") else "string"


def _fits(field: pa.Field, part: str | None) -> bool:
    if _is_extension(field):
        return False
    if part is None or part.startswith("meta:"):
        return field.type in TEXT | NUMBERS
    return _is_image(field.type) if part.startswith("image:") else field.type in TEXT


def _is_extension(field: pa.Field) -> bool:
    """Return whether the type contains an extension type, whose meaning would depend on code outside the file."""
    known = isinstance(field.type, pa.BaseExtensionType) or EXTENSION in (field.metadata or {})
    return known or any(_is_extension(field.type.field(place)) for place in range(field.type.num_fields))


def _is_image(kind: pa.DataType) -> bool:
    if not pa.types.is_struct(kind) or {field.name for field in kind} != {"bytes", "path"} or kind.num_fields != 2:
        return False
    return kind.field("bytes").type in BYTES and kind.field("path").type in TEXT


def check_schema(
    schema: pa.Schema, split: Mapping[str, str], optional: Collection[str], file: str, log: ProblemLog
) -> bool:
    """Return whether the file has the split's columns with the right types. Logs SCHEMA and COLUMN_MISSING per column,
    and notes further columns."""
    before, names = log.count, schema.names
    if len(names) > limits.MAX_PARQUET_COLUMNS:
        log.error("SCHEMA", file, None, "", f"Use at most {limits.MAX_PARQUET_COLUMNS:,} columns.")
        return False
    for name in split:
        if name not in names and name not in optional:
            missing_column(name, [other for other in names if other not in split], file, None, log)
    for place, field in enumerate(schema):
        _check_field(field, names[:place], split.get(field.name), file, log)
    note_extra_columns([name for name in names if name not in split], file, log)
    return log.count == before


def _check_field(field: pa.Field, earlier: list[str], part: str | None, file: str, log: ProblemLog) -> None:
    column = _shown(field.name) or f"column {len(earlier) + 1}"
    if not field.name.strip() or field.name != _shown(field.name):
        log.error("COLUMN_MISSING", file, None, column, "Give the column a plain name, or remove it.")
    elif field.name in earlier:
        log.error("COLUMN_MISSING", file, None, column, "Two columns have this name; rename or remove one.")
    elif not _fits(field, part):
        found = f"the extension type {field.type!s}" if _is_extension(field) else str(field.type)
        advice = f"Expected {expected(part)}, found {_shown(found)[:LONGEST]}. Write that type; nothing is converted."
        log.error("SCHEMA", file, None, column, advice)


def _shown(name: str) -> str:
    """Return the name in a form that can be stored and shown."""
    return name[:200].encode("utf-8", "backslashreplace").decode().replace("\0", "")
