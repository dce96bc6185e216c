"""ARO's VG-Relation and VG-Attribution (ARO §2.1): each a JSON list of rows. An item's image is a crop.

[{"image_path": "7.jpg", "bbox_x": 10, "bbox_y": 0, "bbox_w": 64, "bbox_h": 48,
  "true_caption": "the cat is watching the bird", "false_caption": "the bird is watching the cat",
  "relation_name": "watching"}]

A row of VG-Attribution has `attributes`, two texts, instead of `relation_name`; the rows show which list it is. Type is
relation or attribution. Accuracy is reported by subtype: the relation, or the pair of attributes in alphabetical order,
`black vs white`. The key is the list and the position in it, from 0: `vg_relation-17`.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from benchmarks.formats import jsonfiles, jsontext
from benchmarks.formats.base import JSON_LIST, SPLIT, Format, ProblemLog, Shape
from benchmarks.formats.table import missing_column, nearest
from benchmarks.formats.writing import extras, image_part
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin

FILES = {"relation": "visual_genome_relation.json", "attribution": "visual_genome_attribution.json"}
MARKS = {"relation": "relation_name", "attribution": "attributes"}  # distinguishes relation and attribution
BOX = ("bbox_x", "bbox_y", "bbox_w", "bbox_h")
TEXTS = ("image_path", "true_caption", "false_caption")
FIELDS = ("image_path", *BOX, "true_caption", "false_caption")  # with the mark, in the format's own order
ORDER = "field_order"  # in `meta`: the names of the row's fields, if they came in another order


def read_items(path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
    for name, data in jsonfiles.files(path, tuple(FILES.values()), log):
        file = Path(name).name
        rows = jsonfiles.rows(data, list, "a list of rows: [{…}, {…}]", file, log)
        kind = kind_of(rows)
        for origin, row in jsonfiles.numbered(rows, file, log):
            if whole_row(row, kind, origin, log):
                yield record(row, kind, origin)


def kind_of(rows: list[Any]) -> str:
    """Recognise the kind by the first row with a distinguishing field, or one with a similar name."""
    fields = [list(row) for row in rows if isinstance(row, dict)]
    marked = (kind for row in fields for kind, mark in MARKS.items() if mark in row)
    alike = (kind for row in fields[:1] for kind, mark in MARKS.items() if nearest(mark, row))
    return next(marked, None) or next(alike, "relation")


def record(row: dict[str, Any], kind: str, origin: Origin) -> ItemRecord:
    mark = MARKS[kind]
    stored = FIELDS if kind == "attribution" else (*FIELDS, mark)  # the pair's own order is only in `meta`
    meta = {name: value for name, value in row.items() if name not in stored}
    if list(row) != own_order(row, mark):
        meta[ORDER] = list(row)
    x, y, width, height = (int(row[name]) for name in BOX)
    return ItemRecord(
        key=f"vg_{kind}-{origin.row - 1}",
        type=kind,
        subtype=row[mark] if kind == "relation" else " vs ".join(sorted(row[mark])),
        captions=(CaptionRecord("positive", row["true_caption"]), CaptionRecord("negative", row["false_caption"])),
        images=(ImageRecord("positive", row["image_path"], crop=(x, y, width, height)),),
        meta=meta,
        origin=origin,
    )


def own_order(row: Iterable[str], mark: str) -> list[str]:
    """Return the fields in the format's order, then any others in alphabetical order."""
    known = [name for name in (*FIELDS, mark) if name in row]
    return known + sorted(set(row) - {*known})


# Checking a row


def whole_row(row: object, kind: str, origin: Origin, log: ProblemLog) -> bool:
    """Return whether the row makes a record; log its problems."""
    before, mark = log.count, MARKS[kind]
    if not isinstance(row, dict):
        log.error("JSON_INVALID", origin.file, origin.row, "", "The row must be an object: {…}.")
        return False
    jsontext.storable_throughout(row, origin.file, origin.row, "", log)
    for name in (*FIELDS, mark):
        if name not in row:
            others = [other for other in row if other not in (*FIELDS, mark)]
            missing_column(name, others, origin.file, origin.row, log)
        elif advice := wrong(name, row[name]):
            log.error("WRONG_VALUE", origin.file, origin.row, name, advice)
    if ORDER in row:
        log.error("WRONG_VALUE", origin.file, origin.row, ORDER, "Winnow reserves this name. Rename the field.")
    return log.count == before


def wrong(name: str, value: object) -> str:
    """Return why the field cannot have that value, as advice; empty if it can."""
    if name in TEXTS:
        return "" if isinstance(value, str) else "Write this value as text, in quotes."
    if name in BOX:
        return "" if is_whole(value) else "Write a whole number of pixels, without quotes."
    texts, count = (value, 2) if name == "attributes" else ([value], 1)
    if isinstance(texts, list) and [isinstance(text, str) and bool(text.strip()) for text in texts] == [True] * count:
        return ""
    return 'Write a list of two texts: ["black", "white"].' if count == 2 else "Write the relation as text, in quotes."


def is_whole(value: object) -> bool:
    """Accept 12 and 12.0, not 12.5, "12" or true: tables turn columns into floats, but pixels are whole."""
    return type(value) is int or (type(value) is float and value.is_integer())


# Back to the source's layout


def write(items: Iterable[ItemRecord]) -> Iterator[tuple[str, bytes]]:
    """Write a list for each of the two types that has items, formatted by json.dump's defaults."""
    rows: dict[str, list[dict[str, object]]] = {kind: [] for kind in FILES}
    for item in items:
        rows[item.type].append(row_of(item))
    for kind, own in rows.items():
        if own:
            yield FILES[kind], json.dumps(own).encode()


def row_of(item: ItemRecord) -> dict[str, object]:
    name, crop = image_part(item, "positive")
    row = extras(item.meta, [ORDER])
    row |= {"image_path": name, **dict(zip(BOX, crop or (), strict=False))}
    row |= {"true_caption": item.caption("positive"), "false_caption": item.caption("negative")}
    row |= {"relation_name": item.subtype} if item.type == "relation" else {}
    order = cast("list[str]", item.meta.get(ORDER, []))
    return {field: row[field] for field in (order if {*order} == {*row} else own_order(row, MARKS[item.type]))}


FORMAT = Format(
    name="aro",
    title="ARO: VG-Relation and VG-Attribution (JSON)",
    accepts=f"{' and '.join(FILES.values())} in a folder or a .zip, or one of them. Items get crops of the images.",
    endings=(".zip", ".json"),
    reader=read_items,
    several=True,
    split={
        "image": SPLIT["image"],
        "true_caption": SPLIT["caption"],
        "false_caption": SPLIT["negative_caption"],
        "type": "type",
        "subtype": "subtype",
        "id": "key",
    },
    writer=write,
    shape=Shape(JSON_LIST, (FIELDS,), tuple(FILES.values())),
    example="""[{"image_path": "7.jpg", "bbox_x": 10, "bbox_y": 0, "bbox_w": 64, "bbox_h": 48, \
"true_caption": "the cat is watching the bird", "false_caption": "the bird is watching the cat", \
"relation_name": "watching"}]
""",
)
