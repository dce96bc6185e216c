"""A stage's statistics, computed from its rows: outcomes, types, annotators, pace and cost.

figures/stage.py reads the rows from the database. docs/reference/measures.md defines every statistic.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from annotation.measures import over_annotators, warning_signs
from annotation.measures.agreement import RatingTable
from annotation.measures.agreement_measures import BY_KEY, Compared, measured, overview_on
from annotation.measures.breakdowns import on_scale
from annotation.measures.judgments import JudgmentRow, Judgments, TaskKey
from annotation.measures.label_scale import categories, label_scale
from annotation.measures.pay import Pay
from annotation.measures.types import Array, Figures
from annotation.measures.warning_signs import Sign, Usual
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.decision_rule import DROPPED, KEPT
from annotation.wording import pseudonym

BINS = 60  # at most this many bins in the series of judgments over time
_WIDTHS = (1, 5, 15, 60, 360, 1440, 10080)  # minutes
HOUR = 3_600_000_000  # microseconds
RATE_HOURS, RATE_JUDGMENTS = 1 / 6, 10  # the shortest time and the fewest judgments for a rate per hour
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING_JUDGED = "nothing is judged yet"


class TaskRow(NamedTuple):
    """A live task and its outcome. `state` (kept, dropped) is None while the task is open; `by`: how it was settled."""

    task: TaskKey
    type: str
    subtype: str
    overlap: int
    state: str | None
    reason: str | None
    by: str | None


def iso_time(at: int | None) -> str | None:
    return None if at is None else (EPOCH + timedelta(microseconds=at)).isoformat()


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def outcome_counts(asked: Collection[TaskRow]) -> Figures:
    """Count tasks by outcome: kept + dropped + open = tasks, and the reasons add up to dropped.

    `kept_share` is kept / (kept + dropped), None if both are 0.
    """
    states = Counter(task.state for task in asked)
    settled = states[KEPT] + states[DROPPED]
    return {
        "tasks": len(asked),
        "kept": states[KEPT],
        "dropped": states[DROPPED],
        "open": len(asked) - settled,
        "reasons": _sorted(Counter(task.reason for task in asked if task.state == DROPPED)),
        "decided_by": _sorted(Counter(task.by for task in asked if task.state)),
        "kept_share": ratio(states[KEPT], settled),
    }


def _sorted(counts: Counter[Any]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def rating_table(counted: Judgments) -> RatingTable:
    return RatingTable(counted.ratings())


def agreement_figures(name: str, table: RatingTable, offered: Collection[str] | None = None) -> Figures:
    """Compute the measures in a study's overview, on the labels of a view (`on`), and the kappas of all pairs; for a
    scale also its `level`, and how many judgments are off it, by label. `offered` are the labels that could be given.
    """
    found = Compared(table)
    return {
        "on": name,
        **on_scale(table),
        "measures": _overview(found, categories(offered, table.labels)["n"]),
        "kappa_pairs": [vars(pair) for pair in found.pairs.rows()],
    }


def _overview(found: Compared, choices: int) -> Figures:
    table = found.table
    scale = label_scale(table.labels, table.scale.order, choices=choices)
    return measured(found, scale, overview_on(table.scale.level), whole=True)


def _chief(found: Compared) -> Figures:
    """Return only the chief measure and percent agreement."""
    table = found.table
    measures = overview_on(table.scale.level)
    return measured(found, label_scale(table.labels, table.scale.order), [measures[0], measures[-1]])


def steady(table: RatingTable, offered: Collection[str] | None) -> Figures:
    """Return AC1 on labels without order; `offered` are those that could be given."""
    scale = label_scale(table.labels, table.scale.order, choices=categories(offered, table.labels)["n"])
    return measured(Compared(table), scale, [BY_KEY["ac1"]], whole=True)


def by_type(asked: Iterable[TaskRow]) -> list[tuple[tuple[str, str], list[TaskRow]]]:
    """Group the tasks by type and subtype, sorted."""
    groups = defaultdict(list)
    for task in asked:
        groups[task.type, task.subtype].append(task)
    return sorted(groups.items())


def figures_by_type(asked: Iterable[TaskRow], standing: Judgments, table: RatingTable) -> list[Figures]:
    """Return a row for each type and subtype, sorted: outcomes, judgments, and agreement on the labels of the table."""
    judgments = standing.part.counts()
    return [
        {
            "type": kind,
            "subtype": subtype,
            **outcome_counts(tasks),
            "judgments": judgments.get((kind, subtype), 0),
            "measures": _chief(Compared(table.for_items({task.task for task in tasks}))),
        }
        for (kind, subtype), tasks in by_type(asked)
    ]


def hourly_rate(judgments: int, hours: float) -> float | None:
    """Return judgments per hour, for display; None if they took under ten minutes or are fewer than ten."""
    return judgments / hours if hours >= RATE_HOURS and judgments >= RATE_JUDGMENTS else None


def pace(counted: Judgments) -> Figures:
    """Return counted judgments per hour between the first and the last; None with the reason if they took no time."""
    if not len(counted):
        return {"first": None, "last": None, "hours": 0.0, "per_hour": None, "reason": NOTHING_JUDGED}
    first, last = int(counted.at.min()), int(counted.at.max())
    hours = (last - first) / HOUR
    reason = "" if hours else "all judgments were made at the same moment"
    return {
        "first": iso_time(first),
        "last": iso_time(last),
        "hours": hours,
        "per_hour": ratio(len(counted), hours),
        "reason": reason,
    }


def judgments_over_time(counted: Judgments) -> Figures:
    """Put counted judgments into bins of equal width, from the first to the last.

    The width is the narrowest of `_WIDTHS` that needs at most `BINS` bins.
    """
    if not len(counted):
        return {"minutes": 60, "bins": []}
    times = counted.at // 60_000_000
    first, last = int(times.min()), int(times.max())
    width = next((w for w in _WIDTHS if last // w - first // w < BINS), _WIDTHS[-1])
    counts = np.bincount(times // width - first // width).tolist()
    bins = [
        {"from": iso_time(place * width * 60_000_000), "judgments": n} for place, n in enumerate(counts, first // width)
    ]
    return {"minutes": width, "bins": bins}


def annotator_summary(number: int, rows: Judgments, everyone: Usual | None, pay: Pay, fixed: Sequence[str]) -> Figures:
    """Compute one annotator's statistics in a stage.

    `rows` are all of their judgments. Active time and pay include checks and practice; everything else leaves them out.
    `everyone` has the times of all annotators; `fixed` are the answers that are not shuffled.
    """
    own = rows[rows.is_judge]
    counted = own[own.counted]
    active = int(rows.active_ms.sum()) / 3_600_000
    typical = median_time(counted)
    picks = picks_in_order(counted)
    answers = counted.answer[counted.place == 0].counts()
    return {
        "annotator": pseudonym(number),
        "judged": len(counted),
        "median_seconds": None if typical is None else typical / 1000,
        "fixed_shares": {answer: ratio(answers.get(answer, 0), len(counted)) for answer in fixed},
        "cannot_judge": answers.get(CANNOT_JUDGE, 0),
        "picks": len(picks),
        "places": warning_signs.place_counts(picks),
        "withdrawn": int(own.withdrawn.sum()),
        "surplus": int((own.surplus & ~own.withdrawn).sum()),
        "active_minutes": active * 60,
        "paid": pay.earned(rows, active),
        "signs": [sign.kind for sign in warning_signs.signs_of_work(len(counted), typical, everyone, picks)],
    }


def median_time(counted: Judgments) -> float | None:
    """Return the median active time, in ms; None if none was measured."""
    times = known_times(counted.active_ms)
    return float(np.median(times)) if len(times) else None


def known_times(active_ms: Array) -> Array:
    """Return the measured times: an imported rating, or one from a browser without scripts, has 0."""
    return active_ms[active_ms > 0]


def work_signs(counted: Iterable[JudgmentRow], everyone: Usual | None) -> list[Sign]:
    """Return the warning signs in an annotator's counted judgments; `everyone` has the times of all."""
    mine = Judgments.of(counted)
    return warning_signs.signs_of_work(len(mine), median_time(mine), everyone, picks_in_order(mine))


