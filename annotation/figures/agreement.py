"""All agreement measures of a stage under one view of its answers, overall and broken down (measures/breakdowns.py).

Computed once per state (figures/cache.py), for the agreement page and the API.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from annotation.figures import cache
from annotation.figures.cache import LatestFigures
from annotation.figures.judgments import judgments_of
from annotation.figures.stage import options_of
from annotation.measures.agreement import RatingTable
from annotation.measures.breakdowns import Part, agreement_by
from annotation.measures.counts import HOUR, rating_table
from annotation.measures.judgments import Judgments
from annotation.measures.pairwise_kappa import kappa_matrix
from annotation.measures.stage_figures import StageRows
from annotation.measures.types import Array
from annotation.models import Slot, Stage
from annotation.pipeline.stage_rules import rule_of
from annotation.wording import pseudonym
from benchmarks.jobs.jobs import Tell, no_progress

KIND = "agreement"
_WEEK, _TO_MONDAY = 7 * 24 * HOUR, 3 * 24 * HOUR  # 1 January 1970 was a Thursday
WHO = ("annotator", "first", "second")  # keys of annotators in a row, by number


@cache.computes(KIND)
def stage_agreement(
    stage: Stage, view: str, tell: Tell = no_progress, brief: bool = False, given: StageRows | None = None
) -> dict:
    """Compute agreement of counted judgments on live tasks, with labels projected by `view` (KeyError if unknown).

    Annotators appear by pseudonym. `brief` leaves out annotators and weeks, which take longest in a large stage.
    `given` are the stage's rows, if they have been read.
    """
    rule = rule_of(stage)
    see = rule.projections()[view]
    if given is None:
        judgments = judgments_of(stage)
        standing = judgments[judgments.is_judge & judgments.counted & judgments.live]
    else:
        standing = given.standing
    table = (given.table if given else rating_table(standing)).projected(see)
    parts = parts_of(table, standing)
    if brief:
        del parts["week"]
    offered = given.options if given else options_of(stage)
    found = agreement_by(table, parts, tell, each=not brief, offered=rule.offered(view, offered))
    for name in ("annotator", "pair"):
        found[name] = [_named(row) for row in found[name]]
    square = kappa_matrix(table)
    return {"view": view, **found, "matrix": {**square, "pairs": [_named(row) for row in square["pairs"]]}}


def latest(stage: Stage, view: str, by: str = "app") -> LatestFigures:
    """Return the latest results; the worker computes those of a stage with many judgments."""
    return cache.latest(stage, KIND, view, by=by, small=cache.few_judged(Slot.objects.filter(stage=stage)))


def _named(row: dict) -> dict:
    return {key: pseudonym(value) if key in WHO else value for key, value in row.items()}


def parts_of(table: RatingTable, standing: Judgments) -> dict[str, list[Part]]:
    """Return the stage's types, subtypes and weeks, in order. An item's week is that of its last counted judgment."""
    last = np.zeros(len(standing.task.values), dtype=np.int64)
    np.maximum.at(last, standing.task.code, standing.at)
    group = np.zeros(len(last), dtype=int)
    group[standing.task.code] = standing.part.code
    places = {task: place for place, task in enumerate(standing.task.values)}
    task = np.array([places[task] for task in table.tasks], dtype=int)[table.item]  # of each rating
    group, last = group[task], last[task]
    mondays, week_of = np.unique((last + _TO_MONDAY) // _WEEK * _WEEK - _TO_MONDAY, return_inverse=True)
    subtypes = standing.part.values
    return {
        "type": _parts([part[:1] for part in subtypes], group, ("type",)),
        "subtype": _parts(subtypes, group, ("type", "subtype")),
        "week": _parts([week(at) for at in mondays.tolist()], week_of, ("week", "from")),
    }


def _parts(names: Sequence[tuple[str, ...]], code: Array, columns: Sequence[str]) -> list[Part]:
    """Make a part for each distinct name among the ratings; `code` is the position of each rating's name."""
    distinct = sorted(set(names))
    of = np.array([distinct.index(name) for name in names], dtype=int)[code]
    used = np.unique(of).tolist()
    return [Part(dict(zip(columns, distinct[place], strict=True)), of == place) for place in used]


def week(at: int) -> tuple[str, str]:
    """Return the ISO week of a moment (microseconds since 1970, UTC), and its Monday: ("2026-W10", "2026-03-02")."""
    day = datetime.fromtimestamp(at // 1_000_000, UTC).date()
    year, number, weekday = day.isocalendar()
    return f"{year}-W{number:02d}", (day - timedelta(days=weekday - 1)).isoformat()
