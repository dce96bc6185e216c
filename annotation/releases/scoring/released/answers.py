"""Answers to the items of a release, read from a file and evaluated."""

import json
import math
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from annotation.releases.scoring.released.items import Unusable, captions_of, cut_captions, require_answers, wanted_of
from benchmarks.metrics import hard_positive
from benchmarks.predictions import stored
from benchmarks.predictions.evaluators import of_family
from benchmarks.predictions.kinds import HARD_POSITIVE, NONE, RIGHT, WRONG, of_answers


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
            is_number = type(score) is float and math.isfinite(score)
            offered = (*questions[question].options, NONE, RIGHT, WRONG) if question in questions else ()
            if is_number and release.kind.scored(question):
                scores[key] = score
            elif choice in offered and (is_number or score is None):
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
    if not skip:
        require_answers([release.items[place]["id"] for place in lacking], len(release.items), "items")
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


def write_scores(path, release, scores):
    """Winnow's predictions, in the order of the items."""
    with Path(path).open("w", encoding="utf-8") as file:
        for (place, name), score in sorted(scores.items()):
            item = release.items[place]
            line = {"item": item["id"], "question": name, "score": score}
            line.update({key: item[key] for key in ("type", "subtype") if item[key]})
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def run(release, asked, load):
    """All figures, as `--json` prints them."""
    cut = None
    if asked.predictions:
        scores, choices = read_predictions(release, asked.predictions)
    else:
        wanted = [
            (place, name, what)
            for place, item in enumerate(release.items)
            for name, what in wanted_of(release, item).items()
        ]
        (scores, cut), choices = load("models").compute_scores(release, wanted, asked), {}
    records = records_of(release, scores, choices)
    if asked.predictions:
        records = complete(release, records, asked.skip_incomplete)
    if asked.out:
        write_scores(asked.out, release, scores)
    generous = records_of(release, scores, choices, ties_are_right=True)
    twice = asked.asked_in_both_orders and bool(choices)
    kind = of_answers(release.kind, 2) if twice else release.kind
    found = figures([*records.values()], kind)
    return {
        "kind": kind.name,
        "split": release.split,
        "in_both_orders": twice,
        **found,
        **cut_captions(cut, {place: item["id"] for place, item in enumerate(release.items)}, release, found["groups"]),
        "ties": stored.ties([*records.values()], [generous[place] for place in records], kind),
    }
