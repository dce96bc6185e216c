"""Predictions in a table of one's own: a row for each item, a column for each score or choice.

{"winnow": "predictions/1", "item": "id",
 "scores": {"s(positive)": "score_pos", "s(negative)": "score_neg"},
 "choices": {"caption": {"from": "correct", "values": {"1": "right", "0": "wrong"}}}}

Without a mapping, columns are recognised by their names: `score_pos`, `s(c0,i1)`, `sim_c0_i1`. Places are those of
files of one's own (benchmarks/formats/own/mapping.py).
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.own import rows
from benchmarks.formats.own.answer_columns import (
    Source,
    given_mapping,
    item_column,
    refuse_missing,
    source_in,
    text_in,
    word_of,
)
from benchmarks.formats.own.format import first_rows
from benchmarks.formats.own.mapping import NotAMapping, Row, column_in, mapping_in, mapping_json
from benchmarks.formats.table import TableLimits
from benchmarks.predictions.base import Answer, Layout, Reference
from benchmarks.predictions.kinds import KINDS, NONE, RIGHT, WRONG, Kind
from benchmarks.records import Origin

VERSION = "predictions/1"
_LIMITS = TableLimits(rows=600_000, lines=2_000_000, size=2**27, things="items per file")
_PLAIN = ("item", "type", "subtype")
_EMPTY_WORDS = {"s", "score", "scores", "sim", "similarity", "logit", "logits", "clip", "itm", "vqa", "of"}
_SYNONYMS = dict.fromkeys(("pos", "true", "correct", "caption"), "positive") | dict.fromkeys(
    ("neg", "false", "foil", "hn", "wrong"), "negative"
)


@dataclass(frozen=True, slots=True)
class PredictionsMapping:
    """`scores`: name of a score → place; `choices`: question → its source."""

    item: str = ""
    scores: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Source] = field(default_factory=dict)
    type: str = ""
    subtype: str = ""

    def places(self) -> Iterator[str]:
        yield from filter(None, (self.item, self.type, self.subtype))
        yield from self.scores.values()
        for source in self.choices.values():
            yield from source.all_places

    def as_json(self) -> dict[str, Any]:
        choices = {name: source.as_json() for name, source in self.choices.items()}
        found = {name: getattr(self, name) for name in _PLAIN} | {"scores": dict(self.scores), "choices": choices}
        return {"winnow": VERSION} | {name: value for name, value in found.items() if value}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Raises NotAMapping."""
        given = mapping_in(value, VERSION, {*_PLAIN, "scores", "choices"})
        plain = {name: column_in(given[name], name) for name in _PLAIN if name in given}
        scores, choices = given.get("scores", {}), given.get("choices", {})
        if not isinstance(scores, dict) or not isinstance(choices, dict):
            raise NotAMapping("Write scores and choices as objects: {…}.")
        if not (scores or choices) or "item" not in plain:
            raise NotAMapping("Name the column of the item’s id in “item”, and at least one of “scores” or “choices”.")
        return cls(
            scores={name: column_in(place, f"scores, {name}") for name, place in scores.items()},
            choices={name: source_in(of, f"choices, {name}") for name, of in choices.items()},
            **plain,
        )


def read_mapping(text: str) -> PredictionsMapping:
    """Raises NotAMapping."""
    return PredictionsMapping.from_json(mapping_json(text))


def guess(names: Sequence[str], kind: Kind) -> PredictionsMapping | None:
    """The mapping of a table with these columns; None unless it has an id and every score of some question."""
    item = item_column({name: word_of(name) for name in names})
    by_parts = {_parts(name): name for name in reversed(names)}
    scores = {name: by_parts[parts] for name in kind.scores if (parts := _parts(name)) in by_parts}
    asked = kind.family.questions.values() if kind.family else ()
    if not item or not any(all(name in scores for pair in pairs for name in pair) for pairs in asked):
        return None
    kinds = {name: name if name in names else "" for name in ("type", "subtype")}
    return PredictionsMapping(item, scores, type=kinds["type"], subtype=kinds["subtype"])


def _parts(name: str) -> frozenset[str]:
    """What a score is of, whatever its name adds: {c0, i1} of `s(c0,i1)` and `sim_c0_i1`."""
    found = re.findall(r"[a-z]+-\d+|[a-z]+\d*", name.lower())
    return frozenset(_SYNONYMS.get(word, word) for word in found if word not in _EMPTY_WORDS)


def is_recognised(path: Path, kind: Kind) -> bool:
    """Whether the file has the scores of the kind in columns whose names say so."""
    try:
        return guess(rows.columns(first_rows(path, ProblemLog())), kind) is not None
    except OSError:
        return False


def _understood(path: Path, mapping: str, kind: Kind, log: ProblemLog) -> PredictionsMapping:
    """Raises Unreadable."""
    sample = first_rows(path, log)
    names = rows.every_column(sample)
    found = given_mapping(path, mapping, read_mapping, log) if mapping else guess(names, kind)
    if found is None or log.count:
        raise Unreadable
    for name in found.scores.keys() - {*kind.scores}:
        advice = f"Scores of {kind.name} are called {', '.join(kind.scores)}."
        log.error("WRONG_VALUE", path.name, None, name[:80], advice)
    for name in found.choices.keys() - kind.questions.keys():
        advice = f"Questions of {kind.name} are {', '.join(kind.questions)}."
        log.error("WRONG_VALUE", path.name, None, name[:80], advice)
    refuse_missing(path, found, names, log)
    return found


def read_answers(path: Path, log: ProblemLog, kind: Kind, mapping: str = "") -> Iterator[Answer]:
    how = _understood(path, mapping, kind, log)
    for origin, row in rows.read(path, log, _LIMITS):
        item, *kinds = (text_in(row, getattr(how, name)) for name in _PLAIN)
        if not item:
            log.error("VALUE_MISSING", origin.file, origin.row, how.item, "Write the item’s id here.")
            continue
        about = partial(Answer, Reference(item), type=kinds[0], subtype=kinds[1], origin=origin)
        for name, place in how.scores.items():
            if (score := _score(row, place, origin, log)) is not None:
                yield about(name, score=score)
        for name, source in how.choices.items():
            yield from _chosen(about, row, name, source, kind, log)


def _score(row: Row, place: str, origin: Origin, log: ProblemLog) -> float | None:
    text = text_in(row, place)
    if not text:
        return None  # the item is then incomplete
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if math.isfinite(score):
        return score
    log.error("WRONG_VALUE", origin.file, origin.row, place, "Write a finite number.")
    return None


def _chosen(
    about: Callable[..., Answer], row: Row, name: str, source: Source, kind: Kind, log: ProblemLog
) -> Iterator[Answer]:
    options = (*kind.questions[name].options, NONE, RIGHT, WRONG)
    for place in source.places:
        if said := text_in(row, place):
            said = source.values.get(said, said)
            if said in options:
                yield about(name, choice=said)
            else:
                made = about(name)
                advice = f"Choose one of {', '.join(options)}, or say in the mapping which value is which."
                log.error("WRONG_VALUE", made.origin.file, made.origin.row, place, advice)


TAKEN = tuple(name for name, kind in KINDS.items() if kind.family)


def layout(mapping: str = "") -> Layout:
    return Layout("columns", "A table of your own", TAKEN, rows.TABLES, partial(read_answers, mapping=mapping))
