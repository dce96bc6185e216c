"""Input rows for construction: a CSV table, JSON Lines, or a JSON list (or object) of rows. Pure.

A field may have the name used in its paper's files. Additional fields of a row are kept with the result.
"""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.formats import jsonl, jsontext, text
from benchmarks.formats.aro import BOX, is_whole
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.table import Row, missing_column, read_table
from benchmarks.records import Crop, ImageRecord, ItemRecord, Origin

LINES = (".jsonl", ".ndjson")
ENDINGS = (".csv", ".json", *LINES)
NAMES = {  # field → its possible columns, ours first, then ARO's, SugarCrepe's and VSR's
    "image": ("image", "filename", "image_path"),
    "caption": ("caption", "true_caption"),
    "negative_caption": ("negative_caption", "false_caption"),
    "subject": ("subject", "subj", "object1"),
    "relation": ("relation", "relation_name"),
    "object": ("object", "obj", "object2"),
}


def read_rows(path: Path, log: ProblemLog) -> list[Row]:
    """Read a file's rows according to its extension, numbered by line, or by position from 1 in JSON.

    Never raises on bad input: the rows must not be used if `log.count` is above 0.
    """
    reader = _read_csv if path.suffix.lower() == ".csv" else _read_lines if path.suffix.lower() in LINES else _read_json
    rows: list[Row] = []
    try:
        rows += reader(path, log)
    except Unreadable:
        return []
    except OSError as error:
        log.error("FILE_UNREADABLE", path.name, None, "", f"Make the file readable ({error.strerror}).")
    if not rows and not log.count:
        log.error("NO_ROWS", path.name, None, "", "The file has no rows. Export it again.")
    return rows


def _read_csv(path: Path, log: ProblemLog) -> Iterator[Row]:
    return read_table(path, log, ())


def _read_lines(path: Path, log: ProblemLog) -> Iterator[Row]:
    with path.open("rb") as stream:
        for number, line in enumerate(text.lines(stream, path.name, log), 1):
            if not line.strip():
                continue
            before = log.count
            value = jsontext.parse(line, path.name, number, log)
            if log.count == before:
                yield from _sound_row(value, number, path.name, log)


def _read_json(path: Path, log: ProblemLog) -> Iterator[Row]:
    before = log.count
    with path.open("rb") as stream:
        value = jsontext.parse(text.read_whole(stream, path.name, log), path.name, None, log)
    rows = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(rows, list):
        if log.count == before:
            log.error("JSON_INVALID", path.name, 1, "", "The file must contain one list of rows: [{…}, {…}].")
        return
    for number, row in enumerate(rows, 1):
        yield from _sound_row(row, number, path.name, log)


def _sound_row(value: object, number: int, file: str, log: ProblemLog) -> Iterator[Row]:
    """Yield the row if it is an object whose text can be stored; otherwise log its problems."""
    if isinstance(value, dict):
        if jsontext.storable_throughout(value, file, number, "", log):
            yield Row(number, value)
    else:
        log.error("JSON_INVALID", file, number, "", "Each row must be one object: {…}.")


def column(row: Row, name: str) -> str | None:
    """Return the row's column for that field; None if it has none."""
    return next((one for one in NAMES.get(name, (name,)) if one in row.values), None)


def words(row: Row, name: str, file: str, log: ProblemLog, needed: bool = True) -> str:
    """Return a field's text; empty if there is none, with a problem in the log if it is required."""
    where = column(row, name)
    if where is None:
        if needed:
            missing_column(name, list(row.values), file, row.number, log)
        return ""
    value = row.values[where]
    if not isinstance(value, str):
        log.error("WRONG_VALUE", file, row.number, where, "Write this value as text, in quotes.")
        return ""
    if needed and not value.strip():
        log.error("VALUE_MISSING", file, row.number, where, "Fill the cell, or remove the row.")
    return value


def item(row: Row, file: str, log: ProblemLog, *fields: str) -> ItemRecord:
    """Make an item with the row's image and no captions yet. `fields` are the columns used for the captions."""
    image = words(row, "image", file, log, needed=False)
    taken = {column(row, name) for name in (*fields, "image", "id", "type", "subtype", *BOX)}
    return ItemRecord(
        key=words(row, "id", file, log, needed=False) or str(row.number),
        type=words(row, "type", file, log, needed=False),
        subtype=words(row, "subtype", file, log, needed=False),
        captions=(),
        images=(ImageRecord("positive", image, crop=_box(row, file, log)),) if image else (),
        meta={name: value for name, value in row.values.items() if name not in taken},
        origin=Origin(file, row.number),
    )


def _box(row: Row, file: str, log: ProblemLog) -> Crop | None:
    """Return the row's crop of the image, if it has ARO's four columns for it."""
    if not set(BOX) <= row.values.keys():
        return None
    values = [row.values[name] for name in BOX]
    numbers = [int(one) if isinstance(one, str) and one.isascii() and one.isdecimal() else one for one in values]
    if all(map(is_whole, numbers)):
        x, y, width, height = map(int, numbers)
        return x, y, width, height
    log.error("WRONG_VALUE", file, row.number, ", ".join(BOX), "Give pixels as whole numbers.")
    return None


def captioned(row: Row, file: str, log: ProblemLog) -> ItemRecord | None:
    """Turn the row into an item: an unchanged one of Winnow's manifest, or one made from image and captions.

    It has a positive caption, and a negative one if the row has one. None, with problems in the log, if that is
    impossible.
    """
    before = log.count
    if "captions" in row.values:
        return _manifest_item(row, file, log)
    texts = {"positive": words(row, "caption", file, log)}
    if negative := words(row, "negative_caption", file, log, needed=False):
        texts["negative"] = negative
    made = item(row, file, log, "caption", "negative_caption").with_captions(texts)
    return made if log.count == before else None


def _manifest_item(row: Row, file: str, log: ProblemLog) -> ItemRecord | None:
    before = log.count
    origin = Origin(file, row.number)
    jsonl.check_object(row.values, jsonl.FIELDS, "", origin, log)
    jsonl.check_lists(row.values, origin, log)
    if log.count > before:
        return None
    made = jsonl.record_of(row.values, origin)
    if not made.captions_as("positive"):
        log.error("VALUE_MISSING", file, row.number, "captions", "Give the item a positive caption.")
        return None
    return made
