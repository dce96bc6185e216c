"""The page of a human baseline: its scores with labels, and the positions of the marks in its chart.

Positions are in percent of the chart's width.
"""

from collections.abc import Iterator, Sequence

from annotation.figures.cache import hashed
from annotation.figures.human_baseline import baselines
from annotation.measures.over_annotators import FEW, ITEMS
from annotation.models import StageState, Study
from benchmarks.metrics.bivlc import MEASURES, QUESTIONS
from benchmarks.predictions.kinds import BIVLC
from benchmarks.predictions.names import NAMES

ROW = 26  # pixels
COMPOSITES, SINGLES = ("i2t", "t2i", "group"), QUESTIONS
WORDS = {named.name: (named.short, named.long) for named in NAMES[BIVLC.name]}
HEADS = {"composites": [WORDS[name] for name in COMPOSITES], "singles": [WORDS[name] for name in SINGLES]}


def contents(study: Study) -> dict:
    """Return everything that the page shows. `seen` changes when any of it does."""
    found = baselines(study)
    # Stages that a measuring stage waits for, because its sample is drawn when they close.
    sources = study.stages.filter(state=StageState.OPEN, takers__sample__isnull=False).distinct().order_by("position")
    return {
        "study": study,
        "baselines": [{**one, **tables(one)} for one in found],
        "waits_for": list(sources) if any(not one["questions"] for one in found) else [],
        **HEADS,
        "seen": hashed((found, str(study.state))),
    }


def tables(one: dict) -> dict:
    """Return the chart and its table, then tables of the composite measures and of single questions. `over_items`:
    whether an interval is not over annotators; `few_annotators`: whether there are too few to rely on an interval over
    them.
    """
    measures = [one["measures"], *(row["measures"] for row in one["by_type"])]
    return {
        "over_items": any(found["over"] == ITEMS for of in measures for found in of.values()),
        "few_annotators": 0 < len(one["annotators"]) < FEW,
        "rows": list(_rows(one["measures"])),
        "types": [_cells(row, COMPOSITES) for row in one["by_type"]],
        "types_single": [_cells(row, SINGLES) for row in one["by_type"]],
        "people": [_cells(row, COMPOSITES) for row in one["annotators"]],
        "people_single": [_cells(row, SINGLES) for row in one["annotators"]],
    }


def _rows(measures: dict) -> Iterator[dict]:
    """Return a row for each measure, for the table and the chart."""
    for number, name in enumerate(MEASURES):
        found = measures[name]
        ends = {"x": found["share"], "from": found["low"], "to": found["high"], "chance_x": found["chance"]}
        places = {end: None if value is None else round(100 * value, 3) for end, value in ends.items()}
        short, long = WORDS[name]
        yield {**found, **places, "short": short, "long": long, "y": ROW * number + ROW // 2, "top": ROW * number + 5}


def _cells(row: dict, names: Sequence[str]) -> dict:
    return {**row, "cells": [row["measures"][name] for name in names]}
