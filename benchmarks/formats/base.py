"""The interface of a format, and the log of its problems. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.records import ItemRecord, Problem, ProblemKinds, Refused, is_own, role_order
from workers.archives.source import ArchiveRefused, Source

MEND = "Complete it, or skip incomplete rows (skip_incomplete)."
KindOf = Callable[[str, Iterable[str], Iterable[str]], str]  # (format, caption roles, image roles) → evaluation kind
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif", ".mp4", ".webm")  # only names; the content decides
KEPT = 100  # problems kept, and notes of each kind; all are counted


class ProblemLog:
    """Collects the problems of an input. `problems` reject the input; `notes` go into the import's report.

    `skip_incomplete`: skip and note incomplete rows instead of rejecting the input.
    """

    def __init__(self, skip_incomplete: bool = False):
        self.skip_incomplete = skip_incomplete
        self.left_out = 0  # rows
        self.problems: list[Problem] = []
        self.count = 0
        self.kinds = ProblemKinds()
        self.notes: list[Problem] = []
        self.note_count = 0
        self.noted: Counter[str] = Counter()  # by code

    def error(self, code: str, file: str, row: int | None, column: str, advice: str) -> None:
        self.count += 1
        example = self.kinds.count(code, column)
        if not example and len(self.problems) >= KEPT:
            return
        problem = Problem(code, file, row, column, advice)
        if example:
            self.kinds.keep(problem)
        if len(self.problems) < KEPT:
            self.problems.append(problem)

    def replace_errors(self, code: str, file: str, advice: str) -> None:
        """Log one error instead of all so far, which follow from it."""
        self.problems, self.count, self.kinds = [], 0, ProblemKinds()
        self.error(code, file, None, "", advice)

    def note(self, code: str, file: str, row: int | None, column: str, advice: str) -> None:
        self.note_count += 1
        self.noted[code] += 1
        if self.noted[code] <= KEPT:
            self.notes.append(Problem(code, file, row, column, advice, fatal=False))

    def gap(self, code: str, file: str, row: int | None, column: str, lacks: str, rows: int = 1) -> None:
        """Log one or more incomplete rows; `lacks` is a sentence about the missing part. The reader must not yield
        them.
        """
        if self.skip_incomplete:
            self.left_out += rows
            self.note(code, file, row, column, f"{lacks} Skipped.")
        else:
            self.error(code, file, row, column, f"{lacks} {MEND}")

    def drop_notes(self, code: str) -> None:
        """Drop the notes of that kind, which do not apply to this import."""
        self.note_count -= self.noted.pop(code, 0)
        self.notes = [note for note in self.notes if note.code != code]

    def archive(self, refused: ArchiveRefused) -> None:
        """Log all problems of a folder or archive of files."""
        for refusal in refused.refusals:
            self.error(refusal.code, refusal.entry, None, "", refusal.advice)
        self.count += refused.count - len(refused.refusals)

    def refuse_if_any(self) -> None:
        """Raise Refused with every problem so far, if any."""
        if self.count:
            raise Refused(self.problems, self.count, self.kinds)


class Unreadable(Exception):
    """Reading cannot continue; the log already has the reason."""


ORIGIN = 60  # characters of an origin's name


def wrong_origins(names: Sequence[str]) -> str:
    """Return why these cannot be the names of two origins, in a sentence; empty if they can."""
    if not all(name.strip() and len(name) <= ORIGIN and name.isprintable() for name in names):
        return f"Each origin needs a name of 1 to {ORIGIN} characters."
    return "" if len({name.strip() for name in names}) == 2 else "Give the two origins different names."


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a format's files: `carrier` is their file type, `layouts` has the columns or fields of every row
    (several sets if there are variants), `files` the usual names of the files."""

    carrier: str
    layouts: tuple[Sequence[str], ...]
    files: tuple[str, ...] = ()


COMMA_TABLE, TAB_TABLE = "a CSV table", "a TSV table"
JSON_LINES = "JSON Lines (one object per line)"
JSON_OBJECT, JSON_LIST = "one JSON object of rows", "one JSON list of rows"
PARQUET = "parquet"

