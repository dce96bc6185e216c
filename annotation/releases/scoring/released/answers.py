"""Answers to the items of a release, read from a file and evaluated."""

import json
import math
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from annotation.releases.scoring.released import items
from annotation.releases.scoring.released.items import Cut, Unusable, as_json, captions_of, require_answers, wanted_of
from benchmarks.metrics import hard_positive
from benchmarks.metrics.sugarcrepe import SUBSETS
from benchmarks.predictions import stored
from benchmarks.predictions.cut_captions import CUT, READ_ALIKE, listed
from benchmarks.predictions.evaluators import of_family
from benchmarks.predictions.item_figures import figures_of
from benchmarks.predictions.kinds import HARD_POSITIVE, NONE, RIGHT, WRONG, of_answers

MEAN = "mean of subtypes"


def read_predictions(release, path):
    """Scores, and choices, each under (item's place, name); and what is known of cut captions, if anything is."""
    questions, places = release.kind.questions, {item["id"]: place for place, item in enumerate(release.items)}
    scores, choices, alike, cut = {}, {}, set(), set()
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
            if answer.get(CUT) is True:
                cut.add(places[item])
            if answer.get(READ_ALIKE) is True:
                alike.add(places[item])
                continue
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
    if both := {release.items[place]["id"] for place, _ in {**scores, **choices} if place in alike}:
        raise Unusable(f"{path}: these items are answered, and marked as {READ_ALIKE}: {listed(sorted(both))}.")
    return scores, choices, Cut(sorted(cut) or None, sorted(alike)) if cut or alike else None


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


def complete(release, records, alike, skip):
    """The records of the items that lack no answer that another item of their type has. Those that the model reads
    `alike` have none."""
    needed = {name for measure in release.kind.measured.measures.values() for name in measure.needs}
    asked = defaultdict(set)
    for record in records.values():
        asked[record.type] |= {name for name in needed if getattr(record, name) is not None}
    whole = {
        place: record
        for place, record in records.items()
        if asked[record.type] and all(getattr(record, name) is not None for name in asked[record.type])
    }
    if not skip:
        known = {*whole, *alike}
        lacking = [item["id"] for place, item in enumerate(release.items) if place not in known]
        require_answers(lacking, len(release.items), "items")
    return whole


def figures(records, kind, alike=()):
    """`measures`: the kind's figures over all items; `groups`: every measure by type and subtype, without subsets that
    have a measure. Each figure counts the items that it leaves out of those that the model reads `alike`, of which
    these are records.
    """
    found, own, asked = of_family(records, kind), figures_of(kind), [*records, *alike]
    subsets = {name for name in SUBSETS if name in own and any(map(own[name].covers, asked))}
    by_type = kind.measured.by_type(asked)  # records without answers count in no measure
    groups = [
        (one.type, one.subtype, one.measures)
        for one in by_type
        if (one.type or one.subtype) and one.subtype != "" and not {one.type, one.subtype} & subsets
    ]
    if kind.name == HARD_POSITIVE.name:
        means = hard_positive.means_of_subtypes(by_type)
        groups += [(type, MEAN, measures) for type, measures in means.items()]
    return {
        "n": found.n,
        "measures": {name: _row(one, map(own[name].covers, alike)) for name, one in found.figures.items()},
        "groups": [
            {"type": type, "subtype": subtype, "measures": {name: _row(one, left) for name, one in measures.items()}}
            for type, subtype, measures in groups
            for left in [[type == one.type and subtype in (None, MEAN, one.subtype) for one in alike]]
        ],
    }


def _row(figure, left_out):
    return {**asdict(figure), READ_ALIKE: sum(left_out)}


def write_scores(path, release, scores, cut):
    """Winnow's predictions, in the order of the items, each of which has the mark of cut captions once."""
    places, alike = ({*some} for some in (cut.places or (), cut.alike)) if cut else (set(), set())
    with Path(path).open("w", encoding="utf-8") as file:
        given = [(place, {"question": name, "score": score}) for (place, name), score in sorted(scores.items())]
        given += [(place, {READ_ALIKE: True}) for place in alike]
        for place, answer in sorted(given, key=lambda one: one[0]):
            item = release.items[place]
            line = {"item": item["id"], **answer, **({CUT: True} if place in places else {})}
            places.discard(place)
            line.update({key: item[key] for key in ("type", "subtype") if item[key]})
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def run(release, asked, load):
    """All figures, as `--json` prints them."""
    if asked.predictions:
        scores, choices, cut = read_predictions(release, asked.predictions)
    else:
        wanted = [
            (place, name, what)
            for place, item in enumerate(release.items)
            for name, what in wanted_of(release, item).items()
        ]
        (scores, cut), choices = load("models").compute_scores(release, wanted, asked), {}
    alike = cut.alike if cut else []
    records = records_of(release, scores, choices)
    if asked.predictions:
        records = complete(release, records, alike, asked.skip_incomplete)
    if asked.out:
        write_scores(asked.out, release, scores, cut)
    generous = records_of(release, scores, choices, ties_are_right=True)
    twice = asked.asked_in_both_orders and bool(choices)
    kind = of_answers(release.kind, 2) if twice else release.kind
    left_out = [release.items[place] for place in alike]
    left_out = [kind.measured.record(type=item["type"], subtype=item["subtype"]) for item in left_out]
    return {
        "kind": kind.name,
        "split": release.split,
        "in_both_orders": twice,
        **figures([*records.values()], kind, left_out),
        "cut": as_json(cut, lambda place: release.items[place]["id"]),
        "ties": stored.ties([*records.values()], [generous[place] for place in records], kind),
        "notes": [items.NO_CUT] if asked.functions and cut is None else [],
    }
