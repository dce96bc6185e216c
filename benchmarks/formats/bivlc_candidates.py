"""BiVLC's table of candidates: a row for each item of SugarCrepe, with the names of its candidate negative images.

Columns: filename, caption, negative_caption, type, subtype, index, hn_img_0, hn_img_1 … up to hn_img_8. Further columns
are kept in `meta`.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.formats.base import COMMA_TABLE, Format, ProblemLog, Shape
from benchmarks.formats.own.mapping import ColumnMapping, Part, item
from benchmarks.formats.table import note_extra_columns, read_table
from benchmarks.records import ItemRecord, Origin

COLUMNS = ("filename", "caption", "negative_caption", "type", "subtype", "index", "hn_img_0", "hn_img_1")
CANDIDATE = re.compile(r"hn_img_([0-8])")


TEXTS = {"positive": Part(("caption",)), "negative": Part(("negative_caption",))}


def read_items(path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
    for index, row in enumerate(read_table(path, log, COLUMNS)):
        if index == 0:
            mapping = mapping_of(row.values)
            note_extra_columns([name for name in row.values if name not in {*mapping.places()}], path.name, log)
        yield item([(Origin(path.name, row.number), row.values)], mapping, "")


def mapping_of(columns: Iterable[str]) -> ColumnMapping:
    """Map the columns; a candidate's position is the number in its column's name."""
    candidates = sorted(name for name in columns if CANDIDATE.fullmatch(name))
    images = {"positive": Part(("filename",)), "candidate": Part((*candidates,))}
    return ColumnMapping(TEXTS, images, "index", "type", "subtype", literal=True)


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
