"""BiVLC's table of candidates: a row for each item of SugarCrepe, with the names of its candidate negative images.

Columns: filename, caption, negative_caption, type, subtype, index, hn_img_0, hn_img_1 … up to hn_img_8. Further columns
are kept in `meta`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.formats.base import COMMA_TABLE, Format, ProblemLog, Shape
from benchmarks.formats.table import Row, note_extra_columns, read_table
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin

COLUMNS = ("filename", "caption", "negative_caption", "type", "subtype", "index", "hn_img_0", "hn_img_1")
CANDIDATE = re.compile(r"hn_img_([0-8])")


def read_items(path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
    for index, row in enumerate(read_table(path, log, COLUMNS)):
        if index == 0:
            note_extra_columns(extra(row), path.name, log)
        yield record(row, path.name)


def record(row: Row, file: str) -> ItemRecord:
    """Captions and images with their roles; a candidate's position is the number in its column's name."""
    values = row.values
    candidates = sorted(name for name in values if CANDIDATE.fullmatch(name))
    return ItemRecord(
        key=values["index"],
        type=values["type"],
        subtype=values["subtype"],
        captions=(CaptionRecord("positive", values["caption"]), CaptionRecord("negative", values["negative_caption"])),
        images=(
            ImageRecord("positive", values["filename"]),
            *(ImageRecord("candidate", values[name]) for name in candidates),
        ),
        meta={name: values[name] for name in extra(row)},
        origin=Origin(file, row.number),
    )


def extra(row: Row) -> list[str]:
    return [name for name in row.values if name not in COLUMNS and not CANDIDATE.fullmatch(name)]


FORMAT = Format(
    name="bivlc-candidates",
    title="BiVLC candidates (CSV)",
    accepts="A .csv with the columns filename, caption, negative_caption, type, subtype, index, hn_img_0, hn_img_1 …",
    endings=(".csv",),
    reader=read_items,
    candidates=True,
    shape=Shape(COMMA_TABLE, (COLUMNS,)),
    example="""filename,caption,negative_caption,type,subtype,index,hn_img_0,hn_img_1
1.jpg,A red cup on a blue plate.,A blue cup on a red plate.,swap,att,0,0_a.jpg,0_b.jpg
""",
)
