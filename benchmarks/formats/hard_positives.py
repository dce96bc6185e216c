"""Hard Positives: each set as two JSON lists, the original and the hard-positive one, with rows in the same order.

A row has image_id, true_caption, false_caption and image_path. The original's true caption is the positive one, the
other file's the second positive; both rows must name the same image and the same negative caption. Sets are the
replacements on VL-CheckList's attributes and relations; `relations-17` is the key of row 17, from 0.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.formats import jsonfiles, sides
from benchmarks.formats.base import JSON_LIST, SPLIT, Format, ProblemLog, Shape
from benchmarks.formats.writing import extras, image_name
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin

SIDES = ("original", "hard positive")
SUBTYPES = {"attributes": "att", "relations": "rel"}
FIELDS = ("image_id", "true_caption", "false_caption", "image_path")
TEXTS = dict.fromkeys(FIELDS, jsonfiles.TEXT)
SHARED = ("image_id", "false_caption", "image_path")  # fields that must be equal in both rows
WANTED = tuple(f"vl_checklist_{name}.json" for name in SUBTYPES)


def read_items(path: Path, log: ProblemLog, second: Path | None = None) -> Iterator[ItemRecord]:
    for file, one, other in sides.halves(path, second, SIDES, WANTED, log):
        name = Path(file).stem.removeprefix("vl_checklist_")
        if one.data is None or other.data is None:
            absent = one.title if one.data is None else other.title
            log.error("SIDE_MISSING", absent, None, "", "Only the other side has this file. Add it, or remove both.")
            continue
        titles = one.title, other.title
        first, last = (
            jsonfiles.rows(data, list, "one list of rows: [{…}, {…}]", title, log)
            for data, title in zip((one.data, other.data), titles, strict=True)
        )
        if first and last:
            yield from items(name, first, last, titles, log)


def items(
    name: str, first: list[Any], second: list[Any], titles: tuple[str, str], log: ProblemLog
) -> Iterator[ItemRecord]:
    if len(first) != len(second):
        shorter = titles[len(second) < len(first)]
        advice = f"{titles[0]} has {len(first):,} rows, {titles[1]} {len(second):,}; extra rows have no counterpart."
        log.error("SIDES_DIFFER", shorter, min(len(first), len(second)) + 1, "", advice)
    shape = f"The row must be an object with {', '.join(FIELDS)}."
    for origin, rows in jsonfiles.numbered(zip(first, second, strict=False), titles[0], log):
        origins = origin, Origin(titles[1], origin.row)
        sound = [jsonfiles.sound_row(row, TEXTS, shape, of, log) for row, of in zip(rows, origins, strict=True)]
        if all(sound) and together(rows, origins, log):
            yield record(f"{name}-{origin.row - 1}", SUBTYPES[name], rows, origin)


def together(rows: tuple[dict[str, Any], dict[str, Any]], origins: tuple[Origin, Origin], log: ProblemLog) -> bool:
    """Return whether the two rows have the same image and negative caption; log any difference."""
    differing = [field for field in SHARED if rows[0][field] != rows[1][field]]
    if differing:
        here, there = (row[differing[0]][:80] for row in reversed(rows))
        first, second = origins
        advice = f"“{here}” here, “{there}” in row {first.row} of {first.file}. Both need the same rows in order."
        log.error("SIDES_DIFFER", second.file, second.row, ", ".join(differing), advice)
    return not differing


def record(key: str, subtype: str, rows: tuple[dict[str, Any], dict[str, Any]], origin: Origin) -> ItemRecord:
    further = [extras(row, FIELDS) for row in rows]
    return ItemRecord(
        key=key,
        type="replace",
        subtype=subtype,
        captions=(
            CaptionRecord("positive", rows[0]["true_caption"]),
            CaptionRecord("second_positive", rows[1]["true_caption"]),
            CaptionRecord("negative", rows[0]["false_caption"]),
        ),
        images=(ImageRecord("positive", rows[0]["image_path"]),),
        meta={"image_id": rows[0]["image_id"], **({"further": further} if any(further) else {})},
        origin=origin,
    )


def write(records: Iterable[ItemRecord]) -> Iterator[tuple[str, bytes]]:
    """Write two files per set, `original/…` and `hard_positive/…`, as Python's json writes a list of rows."""
    items = list(records)
    for name, subtype in SUBTYPES.items():
        own = [item for item in items if item.subtype == subtype]
        for place, (side, role) in enumerate(zip(SIDES, ("positive", "second_positive"), strict=True)):
            if own:
                rows = [row_of(item, role, place) for item in own]
                yield f"{sides.folder(side)}/vl_checklist_{name}.json", json.dumps(rows).encode()


def row_of(item: ItemRecord, role: str, place: int) -> dict[str, object]:
    texts = item.meta["image_id"], item.caption(role), item.caption("negative"), image_name(item, "positive")
    further: Any = item.meta.get("further")
    return {**dict(zip(FIELDS, texts, strict=True)), **(further[place] if further else {})}


FORMAT = Format(
    name="hard-positives",
    title="Hard Positives (JSON)",
    accepts=f"{' and '.join(WANTED)}, each twice; or a .zip with the folders original and hard_positive.",
    endings=(".zip", ".json"),
    reader=read_items,
    several=True,
    sides=SIDES,
    keeps_same=True,
    split={
        "image": SPLIT["image"],
        "caption": SPLIT["caption"],
        "hard_positive": "caption:second_positive",
        "hard_negative": SPLIT["negative_caption"],
        "type": "type",
        "subtype": "subtype",
        "id": "key",
    },
    writer=write,
    shape=Shape(JSON_LIST, (FIELDS,), WANTED),
    example="""[{"image_id": "7", "true_caption": "cup on book", "false_caption": "cup off book", \
"image_path": "data/VG_100K/7.jpg"}]
""",
)
