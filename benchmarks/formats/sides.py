"""Two sets of JSON files that belong together. They are two files, two folders or archives with the same names inside,
or one folder or archive with both, each in a folder named after its side: `hard_positive/`. Pure.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.formats import jsonfiles
from benchmarks.formats.base import ProblemLog, Unreadable
from workers.archives.archive import ArchiveRefused, Source, open_archive


@dataclass(frozen=True, slots=True)
class Half:
    """One side's file: `title` names it in problems, `data` is None if the side lacks it."""

    title: str
    data: bytes | None


class Single:
    """A single file: a source with only a `name`."""

    def __init__(self, path: Path, name: str):
        self.path, self.name = path, name

    def find(self, name: str) -> str | None:
        return name if name == self.name else None

    def read(self, name: str) -> bytes:
        return jsonfiles.content(self.path)

    def unused(self, wanted: Sequence[str]) -> list[str]:
        return [] if self.name in wanted else [self.name]


@dataclass(frozen=True, slots=True)
class Side:
    """`prefix`: the side's folder in a source with both."""

    name: str
    source: Source | Single
    prefix: str = ""

    def half(self, name: str) -> Half:
        inside = self.prefix + name
        data = None if self.source.find(inside) is None else self.source.read(inside)
        return Half(f"{folder(self.name)}/{name}", data)


def folder(side: str) -> str:
    return side.replace(" ", "_")


def halves(
    path: Path, second: Path | None, names: tuple[str, str], wanted: Sequence[str], log: ProblemLog
) -> Iterator[tuple[str, Half, Half]]:
    """Yield (file name, first side's half, second's) for each wanted file that at least one side has.

    Logs SIDE_MISSING for a single file without its pair, NO_ROWS if there is nothing to read. Other files are noted.
    """
    try:
        with ExitStack() as stack:
            first, other = opened(path, second, names, stack, log)
            for source in dict.fromkeys((first.source, other.source)):
                asked = [side.prefix + name for side in (first, other) if side.source is source for name in wanted]
                for name in source.unused(asked):
                    log.note("FILE_IGNORED", name, None, "", "Not one of the format's files; left out.")
            yield from both(first, other, wanted, log)
    except ArchiveRefused as refused:
        log.archive(refused)
        raise Unreadable from refused


def both(first: Side, other: Side, wanted: Sequence[str], log: ProblemLog) -> Iterator[tuple[str, Half, Half]]:
    missing = []
    for name in wanted:
        pair = first.half(name), other.half(name)
        if pair[0].data is None and pair[1].data is None:
            missing.append(name)
        else:
            yield name, *pair
    for name in missing if len(missing) < len(wanted) else ():
        log.note("SUBSET_MISSING", name, None, "", "Missing on both sides; the other files are imported.")
    if len(missing) == len(wanted):
        where = f"in the folders {folder(first.name)} and {folder(other.name)}, or on either side by itself"
        log.error("NO_ROWS", "", None, "", f"None of these files was found: {', '.join(wanted)}, {where}.")


def opened(
    path: Path, second: Path | None, names: tuple[str, str], stack: ExitStack, log: ProblemLog
) -> tuple[Side, Side]:
    if second is not None:
        shared = path.name if loose(path) else second.name  # two single files may have different names
        return Side(names[0], source_of(path, path.name, stack)), Side(names[1], source_of(second, shared, stack))
    if loose(path):
        log.error("SIDE_MISSING", path.name, None, "", f"This is the {names[0]} side. Give the {names[1]} side too.")
        raise Unreadable
    source = stack.enter_context(open_archive(path))
    first, other = (Side(name, source, f"{folder(name)}/") for name in names)
    return first, other


def loose(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() == ".json"


def source_of(path: Path, name: str, stack: ExitStack) -> Source | Single:
    return Single(path, name) if loose(path) else stack.enter_context(open_archive(path))
