"""Reading files of predictions together with files of their items. Pure."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.formats import checks
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.registry import FORMATS
from benchmarks.predictions.base import Answer, Layout
from benchmarks.predictions.kinds import Kind
from benchmarks.predictions.registry import layout_of
from benchmarks.records import ItemRecord


def read_answers(paths: Sequence[Path], kind: Kind, log: ProblemLog, mapping: str = "") -> Iterator[Answer]:
    """Yield the answers of all files, one after the other. All must have the same layout, as they are one model's.
    `mapping`: for a user's own tables, as JSON."""
    first: Layout | None = None
    for path in paths:
        layout = layout_of(path, kind, mapping)
        first = first or layout
        if layout.name != first.name:
            advice = f"All files of a run must have the same layout; the first has {first.title}."
            log.error("WRONG_TYPE", path.name, None, "", advice)
        else:
            yield from layout.read(path, log, kind)


def read_items(path: Path, kind: Kind, log: ProblemLog) -> list[ItemRecord]:
    """Return the benchmark's items, from Winnow's manifest (.jsonl), or from the kind's published format."""
    format = FORMATS["jsonl" if path.suffix.lower() in FORMATS["jsonl"].endings else kind.format]
    if not path.is_dir() and path.suffix.lower() not in format.endings:
        log.error("WRONG_TYPE", path.name, None, "", f"Use items as {' or '.join(format.endings)}: {format.accepts}")
        return []
    return checks.check_records(format.read(path, log), log, format.keeps_same)
