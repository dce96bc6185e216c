"""Answers to the items of a release, read from a file and evaluated."""

import json
import math
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from annotation.releases.scoring.released.items import Unusable, captions_of
from benchmarks.metrics import hard_positive
from benchmarks.predictions import stored
from benchmarks.predictions.evaluators import of_family
from benchmarks.predictions.kinds import HARD_POSITIVE, NONE, RIGHT, WRONG

LISTED = 10


def read_predictions(release, path):
    """Scores, and choices, each under (item's place, name)."""
    questions, places = release.kind.questions, {item["id"]: place for place, item in enumerate(release.items)}
    scores, choices = {}, {}
    with Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                answer = json.loads(line)
                item, question, score, choice = (answer.get(key) for key in ("item", "question", "score", "choice"))
                hash(question)
                score = float(score) if type(score) is int else score
            except (ValueError, AttributeError, TypeError, OverflowError, RecursionError):
                raise Unusable(f"{path}, line {number}: not a JSON object.") from None
            if not isinstance(item, str) or item not in places:
                raise Unusable(f"{path}, line {number}: the split {release.split} has no item {item!r}.")
            key = places[item], question
            if key in scores or key in choices:
                raise Unusable(f"{path}, line {number}: {question} of {item} is answered twice.")
            if type(score) in (int, float) and release.kind.scored(question) and math.isfinite(score):
                scores[key] = float(score)
            elif question in questions and choice in (*questions[question].options, NONE, RIGHT, WRONG):
                choices[key] = choice
            else:
                raise Unusable(f"{path}, line {number}: no score or option of a question of this release.")
    return scores, choices


def columns_of(scores, choices):
    """By name, from scores and choices under (item's place, name)."""
    rows = defaultdict(list)
    for place, name in sorted({*scores, *choices}):
        rows[name].append((place, scores.get((place, name)), choices.get((place, name))))
    return {name: stored.Column(*zip(*own, strict=True)) for name, own in rows.items()}


def records_of(release, scores, choices, ties_are_right=False):
    """Item's place → the record of its answers; of the items that have any."""
    columns = columns_of(scores, choices)
    types = {place: (item["type"], item["subtype"]) for place, item in enumerate(release.items)}
    captions = {
        place: {role: text for (role, number), text in captions_of(item).items() if number == 0}
        for place, item in enumerate(release.items)
    }
    records = stored.records(columns, types, release.kind, captions, ties_are_right)
    return dict(zip(stored.answered(columns, types), records, strict=True))


def complete(release, records, skip):
    """The records of the items that lack no answer that another item of their type has."""
    needed = {name for measure in release.kind.measured.measures.values() for name in measure.needs}
    asked = defaultdict(set)
    for record in records.values():
        asked[record.type] |= {name for name in needed if getattr(record, name) is not None}
    lacking = [
        place
        for place, item in enumerate(release.items)
        if place not in records
        or not asked[item["type"]]
        or any(getattr(records[place], name) is None for name in asked[item["type"]])
    ]
    if lacking and not skip:
        named = ", ".join(release.items[place]["id"] for place in lacking[:LISTED])
        raise Unusable(
            f"{len(lacking):,} of {len(release.items):,} items lack answers: {named}. A model that answers only the "
            "easy items would look better than it is. Answer all, or give --skip-incomplete."
        )
    left_out = set(lacking)
    return {place: record for place, record in records.items() if place not in left_out}


def figures(records, kind):
    """`measures`: the kind's figures over all items; `groups`: every measure by type and subtype."""
    found = of_family(records, kind)
    groups = [(group.type, group.subtype, group.measures) for group in found.groups]
    if kind.name == HARD_POSITIVE.name:
        means = hard_positive.means_of_subtypes(found.groups)
        groups += [(type, "mean of subtypes", measures) for type, measures in means.items()]
    return {
        "n": found.n,
        "measures": _rows(found.figures),
        "groups": [
            {"type": type, "subtype": subtype, "measures": _rows(measures)} for type, subtype, measures in groups
        ],
    }


def _rows(figures):
    return {name: asdict(figure) for name, figure in figures.items()}
