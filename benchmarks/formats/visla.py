"""VISLA: two tab-separated files with different columns, in which quotes are literal and lines end in CRLF.

Generic: filename, caption, second positive, negative_caption. Spatial: image, sent1, sent2, the nearest reference (the
negative) and an irrelevant one, kept in `meta`. The type is generic or spatial; an item's key is `generic-17`, 17 being
its row, from 0. Some published rows of Spatial lack their references.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.formats.base import SPLIT, TAB_TABLE, Format, ProblemLog, Shape
from benchmarks.formats.own.mapping import ColumnMapping, Part, item
from benchmarks.formats.table import TABS, Row, note_extra_columns, read_rows
from benchmarks.formats.writing import extras, image_name
from benchmarks.records import ItemRecord, Origin

IRRELEVANT = "irrelevant_reference"
CAPTIONS = ("positive", "second_positive", "negative")
BREAKS = re.compile(r"[\t\r\n]+")


@dataclass(frozen=True, slots=True)
class Layout:
    """`columns`: the source's names for the image, each of CAPTIONS and, if any, the irrelevant text."""

    name: str
    file: str
    columns: tuple[str, ...]

    @property
    def mapping(self) -> ColumnMapping:
        image, *texts = (Part((column,)) for column in self.columns)
        return ColumnMapping(dict(zip(CAPTIONS, texts, strict=False)), {"positive": image}, literal=True)


GENERIC = Layout("generic", "Generic_VISLA.tsv", ("filename", "caption", "second positive", "negative_caption"))
REFERENCES = ("Best reference (Semantically close)", "Reference-2 (Completely irrelevant)")
SPATIAL = Layout("spatial", "Spatial_VISLA.tsv", ("image", "sent1", "sent2", *REFERENCES))
LAYOUTS = (GENERIC, SPATIAL)


def read_items(path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
    layout = None
    for index, row in enumerate(read_rows(path, log, TABS, [layout.columns for layout in LAYOUTS])):
        if layout is None:
            layout = next(one for one in LAYOUTS if {*one.columns} <= {*row.values})
            note_extra_columns(extra(row, layout), path.name, log)
        required = layout.columns[: 1 + len(CAPTIONS)]  # a row without any of these is not an item
        if lacking := [name for name in required if not row.values[name].strip()]:
            log.gap("INCOMPLETE_ROW", path.name, row.number, ", ".join(lacking), "This cell is empty.")
        else:
            yield record(row, f"{layout.name}-{index}", layout, path.name)


def record(row: Row, key: str, layout: Layout, file: str) -> ItemRecord:
    made = item([(Origin(file, row.number), row.values)], layout.mapping, key)
    meta = {IRRELEVANT if name in layout.columns else name: value for name, value in made.meta.items()}
    return replace(made, type=layout.name, meta=meta)


def extra(row: Row, layout: Layout) -> list[str]:
    return [name for name in row.values if name not in layout.columns]


def write(records: Iterable[ItemRecord]) -> Iterator[tuple[str, bytes]]:
    """Write the files as published: CRLF between rows, none after the last. Further columns follow alphabetically."""
    items = list(records)
    for layout in LAYOUTS:
        own = [item for item in items if (SPATIAL if item.type == SPATIAL.name else GENERIC) is layout]
        if own:
            known = [IRRELEVANT] if layout is SPATIAL else []
            further = sorted({name for item in own for name in extras(item.meta, known)})
            rows = [[*layout.columns, *further], *(row_of(item, layout, further) for item in own)]
            yield layout.file, "\r\n".join(map(line, rows)).encode()


def row_of(item: ItemRecord, layout: Layout, further: list[str]) -> list[str]:
    cells = [image_name(item, "positive"), *(item.caption(role) for role in CAPTIONS)]
    cells += [str(item.meta.get(IRRELEVANT, ""))] if layout is SPATIAL else []
    return [*cells, *(str(item.meta.get(name, "")) for name in further)]


def line(cells: list[str]) -> str:
    """Replace tabs and line breaks, which edited text may contain but a cell may not, with spaces."""
    return "\t".join(BREAKS.sub(" ", cell) for cell in cells)


FORMAT = Format(
    name="visla",
    title="VISLA (TSV)",
    accepts="Generic_VISLA.tsv or Spatial_VISLA.tsv: cells are separated by tabs, and quotes are part of the text.",
    endings=(".tsv",),
    reader=read_items,
    keeps_same=True,
    split={
        "image": SPLIT["image"],
        "caption": SPLIT["caption"],
        "second_positive": "caption:second_positive",
        "negative_caption": SPLIT["negative_caption"],
        IRRELEVANT: f"meta:{IRRELEVANT}",
        "type": "type",
        "id": "key",
    },
    writer=write,
    shape=Shape(TAB_TABLE, tuple(layout.columns for layout in LAYOUTS)),
    example="""filename\tcaption\tsecond positive\tnegative_caption
1.jpg\tA cup on a book.\tA book under a cup.\tA cup under a book.
""",
)
