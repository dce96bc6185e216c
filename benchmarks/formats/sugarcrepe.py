"""SugarCrepe: seven JSON files, one per subset, each `{"0": {"filename", "caption", "negative_caption"}, …}`.

Type and subtype come from the file's name: swap_obj.json has type swap, subtype obj. An item's key is the subset and
the row's own key: `swap_obj-12`.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.formats import jsonfiles
from benchmarks.formats.base import JSON_OBJECT, SPLIT, Format, ProblemLog, Shape
from benchmarks.formats.own.mapping import ColumnMapping, Part
from benchmarks.formats.own.mapping import item as item_of
from benchmarks.formats.writing import extras, image_name
from benchmarks.records import ItemRecord

SUBSETS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
FIELDS = ("filename", "caption", "negative_caption")
OF_TEXTS = {"positive": Part(("caption",)), "negative": Part(("negative_caption",))}
MAPPING = ColumnMapping(OF_TEXTS, {"positive": Part(("filename",))}, literal=True)
TEXTS = dict.fromkeys(FIELDS, jsonfiles.TEXT)
EXAMPLE = '{"12": {"filename": "1.jpg", "caption": "A red cup.", "negative_caption": "A blue cup."}}\n'
ENDS = {"swap_obj": "\n"}  # ends of the published files: a line break in this one, nothing in the others


def read_items(path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
    for name, data in jsonfiles.files(path, [f"{subset}.json" for subset in SUBSETS], log):
        yield from subset(Path(name).stem, data, Path(name).name, log)


def subset(name: str, data: bytes, file: str, log: ProblemLog) -> Iterator[ItemRecord]:
    if name not in SUBSETS:
        log.error("WRONG_TYPE", file, None, "", f"Name the file after its subset: {', '.join(SUBSETS)}.")
        return
    kind, part = name.split("_")
    rows = jsonfiles.rows(data, dict, jsonfiles.OBJECT_OF_ROWS, file, log)
    for origin, (key, row) in jsonfiles.numbered(rows.items(), file, log):
        if jsonfiles.sound_row(row, TEXTS, "The row must be an object with filename and captions.", origin, log, key):
            yield replace(item_of([(origin, row)], MAPPING, f"{name}-{key}"), type=kind, subtype=part)


def write(records: Iterable[ItemRecord]) -> Iterator[tuple[str, bytes]]:
    """Write a file for each subset that has items, formatted like the published ones. Further fields follow by name."""
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
    reader=read_items,
    several=True,
    split={name: part for name, part in SPLIT.items() if name != "negative_image"},
    writer=write,
    shape=Shape(JSON_OBJECT, (FIELDS,), tuple(f"{subset}.json" for subset in SUBSETS)),
    example=EXAMPLE,
)