HOLDS_IMAGES = "These files contain their images. Do not add any others."

# Column → the part of an item that it has: "caption:role", "image:role", "type", "subtype", "key" or "meta:field".
SPLIT = {
    "image": "image:positive",
    "caption": "caption:positive",
    "negative_caption": "caption:negative",
    "negative_image": "image:negative",
    "type": "type",
    "subtype": "subtype",
    "id": "key",
}


FURTHER_COLUMN = re.compile(r"(?P<role>[a-z][a-z0-9_]*)_(?P<kind>caption|image|text)(?:_(?P<number>[1-9]\d*))?_*")


def further_columns(most: Mapping[str, int], split: Mapping[str, str]) -> dict[str, str]:
    """Return columns for parts that lack one in a split, each with its part: `prompt_caption`, `negative_caption_2` …

    `most` has the largest number per item of each kind and role: {"caption:negative": 2, "image:picture": 4}.
    """
    found: dict[str, str] = {}
    for of in sorted(most, key=_column_order):
        kind, _, role = of.partition(":")
        for place in range(most[of]):
            part = f"{of}-{place}" if place else of
            if part not in split.values():
                name = f"{role}_{kind}" + (f"_{place + 1}" if place else "")
                while name in split or name in found:
                    name += "_"
                found[name] = part
    return found


def _column_order(of: str) -> tuple[str, tuple[int, str]]:
    kind, _, role = of.partition(":")
    return kind, role_order(role)


def further_part(column: str, split: Mapping[str, str]) -> str:
    """Return the part of a further column for a meaningful role, as named by `further_columns`; "" for any other."""
    found = FURTHER_COLUMN.fullmatch(column)
    if found is None or column in split or is_own(found["role"]) or found["kind"] == "text":
        return ""
    part = f"{found['kind']}:{found['role']}" + (f"-{int(found['number']) - 1}" if found["number"] else "")
    return "" if part in split.values() else part


@dataclass(frozen=True, slots=True)
class Format:
    """A file format for items. `reader` yields records and logs what it cannot read; `writer` is its inverse, and
    reproduces a canonical file exactly.
    """

    name: str
    title: str
    accepts: str  # the files to provide, in a sentence
    endings: tuple[str, ...]  # extensions that an upload may have; a folder does not need one
    reader: Callable[..., Iterator[ItemRecord]]  # (path, log, **given), see `read`
    several: bool = False  # takes several files at once
    sides: tuple[str, str] | None = None  # takes two files or folders that belong together: the content of each
    origins: tuple[str, str] | None = None  # default names of the sides
    keeps_same: bool = False  # its published files have negatives equal to a positive, which are noted, not rejected
    split: Mapping[str, str] = field(default_factory=lambda: SPLIT)  # the columns of a released split
    writer: Callable[[Iterable[ItemRecord]], Iterator[tuple[str, bytes]]] | None = None  # (file name, content)
    # The items' format, after reading: (path, records, predictions.plan.kind_of)
    first_format: Callable[[Path, Sequence[ItemRecord], KindOf], str] | None = None
    splits: bool = False  # its items are in named splits, each of which can be read by itself
    candidates: bool = False  # can add new candidate images to existing items
    # The images inside a file that was read without a problem, as a context manager; None: it has none
    images: Callable[[Path], AbstractContextManager[Source | None]] | None = None
    shape: Shape | None = None  # by which its files are recognised, if possible
    example: str = ""  # a minimal valid file, or a description of binary files

    def read(self, path: Path, log: ProblemLog, **given: Any) -> Iterator[ItemRecord]:
        """Yield the records of a file (or folder, if `accepts` allows it), in order. `given` may hold the path of the
        `second` side of a format with sides, the names `origins` of a format with origins, and the name of the only
        `split` to read of a format with splits.

        Never raises on bad input: problems go to the log, and readable rows are still yielded so that the checks can
        list their problems too. Nothing may be imported if `log.count` is above 0.
        """
        try:
            yield from self.reader(Path(path), log, **given)
        except Unreadable:
            return
        except OSError as error:
            log.error("FILE_UNREADABLE", Path(path).name, None, "", f"Make the file readable ({error.strerror}).")
