"""The kept items as files in the benchmark's own format, as its source publishes them. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from annotation.releases.export_reader import Row, record
from annotation.releases.formats.base import Form, Layout
from benchmarks.formats.registry import FORMATS
from benchmarks.records import ItemRecord

FOLDER = "source"


class Writer:
    """Keeps the items in memory, without their images: a source's file may begin with data from its last row."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.records: dict[str, list[ItemRecord]] = {split: [] for split in layout.splits}

    def add(self, row: Row) -> None:
        if self.layout.source_format:
            self.records[row.split].append(record(row.line))

    def close(self) -> dict[str, int]:
        """Return no row counts: only the format knows what a row of its files is. Splits with items have files."""
        for name, content in contents(self.layout.source_format, self.records):
            path = self.layout.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return {}


def contents(source_format: str, records: Mapping[str, Sequence[ItemRecord]]) -> Iterator[tuple[str, bytes]]:
    """Yield each file with its name in the release; `records` are the kept items by split."""
    for split, items in records.items():
        if items:
            writer = FORMATS[source_format].writer
            assert writer  # this writer also wrote the export's source files
            folder = f"{FOLDER}/{split}/" if len(records) > 1 else f"{FOLDER}/"
            yield from ((f"{folder}{name}", content) for name, content in writer(items))


FORM = Form(
    name="source",
    title="The source's own files",
    what="The kept items in the benchmark's own file layout, for code that reads it; without images.",
    writer=Writer,
)
