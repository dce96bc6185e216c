"""The kept items in the files of the benchmark's own format, as its source publishes them. Pure."""

from annotation.releases.export_reader import Row, record
from annotation.releases.formats.base import Form, Layout
from benchmarks.formats.registry import FORMATS
from benchmarks.records import ItemRecord

FOLDER = "source"


class Writer:
    """Keeps the items in memory, without their images: a source's file may begin with what its last row says."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.records: dict[str, list[ItemRecord]] = {split: [] for split in layout.splits}

    def add(self, row: Row) -> None:
        if self.layout.source_format:
            self.records[row.split].append(record(row.line))

    def close(self) -> dict[str, int]:
        """Empty: only the format knows what a row of its files is. Files are where items are."""
        for split, records in self.records.items():
            if records:
                self.put(split, records)
        return {}

    def put(self, split: str, records: list[ItemRecord]) -> None:
        folder = self.layout.folder / FOLDER / (split if len(self.records) > 1 else "")
        writer = FORMATS[self.layout.source_format].writer
        assert writer  # it wrote the export's source files
        for name, content in writer(records):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


FORM = Form(
    name="source",
    title="The source's own files",
    what="The kept items in the benchmark's own file layout, for code that reads it; without images.",
    writer=Writer,
)
