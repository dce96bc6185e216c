"""A stage's judgments in columns: a million fit into 60 MB and can be counted without a loop. Pure.

To read only a few, iterate over `Judgments`, which yields a `JudgmentRow` for each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from annotation.measures.ratings import RatingColumns, codes, distinct, in_order, rows_by
from annotation.measures.types import Array

JUDGE = "judge"  # the kind of judgments that are neither checks nor practice
_BLOCK_SIZE = 10_000  # rows in memory at once

TaskKey = tuple[int, str, int]  # a task: its item's position, question and round; sorts like the items


class JudgmentRow(NamedTuple):
    """One judgment.

    `place` is the position of the picked option on the screen, from 1, or None for a fixed answer; `places` is how many
    options the screen had. `counted`: it is its slot's current judgment. `live`: its task's item is in the stage.
    `at` is in microseconds since 1970 (UTC).
    """

    task: TaskKey
    kind: str
    live: bool
    type: str
    subtype: str
    slot: int
    annotator: int
    answer: str
    place: int | None
    places: int
    active_ms: int
    counted: bool
    surplus: bool
    withdrawn: bool
    at: int


@dataclass(frozen=True, slots=True)
class Coded:
    """A column with few distinct values: these, sorted, and the position of each judgment's value (`code`)."""

    values: Sequence[Any]
    code: Array

    @classmethod
    def of(cls, values: Sequence[Any]) -> "Coded":
        return cls(*in_order(*codes(values)))

    @classmethod
    def of_codes(cls, values: Sequence[Any], code: Array) -> "Coded":
        """Make a column from distinct values in any order."""
        return cls(*in_order(values, code))

    @classmethod
    def of_numbers(cls, numbers: Array) -> "Coded":
        values, code = distinct(numbers)
        return cls(values.tolist(), code)

    @classmethod
    def of_columns(cls, *columns: "Coded") -> "Coded":
        """Combine columns into one of tuples of their values."""
        code = np.zeros(len(columns[0].code), dtype=np.int64)
        for column in columns:
            code = code * max(1, len(column.values)) + column.code
        values, code = distinct(code)
        rows = np.empty(len(values), dtype=np.int64)  # for each value, one row that has it
        rows[code] = np.arange(len(code))
        return cls(list(zip(*(column[rows].tolist() for column in columns), strict=True)), code)

    def renamed(self, name: Callable[[Any], Any]) -> "Coded":
        """Rename the values; `name` is called only with those that occur: a view knows only its protocol's answers."""
        used = self.in_use()
        values, at = in_order(*codes([name(value) for value in used.values]))
        return Coded(values, at[used.code] if len(at) else used.code)

    def __getitem__(self, rows: Any) -> "Coded":
        return Coded(self.values, self.code[rows])

    def tolist(self) -> list[Any]:
        return [self.values[code] for code in self.code.tolist()]

    def equals(self, value: Any) -> Array:
        found: Array = self.code == (self.values.index(value) if value in self.values else -1)
        return found

    def counts(self) -> dict[Any, int]:
        """Count how often each value occurs, leaving out those that do not."""
        times = np.bincount(self.code, minlength=len(self.values)).tolist()
        return {value: n for value, n in zip(self.values, times, strict=True) if n}

    def in_use(self) -> "Coded":
        """Keep only the values that occur."""
        used, code = distinct(self.code)
        return Coded([self.values[place] for place in used.tolist()], code)


@dataclass(frozen=True, slots=True)
class Judgments:
    """R judgments; each column has one entry per judgment, as described in `JudgmentRow`.

    `part` is (type, subtype), and the `place` of a fixed answer is 0.
    """

    task: Coded
    kind: Coded
    live: Array
    part: Coded
    slot: Array
    annotator: Array
    answer: Coded
    place: Array
    places: Array
    active_ms: Array
    counted: Array
    surplus: Array
    withdrawn: Array
    at: Array

    @classmethod
    def of(cls, rows: "Iterable[JudgmentRow] | Judgments") -> "Judgments":
        """Return rows as columns; columns are returned as they are."""
        if isinstance(rows, Judgments):
            return rows
        columns = list(zip(*rows, strict=True)) or [()] * len(JudgmentRow._fields)
        task, kind, live, type_, subtype, slot, annotator, answer, place, places, ms, *flags, at = columns
        counted, surplus, withdrawn = (np.array(flag, dtype=bool) for flag in flags)
        whole = (np.array(column, dtype=np.int64) for column in (slot, annotator, [n or 0 for n in place], places, ms))
        slots, annotators, picked, shown, times = whole
        return cls(
            Coded.of(task), Coded.of(kind), np.array(live, dtype=bool),
            Coded.of(list(zip(type_, subtype, strict=True))), slots, annotators, Coded.of(answer), picked, shown, times,
            counted, surplus, withdrawn, np.array(at, dtype=np.int64),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.at)

    def __iter__(self) -> Iterator[JudgmentRow]:
        for start in range(0, len(self), _BLOCK_SIZE):
            some = self[start : start + _BLOCK_SIZE]
            parts, places = some.part.tolist(), some.place.tolist()
            columns: list[Any] = [
                some.task, some.kind, some.live, [part[0] for part in parts], [part[1] for part in parts], some.slot,
                some.annotator, some.answer, [place or None for place in places], some.places, some.active_ms,
                some.counted, some.surplus, some.withdrawn, some.at,
            ]  # fmt: skip
            yield from map(JudgmentRow, *(one if isinstance(one, list) else one.tolist() for one in columns))

    def __getitem__(self, rows: Any) -> "Judgments":
        """Select by a slice, a mask or positions; a mask that leaves nothing out returns the same object."""
        if isinstance(rows, np.ndarray) and rows.dtype == bool and rows.all():
            return self
        return Judgments(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def is_judge(self) -> Array:
        """Return, for each, whether it is neither a check nor practice."""
        return self.kind.equals(JUDGE)

    def by_annotator(self) -> "Mapping[int, Judgments]":
        """Group by annotator, in the order given."""
        return _ByAnnotator(self)

    def ratings(self) -> RatingColumns:
        task, answer = self.task.in_use(), self.answer.in_use()
        people = Coded.of_numbers(self.annotator)
        names = list(task.values), list(people.values), list(answer.values)
        return RatingColumns(*names, task.code, people.code, answer.code)


class _ByAnnotator(Mapping[int, Judgments]):
    """Copies an annotator's judgments only on request, because copies of all would take as much memory as the stage."""

    def __init__(self, given: Judgments):
        self._given, self._rows = given, rows_by(given.annotator)

    def __getitem__(self, number: int) -> Judgments:
        return self._given[self._rows[number]]

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
