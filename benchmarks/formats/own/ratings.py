"""Files of imported ratings: any table, with a mapping that assigns its columns. Pure.

{"winnow": "ratings/1",
 "item": "{t2i_model}/{item_id}", "annotator": "worker_id",
 "answers": {"fit": "answer", "sure": {"from": "confidence", "values": {"1": "low", "2": "high"}}},
 "attributes": {"model": "t2i_model"}}

Places are as in `mapping`. A row has the answers of one annotator, or of several: from several places (`["rater_1",
"rater_2"]`), from a list in a cell, from an object of annotator and answer, or from lists of who gave which answer
(`{"voters": {"yes": "voted_true", "no": "voted_false"}}`; a number stands for that many people). If nothing identifies
the annotators, those of an item are numbered in the order of its rows.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.own import answer_columns, rows
from benchmarks.formats.own.answer_columns import AnswerMapping, Source, item_column, source_in, text_in, word_of
from benchmarks.formats.own.mapping import LISTED, Row, as_text, cell, column_in, columns_of, members, own_key
from benchmarks.formats.table import TableLimits
from benchmarks.records import Origin

WHOLE = "item"  # the part for attributes of the item as a whole
REFUSE, FIRST, LAST, ALL = "refuse", "first", "last", "all"  # for a second rating of an item by the same annotator
REPEATED = (
    "This annotator has already rated this item. Remove one of the two rows, state which counts (--repeated), or use "
    "a mapping to define which columns distinguish items (--mapping)."
)
MOST_VOTERS = 1_000  # for one value in one row


class Parts(dict[str, str]):
    """The place of an attribute, by part of the item."""

    @property
    def all_places(self) -> tuple[str, ...]:
        return tuple(self.values())

    def as_json(self) -> object:
        return self[WHOLE] if [*self] == [WHOLE] else dict(self)


def _by_part(value: object, where: str) -> Parts:
    given = value if isinstance(value, dict) else {WHOLE: value}
    return Parts({part: column_in(place, where) for part, place in given.items()})


@dataclass(frozen=True, slots=True)
class RatingsMapping(AnswerMapping):
    """`item`: a place; without one, each row is a separate item, named as in an import without ids. `attributes`: name
    → part of the item → place."""

    question: str = ""
    annotator: str = ""
    answers: Mapping[str, Source] = field(default_factory=dict)
    attributes: Mapping[str, Parts] = field(default_factory=dict)
    VERSION = "ratings/1"
    PLAIN = ("item", "question", "annotator")
    NAMED: ClassVar = {"answers": source_in, "attributes": _by_part}

    def lacks(self) -> str:
        return "" if self.answers else "Name at least one answer and its column in “answers”."


class Given(NamedTuple):
    """The answers of one annotator in one row; `attributes` are by part of the item, `row` is the raw row."""

    origin: Origin
    item: str
    question: str
    annotator: str
    answers: dict[str, str]
    attributes: dict[str, dict[str, Any]]
    row: Row


def read(path: Path, mapping: RatingsMapping, log: ProblemLog, at_most: TableLimits | None = None) -> Iterator[Given]:
    """Yield the ratings in the file's order."""
    with suppress(Unreadable):
        yield from given(rows.read(path, log, at_most), mapping, log)


def given(numbered: Iterable[tuple[Origin, Row]], mapping: RatingsMapping, log: ProblemLog) -> Iterator[Given]:
    """Yield the ratings in these rows; rows without an item, an annotator or any answer are incomplete (`gap`). An
    annotator named twice for one answer in a row has rated twice."""
    numbers: Counter[tuple[str, str]] = Counter()
    keys: Counter[str] = Counter()
    for origin, row in numbered:
        item, question, annotator = (text_in(row, getattr(mapping, name)) for name in mapping.PLAIN)
        item = item if mapping.item else own_key(origin, keys)
        if not item or (mapping.annotator and not annotator):
            incomplete(origin, mapping.annotator if item else mapping.item, log)
            continue
        numbers[item, question] += 1
        found: dict[str, list[dict[str, str]]] = {}
        for name, source in mapping.answers.items():
            for who, value in _answers(row, source, annotator or str(numbers[item, question]), bool(annotator)):
                ratings = found.setdefault(who, [])
                if not (rating := next((one for one in ratings if name not in one), None)):
                    ratings.append(rating := {})
                rating[name] = source.values.get(value, value)
        if not found:
            incomplete(origin, ", ".join(one for of in mapping.answers.values() for one in of.all_places), log)
        attributes = _attributes(row, mapping.attributes)
        for who, ratings in found.items():
            for answers in ratings:
                yield Given(origin, item, question, who, answers, attributes, row)


def incomplete(origin: Origin, column: str, log: ProblemLog) -> None:
    """Log a row that is skipped because it lacks a value."""
    if log.skip_incomplete:
        log.gap("VALUE_MISSING", origin.file, origin.row, column, "This cell is empty.")
    else:
        advice = "Fill in this cell, or remove the row, or skip incomplete rows (skip_incomplete)."
        log.error("VALUE_MISSING", origin.file, origin.row, column, advice)


