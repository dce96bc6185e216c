"""Writing a benchmark in its source's layout: the inverse of its import. Does not change the database."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks import queries
from benchmarks.formats.base import Format
from benchmarks.formats.registry import FORMATS
from benchmarks.models import Benchmark, Job, JobState
from benchmarks.records import ItemRecord
from benchmarks.transactions import snapshot

CHUNK = 1000  # items held in memory with all their rows


class CannotWrite(Exception):
    """The benchmark does not have a source layout; the message explains why."""


def format_of(benchmark: Benchmark) -> Format:
    """Return the single, writable format of all its items. Raises CannotWrite if there is none."""
    names = sorted(brought(benchmark) | {benchmark.source})
    if len(names) > 1:
        raise CannotWrite(f"“{benchmark}” has items from several formats ({', '.join(names)}): no layout fits all.")
    format = FORMATS.get(names[0])
    if format is None or format.writer is None:
        can = ", ".join(one.name for one in FORMATS.values() if one.writer)
        raise CannotWrite(f"“{benchmark}” came as {names[0]}, which Winnow cannot write. It can write {can}.")
    return format


def brought(benchmark: Benchmark) -> set[str]:
    """Return the formats in which its items were first imported; imports of new candidates do not count."""
    imports = Job.objects.filter(kind="import", state=JobState.DONE, report__benchmark=benchmark.pk)
    jobs = imports.exclude(report__has_key="new_candidates")
    return {source or format for format, source in jobs.values_list("params__format", "report__source")}


def files(benchmark: Benchmark, records: Iterable[ItemRecord] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the source's files, with these records or all items in order. Raises CannotWrite."""
    format = format_of(benchmark)
    assert format.writer
    if records is None:
        items = queries.with_material(benchmark.present.order_by("position")).iterator(chunk_size=CHUNK)
        records = map(queries.record_of, items)
    yield from format.writer(records)


def write(benchmark: Benchmark, folder: Path) -> list[tuple[str, int]]:
    """Write the files to a new or empty folder; return (name, bytes) of each. Raises CannotWrite."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CannotWrite(f"{folder} is not empty. Name a new folder.")
    with snapshot():
        return put(files(benchmark), folder)


def put(files: Iterable[tuple[str, bytes]], folder: Path) -> list[tuple[str, int]]:
    """Write each (name, content) below the folder; return (name, bytes) of each."""
    written = []
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.append((name, len(content)))
    return written
