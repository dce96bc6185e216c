"""Predictions in a user's own table: a row for each item, a column for each score or choice.

{"winnow": "predictions/1", "item": "id",
 "scores": {"s(positive)": "score_pos", "s(negative)": "score_neg"},
 "choices": {"caption": {"from": "correct", "values": {"1": "right", "0": "wrong"}}}}

Without a mapping, columns are recognised by their names: `score_pos`, `s(c0,i1)`, `sim_c0_i1`. Places are as in users'
own files (benchmarks/formats/own/mapping.py).
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own import answer_columns, rows
from benchmarks.formats.own.answer_columns import AnswerMapping, Source, item_column, source_in, text_in, word_of
from benchmarks.formats.own.mapping import Row, column_in
from benchmarks.formats.table import TableLimits
from benchmarks.predictions.base import Answer, Layout, Reference
from benchmarks.predictions.kinds import KINDS, NONE, RIGHT, WRONG, Kind
from benchmarks.records import Origin

_LIMITS = TableLimits(rows=600_000, lines=2_000_000, size=2**27, things="items per file")
_EMPTY_WORDS = {"s", "score", "scores", "sim", "similarity", "logit", "logits", "clip", "itm", "vqa", "of"}
_SYNONYMS = dict.fromkeys(("pos", "true", "correct", "caption"), "positive") | dict.fromkeys(
    ("neg", "false", "foil", "hn", "wrong"), "negative"
)


def _score_in(value: object, where: str) -> Source:
    return Source((column_in(value, where),))


@dataclass(frozen=True, slots=True)
class PredictionsMapping(AnswerMapping):
    """`scores`: by the name of a score, each in one place; `choices`: by question."""

    type: str = ""
    subtype: str = ""
    scores: Mapping[str, Source] = field(default_factory=dict)
    choices: Mapping[str, Source] = field(default_factory=dict)
    VERSION = "predictions/1"
    PLAIN = ("item", "type", "subtype")
    NAMED: ClassVar = {"scores": _score_in, "choices": source_in}

    def lacks(self) -> str:
        there = self.item and (self.scores or self.choices)
        return "" if there else "Name the column of the item’s id in “item”, and at least one of “scores” or “choices”."


def guess(
    names: Sequence[str], sample: Sequence[Row], kind: Kind, keys: frozenset[str] = frozenset()
) -> PredictionsMapping:
    """Return the mapping of a table with these columns, as far as recognised: `caption` is a score only if it has
    numbers in the sample. `keys`: the items' ids, if known."""
    item = item_column({name: word_of(name) for name in names}, sample, keys)
    by_parts = {_parts(name): name for name in reversed(names) if _may_be_score(name, sample)}
    scores = {name: Source((by_parts[parts],)) for name in kind.scores if (parts := _parts(name)) in by_parts}
    kinds = {name: name if name in names else "" for name in ("type", "subtype")}
    return PredictionsMapping(item, kinds["type"], kinds["subtype"], scores)


def _may_be_score(name: str, sample: Sequence[Row]) -> bool:
    texts = [text for row in sample if (text := text_in(row, name))]
    return bool(_EMPTY_WORDS & {*_words(name)}) or all(math.isfinite(_number(text)) for text in texts)


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z]+-\d+|[a-z]+\d*", name.lower())


def _parts(name: str) -> frozenset[str]:
    """Return what a score compares, ignoring the rest of its name: {c0, i1} for `s(c0,i1)` and `sim_c0_i1`."""
    return frozenset(_SYNONYMS.get(word, word) for word in _words(name) if word not in _EMPTY_WORDS)


def is_recognised(path: Path, kind: Kind) -> bool:
    """Return whether the file has an id and all scores of some question of the kind in clearly named columns."""
    try:
        sample = rows.first_rows(path, ProblemLog())
        found = guess(rows.columns(sample), sample, kind)
    except OSError:
        return False
    asked = kind.family.questions.values() if kind.family else ()
    return bool(found.item) and any(all(name in found.scores for pair in pairs for name in pair) for pairs in asked)


def _understood(path: Path, mapping: str, kind: Kind, log: ProblemLog) -> PredictionsMapping:
    """Return the mapping. Raises Unreadable."""
    found, names = answer_columns.understood(path, mapping, PredictionsMapping, partial(guess, kind=kind), log)
    for called, given, known in (("Scores", found.scores, kind.scores), ("Questions", found.choices, kind.questions)):
        for name in given.keys() - {*known}:
            advice = f"{called} of {kind.name} are called {', '.join(known)}."
            log.error("WRONG_VALUE", path.name, None, name[:80], advice)
    answer_columns.refuse_missing(path, found, names, log)
    return found


def read_answers(path: Path, log: ProblemLog, kind: Kind, mapping: str = "") -> Iterator[Answer]:
    yield from answers_in(rows.read(path, log, _LIMITS), _understood(path, mapping, kind, log), kind, log)


def answers_in(
    numbered: Iterable[tuple[Origin, Row]], how: PredictionsMapping, kind: Kind, log: ProblemLog
) -> Iterator[Answer]:
    for origin, row in numbered:
        item, *kinds = (text_in(row, getattr(how, name)) for name in how.PLAIN)
        if not item:
            log.error("VALUE_MISSING", origin.file, origin.row, how.item, "Write the item’s id here.")
            continue
        about = partial(Answer, Reference(item), type=kinds[0], subtype=kinds[1], origin=origin)
        for name, (place,) in ((name, of.places) for name, of in how.scores.items()):
            if (score := _score(row, place, origin, log)) is not None:
                yield about(name, score=score)
        for name, source in how.choices.items():
            yield from _chosen(about, row, name, source, kind, log)


def _score(row: Row, place: str, origin: Origin, log: ProblemLog) -> float | None:
    text = text_in(row, place)
    if not text:
        return None  # the item is then incomplete
    if math.isfinite(score := _number(text)):
        return score
    log.error("WRONG_VALUE", origin.file, origin.row, place, "Write a finite number.")
    return None


def _number(text: str) -> float:
    with suppress(ValueError):
        return float(text)
    return math.nan


def options_of(kind: Kind, question: str) -> tuple[str, ...]:
    """Return what a table may have as the answer to a question."""
    return (*kind.questions[question].options, NONE, RIGHT, WRONG)


def _chosen(
    about: Callable[..., Answer], row: Row, name: str, source: Source, kind: Kind, log: ProblemLog
) -> Iterator[Answer]:
    options = options_of(kind, name)
    for place in source.places:
        if said := text_in(row, place):
            said = source.values.get(said, said)
            if said in options:
                yield about(name, choice=said)
            else:
                made = about(name)
                advice = f"Choose one of {', '.join(options)}, or map this value to one of them."
                log.error("WRONG_VALUE", made.origin.file, made.origin.row, place, advice)


TAKEN = tuple(name for name, kind in KINDS.items() if kind.family)


def layout(mapping: str = "") -> Layout:
    return Layout("columns", "A table of your own", TAKEN, rows.TABLES, partial(read_answers, mapping=mapping))
