"""Every agreement measure of a stage under one view of its answers, whole and broken down (measures/breakdowns.py).

Computed once per state (figures/cache.py), for the agreement page and the API.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from annotation.figures import cache
from annotation.figures.cache import Reckoned
from annotation.figures.stage import judgment_rows
from annotation.measures import agreement
from annotation.measures.agreement import RatingTable
from annotation.measures.breakdowns import Part, agreement_by
from annotation.measures.counts import JudgmentRow, TaskKey
from annotation.models import Kind, Slot, Stage
from annotation.pipeline.outcomes import rule_of
from annotation.wording import pseudonym
from benchmarks.jobs.jobs import Tell, silent

KIND = "agreement"
PROMPT = 2000  # up to this many judgments, the request computes them itself
WHO = ("annotator", "first", "second")  # of a row: annotators, by their numbers


@cache.reckons(KIND)
def stage_agreement(stage: Stage, view: str, tell: Tell = silent, brief: bool = False) -> dict:
    """Agreement of the counted judgments on live tasks, with labels as `view` projects them (KeyError if unknown).

    Annotators appear by pseudonym. `brief` leaves out annotators and weeks, which take longest in a large stage.
    """
    see = rule_of(stage).projections()[view]
    rows = [row for row in judgment_rows(stage) if row.kind == Kind.JUDGE and row.counted and row.live]
    table = RatingTable((row.task, row.annotator, row.answer) for row in rows).projected(see)
    parts = parts_of(table, rows)
    if brief:
        del parts["week"]
    found = agreement_by(table, parts, tell, each=not brief)
    for name in ("annotator", "pair"):
        found[name] = [_named(row) for row in found[name]]
    square = agreement.kappa_matrix(table)
    return {"view": view, **found, "matrix": {**square, "pairs": [_named(row) for row in square["pairs"]]}}


def look(stage: Stage, view: str, by: str = "app") -> Reckoned:
    """The latest figures; a stage with many judgments is left to the worker."""
    most = min(PROMPT, cache.SMALL)
    judged = Slot.objects.filter(stage=stage).exclude(judgment=None).values("pk")[: most + 1]
    return cache.look(stage, KIND, view, by=by, small=len(judged) <= most)


def _named(row: dict) -> dict:
    return {key: pseudonym(value) if key in WHO else value for key, value in row.items()}


def parts_of(table: RatingTable, rows: Sequence[JudgmentRow]) -> dict[str, list[Part]]:
    """The stage's types, subtypes and weeks, in their order. An item's week is that of its last counted judgment."""
    kinds = {row.task: (row.type, row.subtype) for row in rows}
    last: dict[TaskKey, int] = defaultdict(int)
    for row in rows:
        last[row.task] = max(last[row.task], row.at)
    weeks = {task: week(at) for task, at in last.items()}
    return {
        "type": _parts(table, lambda task: kinds[task][:1], ("type",)),
        "subtype": _parts(table, lambda task: kinds[task], ("type", "subtype")),
        "week": _parts(table, weeks.__getitem__, ("week", "from")),
    }


def _parts(table: RatingTable, part_of: Callable[[TaskKey], tuple[str, ...]], names: Sequence[str]) -> list[Part]:
    groups: Mapping[tuple, list[int]] = defaultdict(list)
    for place, task in enumerate(table.tasks):
        groups[part_of(task)].append(place)
    return [
        Part(dict(zip(names, group, strict=True)), np.isin(table.item, places))
        for group, places in sorted(groups.items())
    ]


def week(at: int) -> tuple[str, str]:
    """The ISO week of a moment (microseconds since 1970) in UTC, and its Monday: ("2026-W10", "2026-03-02")."""
    day = datetime.fromtimestamp(at // 1_000_000, UTC).date()
    year, number, weekday = day.isocalendar()
    return f"{year}-W{number:02d}", (day - timedelta(days=weekday - 1)).isoformat()
