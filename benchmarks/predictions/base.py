"""A model's answer as one record, whatever its file's layout, and the interface of a layout. Pure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.predictions.kinds import Kind
from benchmarks.records import Origin

NOWHERE = Origin("", 0)  # for an answer not read from a file


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to an item: by its id, or by captions as (role, text) and the name of its positive image.

    `nth` distinguishes items with the same captions and image in a file: their number in its order, from 0.
    """

    key: str = ""
    captions: tuple[tuple[str, str], ...] = ()
    image: str = ""
    nth: int = 0

    def __str__(self) -> str:
        return self.key or " / ".join(text for _, text in self.captions)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer about one item: a score (higher is better) under the name of what was scored, `s(c0,i1)`, or a choice
    at a question, `i_pos2t`: one of its options, or NONE, RIGHT, WRONG. `type` and `subtype` if the file has them.
    `read_alike`: there is no answer, because the model reads two of the item's captions as identical. `cut`: one of the
    captions is longer than the model reads.
    """

    item: Reference
    question: str
    score: float | None = None
    choice: str | None = None
    type: str = ""
    subtype: str = ""
    origin: Origin = NOWHERE
    read_alike: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout of prediction files. `reader` yields answers and logs what it cannot read."""

    name: str
    title: str
    kinds: tuple[str, ...]  # the kinds of evaluation that its answers are about
    endings: tuple[str, ...]
    reader: Callable[[Path, ProblemLog, Kind], Iterator[Answer]]

    def read(self, path: Path, log: ProblemLog, kind: Kind) -> Iterator[Answer]:
        """Yield the answers of a file, in its order. Never raises on bad input: problems go to the log, and nothing may
        be computed if `log.count` is above 0."""
        try:
            yield from self.reader(Path(path), log, kind)
        except Unreadable:
            return
        except OSError as error:
            log.error("FILE_UNREADABLE", Path(path).name, None, "", f"Make the file readable ({error.strerror}).")
