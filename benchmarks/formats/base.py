"""What a format is, and where its problems are written down. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.records import ItemRecord, Problem, Refused
from workers.archive_source import ArchiveRefused

KEPT = 100  # problems, and notes, that are kept; all are counted


class ProblemLog:
    """Collects what is wrong with an input. `problems` refuse it; `notes` stand in the report of its import."""

    def __init__(self):
        self.problems: list[Problem] = []
        self.count = 0
        self.notes: list[Problem] = []
        self.note_count = 0

    def error(self, code: str, file: str, row: int | None, column: str, advice: str) -> None:
        self.count += 1
        if len(self.problems) < KEPT:
            self.problems.append(Problem(code, file, row, column, advice))

    def note(self, code: str, file: str, row: int | None, column: str, advice: str) -> None:
        self.note_count += 1
        if len(self.notes) < KEPT:
            self.notes.append(Problem(code, file, row, column, advice, fatal=False))

    def drop_notes(self, code: str) -> None:
        """What a note of that kind says does not hold for this import."""
        kept = [note for note in self.notes if note.code != code]
        self.note_count -= len(self.notes) - len(kept)
        self.notes = kept

    def archive(self, refused: ArchiveRefused) -> None:
        """All that was wrong with a folder or archive of files."""
        for refusal in refused.refusals:
            self.error(refusal.code, refusal.entry, None, "", refusal.advice)
        self.count += refused.count - len(refused.refusals)

    def refuse_if_any(self) -> None:
        """Raises Refused with every problem so far."""
        if self.count:
            raise Refused(self.problems, self.count)


class Unreadable(Exception):
    """Reading cannot go on; the reason is already in the log."""


# Column → which part of an item stands in it: "caption:role", "image:role", "type", "subtype", "key" or "meta:field".
SPLIT = {
    "image": "image:positive",
    "caption": "caption:positive",
    "negative_caption": "caption:negative",
    "negative_image": "image:negative",
    "type": "type",
    "subtype": "subtype",
    "id": "key",
}


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write items down. `reader` yields records and logs what it cannot read; `writer` is its inverse, with
    the same bytes for records that were read from a canonical file.
    """

    name: str
    title: str
    accepts: str  # what to give, in a sentence
    endings: tuple[str, ...]  # file name endings that an upload may have; a folder needs none
    reader: Callable[[Path, ProblemLog], Iterator[ItemRecord]]
    several: bool = False  # takes several files at once
    sides: tuple[str, str] | None = None  # takes two files, or folders, that belong together: what each holds
    split: Mapping[str, str] = field(default_factory=lambda: SPLIT)  # the columns of a released split
    writer: Callable[[Iterable[ItemRecord]], Iterator[tuple[str, bytes]]] | None = None  # (file name, content)
    candidates: bool = False  # can bring new candidate images for items that are there

    def read(self, path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
        """The records of a file (or folder, where `accepts` says so), in its order.

        Never raises on bad input: what is wrong is in the log, and the rows that could be read are yielded so that the
        checks can list their problems too. Nothing may be imported once `log.count` is above 0.
        """
        try:
            yield from self.reader(Path(path), log)
        except Unreadable:
            return
        except OSError as error:
            log.error("FILE_UNREADABLE", Path(path).name, None, "", f"Make the file readable ({error.strerror}).")