def picks_in_order(rows: Iterable[JudgmentRow]) -> Array:
    """Return (position picked, positions shown) of each judgment that picked an option, oldest first (N × 2)."""
    given = Judgments.of(rows)
    picked = given[np.lexsort((given.task.code, given.at))]
    return np.column_stack([picked.place, picked.places])[picked.place > 0]


# The cost of a stage


NOTHING_TIMED = "no time was measured"
_ONE_ANNOTATOR = "a single annotator does not show how much annotators differ"
_NEARLY_ONE = "one annotator gave nearly all judgments, which reveals too little about how much annotators differ"
_ALIKE = "all annotators took exactly the same time, so nothing shows how much others would differ"
_ROUNDING = 1e-24  # relative rounding error in squares that are 0


def stage_cost(rows: Judgments, counted: int, wanted: int, pay: Pay) -> Figures:
    """Compute active time and pay so far, and as expected when all `wanted` judgments are counted.

    Time so far includes checks and judgments that were withdrawn, changed or surplus: they were work, too. Each
    remaining judgment is expected to take the mean active time per counted judgment with a measured time; `range`
    covers 95% of new annotators.
    """
    active, left = int(rows.active_ms.sum()) / 60_000, wanted - counted
    timed = counted - int((rows.counted & rows.is_judge & (rows.active_ms == 0)).sum())
    each, (low, high, unsure) = ratio(active, timed), minutes_per_judgment(rows, timed, left)
    to_come = [None if value is None else left * value for value in (each, low, high)]
    end, least, most = (None if minutes is None else active + minutes for minutes in to_come)
    cost = pay.earned(rows, active / 60)
    costs = [None if minutes is None else cost + minutes / 60 * pay.now for minutes in to_come]
    return {
        "active_minutes": active,
        "cost": cost,
        "to_come": left,
        "expected_minutes": end,
        "expected_cost": costs[0],
        "range": {
            "minutes_low": least,
            "minutes_high": most,
            "cost_low": costs[1],
            "cost_high": costs[2],
            "reason": unsure,
        },
        "reason": "" if timed else NOTHING_TIMED if counted else NOTHING_JUDGED,
    }