def _answers(row: Row, source: Source, alone: str, is_named: bool) -> Iterator[tuple[str, str]]:
    """Yield (annotator, value) from a row. `alone`: the row's annotator, if it has only one."""
    number = 0
    for value, place in source.voters.items():
        found = cell(row, place)
        if isinstance(found, int | float) or (isinstance(found, str) and found.strip().isdecimal()):
            count = min(int(found), MOST_VOTERS)
            yield from ((str(number + one), value) for one in range(1, count + 1))
            number += count
        else:
            yield from ((as_text(who), value) for who in members(found))
    several = len(source.places) > 1
    for place in source.places:
        found = cell(row, place)
        if isinstance(found, dict):
            yield from ((who, as_text(one)) for who, one in found.items() if one not in (None, ""))
        elif isinstance(found, list) or (isinstance(found, str) and LISTED.fullmatch(found)):
            values = list(map(as_text, members(found)))
            yield from [(alone, ",".join(values))] if is_named else _numbered(values)
        elif found is not None:
            yield place if several else alone, as_text(found).strip()


def _numbered(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(str(number), value) for number, value in enumerate(values, 1)]


def _attributes(row: Row, attributes: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, parts in attributes.items():
        for part, place in parts.items():
            if (value := cell(row, place)) is not None:
                found.setdefault(part, {})[name] = value
    return found


# A mapping guessed from the first rows

_ANNOTATOR = re.compile(
    r"(?:annotator|rater|worker|user|participant|assessor|judge|coder|labell?er)(?:_?(?:id|name|no|number|code))?"
)
_VALUE = re.compile(
    r"(?:\w+_)?(?:answer|label|rating|score|judge?ment|vote|likert|response|choice|rank)s?|(?:human_)?scores"
)
_WIDE = re.compile(
    r"(?:annotator|rater|worker|assessor|judge|coder|annotation|rating|score|label|answer|vote|r|a)_?\d+"
)
_GROUP = "answer."  # the prefix of answers' names on crowdsourcing sites: Answer.quality
LABEL = "label"  # the only answer, if it has no other name


def guess(
    names: Sequence[str], sample: Sequence[Row] = (), wanted: Sequence[str] = (), keys: frozenset[str] = frozenset()
) -> RatingsMapping:
    """Guess a mapping for a table with these columns; without answers, or an item, if none is recognised. `wanted`: the
    answers to find; `keys`: the items' ids, if known."""
    words = {name: word_of(name) for name in names}
    annotator = next((name for name in names if _ANNOTATOR.fullmatch(words[name])), "")
    question = "question" if wanted and "question" in names and "question" not in wanted else ""
    question = "" if any(" " in text_in(row, "question") for row in sample) else question  # not the name of a task
    item = item_column(words, sample, keys)
    rest = [name for name in names if name not in (annotator, question, *columns_of(item, names))]
    return RatingsMapping(item, question, annotator, _guessed(rest, words, wanted))


def is_exact(mapping: RatingsMapping) -> bool:
    """Return whether its columns have the names that Winnow itself uses."""
    return (mapping.item, mapping.annotator) == ("item", "annotator")


def _guessed(names: Sequence[str], words: Mapping[str, str], wanted: Sequence[str]) -> dict[str, Source]:
    found = {name: Source((name,)) for name in wanted if name in names}
    found |= {
        name: Source((column,)) for name in wanted for column in names if name not in found and words[column] == name
    }
    wide = tuple(name for name in names if _WIDE.fullmatch(words[name]))
    grouped = [name for name in names if name.lower().startswith(_GROUP)]
    values = [name for name in names if _VALUE.fullmatch(words[name])]
    exact = [name for name in values if words[name] in ("label", "answer", "rating", "score")]
    if not wanted and grouped:
        return {name: Source((name,)) for name in grouped}
    if found or len(wanted) > 1:
        return found
    name = wanted[0] if wanted else LABEL
    if exact:
        return {name: Source((exact[0],))}
    if len(wide) > 1:
        return {name: Source(wide)}
    if len(values) == 1 or (values and wanted):
        return {name: Source((values[0],))}
    return {column: Source((column,)) for column in values}


def understood(path: Path, given: str, log: ProblemLog, wanted: Sequence[str] = ()) -> RatingsMapping:
    """Return a ratings file's mapping: `given` (JSON), or else the likely one, which is noted. Raises Unreadable, with
    reasons in the log, if the file has other columns, or none recognised as the answers `wanted`."""
    mapping, names = answer_columns.understood(path, given, RatingsMapping, partial(guess, wanted=wanted), log)
    there = f"The columns are {', '.join(names[:20])}."
    if not given and not mapping.item:
        _unknown(path, "item", there, log)
    needed = [] if given else wanted or ([] if mapping.answers else [LABEL])
    for name in needed:
        if name not in mapping.answers:
            _unknown(path, name, there, log)
    for name in mapping.answers.keys() - {*(wanted or mapping.answers)}:
        log.error("UNKNOWN_FIELD", path.name, None, name[:80], f"The protocol asks {', '.join(wanted)}.")
    answer_columns.refuse_missing(path, mapping, names, log)
    if not given and not is_exact(mapping):
        log.note("READ_AS", path.name, None, "", _in_words(mapping))
    return mapping


def _unknown(path: Path, name: str, there: str, log: ProblemLog) -> None:
    so = "so, or “answer” if it is the only one," if name not in RatingsMapping.PLAIN else "so"
    advice = f"No column was recognised as “{name}”. Name it {so} or identify it in a mapping (--mapping). {there}"
    log.error("COLUMN_MISSING", path.name, None, name, advice)


def _in_words(mapping: RatingsMapping) -> str:
    """Describe the columns' meanings in a sentence."""
    answers = [f"{name} from {', '.join(source.all_places)}" for name, source in mapping.answers.items()]
    who = f"annotators from {mapping.annotator}" if mapping.annotator else "annotators numbered within each item"
    return f"Read as: items from {mapping.item or 'rows'}, {who}, {'; '.join(answers)}."
