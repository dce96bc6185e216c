"""SugarCrepe: seven JSON files, one a subset, each `{"0": {"filename", "caption", "negative_caption"}, …}`.

Type and subtype come from the file's name: swap_obj.json holds type swap, subtype obj. An item's key is the subset and
the row's own key: `swap_obj-12`.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.formats import jsonfiles, jsontext, limits
from benchmarks.formats.base import SPLIT, Format, ProblemLog
from benchmarks.formats.table import missing_column, too_many_rows
from benchmarks.formats.writing import extras, image_name
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin

SUBSETS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
FIELDS = ("filename", "caption", "negative_caption")
ENDS = {"swap_obj": "\n"}  # how the published files end: a line break in this one, nothing in the others


def read(path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
    for name, data in jsonfiles.files(path, [f"{subset}.json" for subset in SUBSETS], log):
        yield from subset(Path(name).stem, data, Path(name).name, log)


def subset(name: str, data: bytes, file: str, log: ProblemLog) -> Iterator[ItemRecord]:
    if name not in SUBSETS:
        log.error("WRONG_TYPE", file, None, "", f"Name the file after its subset: {', '.join(SUBSETS)}.")
        return
    before = log.count
    rows = jsonfiles.value(data, file, log)
    if isinstance(rows, dict):
        yield from items(name, rows, file, log)
    elif log.count == before:
        log.error("JSON_INVALID", file, 1, "", 'The file must hold one object of rows: {"0": {…}, "1": {…}}.')


def items(name: str, rows: dict[str, Any], file: str, log: ProblemLog) -> Iterator[ItemRecord]:
    kind, part = name.split("_")
    if not rows:
        log.error("NO_ROWS", file, None, "", "The file has no rows; take it from its source again.")
    for number, (key, row) in enumerate(rows.items(), 1):
        if number > limits.MAX_ROWS:
            too_many_rows(file, number, log)
        if whole_row(row, key, number, file, log):
            yield ItemRecord(
                key=f"{name}-{key}",
                type=kind,
                subtype=part,
                captions=(
                    CaptionRecord("positive", row["caption"]),
                    CaptionRecord("negative", row["negative_caption"]),
                ),
                images=(ImageRecord("positive", row["filename"]),),
                meta={field: value for field, value in row.items() if field not in FIELDS},
                origin=Origin(file, number),
            )


def whole_row(row: object, key: str, number: int, file: str, log: ProblemLog) -> bool:
    """Whether the row is an object that has the three texts. Logs what is not so."""
    if not isinstance(row, dict):
        log.error("JSON_INVALID", file, number, key[:80], "The row must be an object with filename and captions.")
        return False
    before = log.count
    for field in FIELDS:
        if field not in row:
            missing_column(field, [other for other in row if other not in FIELDS], file, number, log)
        elif not isinstance(row[field], str):
            log.error("WRONG_VALUE", file, number, field, "Write this value as text, in quotes.")
    jsontext.storable_throughout({key: row}, file, number, "", log)
    return log.count == before


def write(records: Iterable[ItemRecord]) -> Iterator[tuple[str, bytes]]:
    """A file for each subset that has items, as the published ones are written. Further fields follow by name."""
    rows: dict[str, dict[str, dict[str, object]]] = {subset: {} for subset in SUBSETS}
    for item in records:
        subset = subset_of(item)
        texts = image_name(item, "positive"), item.caption("positive"), item.caption("negative")
        row = {**dict(zip(FIELDS, texts, strict=True)), **extras(item.meta, FIELDS)}
        rows[subset][item.key.removeprefix(f"{subset}-")] = row
    for subset, own in rows.items():
        if own:
            yield f"{subset}.json", (json.dumps(own, indent=4) + ENDS.get(subset, "")).encode()


def subset_of(item: ItemRecord) -> str:
    return f"{item.type}_{item.subtype}"


FORMAT = Format(
    name="sugarcrepe",
    title="SugarCrepe (JSON)",
    accepts="A folder or a .zip with SugarCrepe's files (add_att.json … swap_obj.json), or one of them.",
    endings=(".zip", ".json"),
    reader=read,
    several=True,
    split={name: part for name, part in SPLIT.items() if name != "negative_image"},
    writer=write,
)