def minutes_per_judgment(rows: Judgments, timed: int, left: int) -> tuple[float | None, float | None, str]:
    """Predict the active minutes per judgment for the `left` ones: (low, high, reason if there is none), a 95%
    interval. `timed` counted judgments have a time.

    Annotators differ, so they are the sampling units: the ratio of their minutes to their counted judgments, with its
    standard error for a large population (Cochran 1977, Sampling Techniques, §6.4), corrected for unequal loads
    (over_annotators.of_loads), and Student's t. New annotators with such loads add the same variance again.
    """
    rows = rows[rows.active_ms > 0]
    _, annotator = np.unique(rows.annotator, return_inverse=True)
    n = int(annotator.max(initial=-1)) + 1
    if not timed or n < 2:
        return None, None, _ONE_ANNOTATOR if timed else NOTHING_JUDGED
    minutes = np.bincount(annotator, weights=rows.active_ms / 60_000)
    given = np.bincount(annotator[rows.counted & rows.is_judge], minlength=n)
    each = math.fsum(minutes) / timed
    squares = math.fsum((minutes - each * given) ** 2)
    if squares <= _ROUNDING * math.fsum(minutes) ** 2:
        return None, None, _ALIKE
    alike, seen = over_annotators.of_loads(given / timed)
    if 1 / alike - 1 < over_annotators.LEAST_FREEDOM:
        return None, None, _NEARLY_ONE
    again = min(1 / alike, timed / left) if left > 0 else 0.0
    away = over_annotators.t_between(1 / alike - 1) * math.sqrt(squares / seen * (1 + again)) / timed
    return max(0.0, each - away), each + away, ""
