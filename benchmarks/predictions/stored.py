"""Turning stored predictions into records for metrics, and computing scores as plain numbers. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from benchmarks.metrics.base import TIED, Figure, Mean, Typed, beats
from benchmarks.predictions.evaluators import EVALUATORS, Evaluation
from benchmarks.predictions.kinds import ARO, HARD_POSITIVE, NONE, RIGHT, Kind

ItemTypes = Mapping[int, tuple[str, str]]  # item → type and subtype
ItemCaptions = Mapping[int, Mapping[str, str]]  # item → its first caption of each role


@dataclass(frozen=True, slots=True)
class Column:
    """The answers under one name: items with as many scores or choices; the other of these is None."""

    items: Sequence[int]
    scores: Sequence[float | None]
    choices: Sequence[str | None]


def records(
    columns: Mapping[str, Column], items: ItemTypes, kind: Kind, captions: ItemCaptions | None = None,
    ties_are_right: bool = False,
) -> list[Typed]:  # fmt: skip
    """Return a record for each item with any answer, in the order of `items`. Missing answers are None: a measure uses
    the items that have all it needs, and reports how many. `captions`: for kinds that need them; measures from them
    (VISLA's halves of T2T) never count a tie as right. A choice of none is a tie either way."""
    order = answered(columns, items)
    places = {item: place for place, item in enumerate(order)}
    scores = {name: _scores_by_place(column, places) for name, column in columns.items() if name in kind.scores}
    found = {name: _verdicts(name, columns, scores, places, kind, ties_are_right) for name in kind.questions}
    more = _from_captions(scores, [(captions or {}).get(item, {}) for item in order], kind)
    if kind.measured.notes_ties:
        level = _tied(columns, {} if ties_are_right else scores, places, kind)
        more = [{**one, TIED: is_level} for one, is_level in zip(more, level, strict=True)]
    rows = zip(order, more, *found.values(), strict=True)
    record, names = kind.measured.record, tuple(found)
    return [
        record(**dict(zip(names, said, strict=True)), **further, type=items[item][0], subtype=items[item][1])
        for item, further, *said in rows
    ]


def answered(columns: Mapping[str, Column], items: Iterable[int]) -> list[int]:
    """Return the items with any answer, in order: those of `records`."""
    there = {item for column in columns.values() for item in column.items}
    return [item for item in items if item in there]


def _from_captions(
    scores: Mapping[str, np.ndarray], captions: Sequence[Mapping[str, str]], kind: Kind
) -> list[dict[str, bool]]:
    """Return, by position, what follows from an item's scores and captions."""
    derive = kind.measured.from_captions
    if derive is None:
        return [{} for _ in captions]
    there = [
        {name: of[place] for name, of in scores.items() if not np.isnan(of[place])} for place in range(len(captions))
    ]
    return [derive(*one) for one in zip(there, captions, strict=True)]


def _tied(
    columns: Mapping[str, Column], scores: Mapping[str, np.ndarray], places: Mapping[int, int], kind: Kind
) -> list[bool]:
    """Return by position whether two compared scores are equal, or a choice is not one of the options."""
    equal = kind.measured.tied(scores)
    found = [False] * len(places) if equal is None else equal.tolist()
    for column in (columns[name] for name in kind.questions if name in columns):
        for item, choice in zip(column.items, column.choices, strict=True):
            found[places[item]] |= choice == NONE
    return found


def _scores_by_place(column: Column, places: Mapping[int, int]) -> np.ndarray:
    """Return scores by position, shape (number of positions,); NaN if missing. A stored NaN counts as missing."""
    found = np.full(len(places), np.nan)
    found[[places[item] for item in column.items]] = [np.nan if one is None else one for one in column.scores]
    return found


def _verdicts(
    name: str, columns: Mapping[str, Column], scores: Mapping[str, np.ndarray], places: Mapping[int, int], kind: Kind,
    ties_are_right: bool,
) -> list[bool | None]:  # fmt: skip
    """Return by position right, not right, or None if unanswered. A choice takes precedence over scores."""
    pairs = kind.measured.questions[name]
    found: list[bool | None] = [None] * len(places)
    right = beats(scores, pairs, ties_are_right)  # NaN beats nothing, but is not wrong either: it is missing
    if right is not None:
        there = np.logical_and.reduce([~np.isnan(scores[one]) for pair in pairs for one in pair])
        found = [bool(one) if is_there else None for one, is_there in zip(right, there, strict=True)]
    if name in columns:
        meant = (kind.questions[name].right, RIGHT)
        for item, choice in zip(columns[name].items, columns[name].choices, strict=True):
            found[places[item]] = choice in meant
    return found


def summarize(found: Sequence[Typed], kind: Kind) -> dict[str, Any]:
    """Return `n` items, `measures` by name, `groups` by type and subtype (None: whole type), `notes`; JSON-able."""
    evaluation = EVALUATORS[kind.name](found, kind)
    measures = {**evaluation.figures, **_nested(evaluation, "subsets")}
    groups = [
        {"type": group.type, "subtype": group.subtype, "measures": _figure_rows(group.measures)}
        for group in evaluation.groups
    ]
    return {
        "n": len(found),
        "measures": _figure_rows(measures),
        "groups": [*groups, *_nested_groups(evaluation)],
        "notes": list(evaluation.notes),
    }


def have_ties(columns: Mapping[str, Column], items: Iterable[int], kind: Kind) -> bool:
    """Return whether two scores that a question compares are equal, for any item."""
    places = {item: place for place, item in enumerate(answered(columns, items))}
    scores = {name: _scores_by_place(column, places) for name, column in columns.items() if name in kind.scores}
    return bool(np.any(kind.measured.tied(scores)))


def ties(found: Sequence[Typed], generous: Sequence[Typed], kind: Kind) -> dict[str, Any]:
    """Return the effect of ties, given records that count ties as wrong and as right (`generous`): how many `items`,
    and by measure the share with ties right, if it differs. Empty without ties.
    """
    items = sum(one != other for one, other in zip(found, generous, strict=True))
    if not items:
        return {}
    here, there = (summarize(one, kind)["measures"] for one in (found, generous))
    shares = {name: of["share"] for name, of in there.items() if of["share"] != here[name]["share"]}
    return {"items": items, "measures": shares}


def _nested(evaluation: Evaluation, name: str) -> Mapping[str, Figure | Mean]:
    """Return the scores that a kind has under a separate name; none if it has no such part."""
    return cast("Mapping[str, Figure | Mean]", evaluation.parts.get(name, {}))


def _figure_rows(figures: Mapping[str, Figure | Mean]) -> dict[str, dict[str, Any]]:
    return {name: asdict(figure) for name, figure in figures.items()}


def _nested_groups(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield the scores that a kind nests under its own names, as groups: ARO's relations, means of subtypes."""
    if evaluation.kind == ARO.name:
        for part, type in (("relations", "relation"), ("attribute_pairs", "attribution"), ("order_tasks", "order")):
            for name, figure in _nested(evaluation, part).items():
                yield {"type": type, "subtype": name, "measures": {type: asdict(figure)}}
    elif evaluation.kind == HARD_POSITIVE.name:
        by_type = cast("Mapping[str, Mapping[str, Mean]]", evaluation.parts["mean_of_subtypes"])
        for type, means in by_type.items():
            yield {"type": type, "subtype": "mean of subtypes", "measures": _figure_rows(means)}
