"""How an annotator works in a stage, compared with the others: speed, positions, runs, answers, agreement.

Compute `stage_behaviour` once from all rows of a stage, then `annotator_figures` from the rows of each annotator.
docs/reference/measures.md defines the statistics.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotation.measures import agreement, warning_signs
from annotation.measures import counts as measures_counts
from annotation.measures.agreement import RatingTable
from annotation.measures.counts import HOUR
from annotation.measures.judgments import Coded, JudgmentRow, Judgments, TaskKey
from annotation.measures.pairwise_kappa import cohen_kappas, mean_kappas
from annotation.measures.skill import Estimate, Shares, StageAnswers, logit_beside, p_above
from annotation.measures.types import Array, Figures
from annotation.measures.warning_signs import Beside, Sign, Usual
from annotation.protocols.base import NOMINAL, Projection, View, main_view

BANDS = (0.25, 0.5, 1.0, 2.0, 4.0)  # upper ends of the bands, as multiples of the stage's median time

_Same = tuple[int, int]  # how often the others' most frequent answer was given, and how often they were compared


class Skills:
    """How often annotators agree with the others (`shares`, by annotator), and, for those with enough judgments, how
    much more often than all annotators on the same types (`of`: skill.logit_beside).
    """

    def __init__(self, shares: Mapping[int, Shares]):
        self.shares = shares
        known = {who: found for who, found in shares.items() if _sum(found)[1] >= warning_signs.SIGNS_FROM}
        everyone: dict[tuple[str, str], _Same] = {}
        for found in known.values():
            for part, (right, n) in found.items():
                before = everyone.get(part, (0, 0))
                everyone[part] = before[0] + right, before[1] + n
        self.of = {who: logit_beside(found, everyone) for who, found in known.items()}
        self.estimates = np.array([one for one, _ in self.of.values()]).reshape(-1, 2)  # value and variance


@dataclass(frozen=True, slots=True)
class StageBehaviour:
    """The counted judgments of a stage, with which each annotator is compared.

    `views` are the projections of answers by name, `coarse` the name of the view that pages show. `given` has the
    others' answers to tasks that excluded annotators answered.
    """

    views: Mapping[str, Projection]
    coarse: str
    typical: float | None  # the median time, in ms
    usual: Usual | None
    labels: Counter[str]  # labels on the coarse view
    bands: list[int]
    skills: Mapping[str, Skills]  # by view
    kappas: Mapping[str, Mapping[int | str, float]]
    given: Mapping[TaskKey, Sequence[str]]
    answers: StageAnswers  # on the coarse view


def stage_behaviour(
    rows: Iterable[JudgmentRow], views: Mapping[str, Projection], excluded: Collection[int] = ()
) -> StageBehaviour:
    given = Judgments.of(rows)
    counted = given[given.is_judge & given.counted]
    standing, coarse, typical = counted[counted.live], main_view(views), measures_counts.median_time(counted)
    long = measures_counts.rating_table(standing)
    seen = {name: long.projected(view) for name, view in views.items()}
    theirs = given.task.code[np.isin(given.annotator, list(excluded))]
    others = defaultdict(list)
    for row in standing[np.isin(standing.task.code, theirs)]:
        others[row.task].append(row.answer)
    kappas = {
        name: mean_kappas((pair.first, pair.second, pair.value) for pair in cohen_kappas(table))
        for name, table in seen.items()
    }
    said = counted.answer.renamed(views[coarse])
    return StageBehaviour(
        views, coarse, typical, warning_signs.usual_times(counted.active_ms, counted.annotator), Counter(said.counts()),
        _speed_bands(counted.active_ms, typical),
        {name: Skills(_same(table, standing)) for name, table in seen.items()}, kappas, others,
        StageAnswers(counted.task, counted.part, counted.annotator, said),
    )  # fmt: skip


def _same(table: RatingTable, standing: Judgments) -> Mapping[Any, Shares]:
    """Return how often each annotator agrees with the others, by type and subtype."""
    found: dict[Any, dict[tuple[str, str], _Same]] = defaultdict(dict)
    parts = standing.part.values
    for code in np.unique(standing.part.code).tolist():
        part, of = parts[code], np.unique(standing.task.code[standing.part.code == code]).tolist()
        of_part = table if len(parts) == 1 else table.for_items({standing.task.values[task] for task in of})
        for number, (same, n) in agreement.agreement_with_majority(of_part).items():
            if n:
                found[number][part] = same, n
    return found


def _speed_bands(times: Array, typical: float | None) -> list[int]:
    """Count judgments in six bands of active time, from under a quarter of the median to over four times it."""
    times = measures_counts.known_times(times)
    bands = np.searchsorted(BANDS, times / typical, side="right") if typical else np.empty(0, dtype=int)
    counts: list[int] = np.bincount(bands, minlength=len(BANDS) + 1).tolist()
    return counts


def judgments_considered(rows: Judgments, excluded: bool) -> Judgments:
    """Return the judgments that an annotator's statistics use, oldest first.

    These are the counted ones; for an excluded annotator, the latest for each screen.
    """
    found = rows[rows.is_judge]
    if excluded:
        found = latest_of_screens(found)
        found = found[~found.withdrawn & ~found.surplus]
    else:
        found = found[found.counted]
    return found[np.lexsort((found.task.code, found.at))]


def count_answers(rows: Judgments) -> int:
    """Count the answers that are not withdrawn, checks included."""
    return int((~latest_of_screens(rows).withdrawn).sum())


def latest_of_screens(rows: Judgments) -> Judgments:
    """Return the newest judgment for each screen, in the order in which the screens were first answered. The kind is
    part of a screen: a check's item may share a position with another.
    """
    oldest_first = rows[np.argsort(rows.at, kind="stable")]
    columns = oldest_first.kind, oldest_first.task, Coded.of_numbers(oldest_first.slot)
    screen = Coded.of_columns(*columns).code
    _, first = np.unique(screen, return_index=True)
    _, from_the_end = np.unique(screen[::-1], return_index=True)
    return oldest_first[(len(rows) - 1 - from_the_end)[np.argsort(first)]]


def annotator_figures(number: int, rows: Judgments, all_: StageBehaviour, excluded: bool = False) -> Figures:
    """Return an annotator's statistics and tests, JSON-able; `rows` includes checks and practice."""
    mine = judgments_considered(rows, excluded)
    hours = int(rows.active_ms.sum()) * 1000 / HOUR
    answers, picks = count_answers(rows), measures_counts.picks_in_order(mine)
    return {
        "number": number,
        "judged": len(mine),
        "answers": answers,
        "active_minutes": hours * 60,
        "per_hour": measures_counts.ratio(answers, hours),
        **_speed(mine.active_ms, all_),
        **comparison_with_others(number, mine, all_, excluded),
        "side": warning_signs.side_test(picks),
        "runs": warning_signs.runs_test(picks),
    }


def _speed(active_ms: Array, all_: StageBehaviour) -> Figures:
    times = measures_counts.known_times(active_ms)
    quick = int((times < warning_signs.FAST_SHARE * (all_.typical or 0)).sum())
    middle = np.sort(times)[[(len(times) - 1) // 2, len(times) // 2]].tolist() if len(times) else []
    return {
        "median_seconds": sum(middle) / 2 / 1000 if middle else None,
        "log_time": sum(math.log(time / all_.typical) for time in middle) / 2 if middle and all_.typical else None,
        "quick": quick,
        "quick_share": measures_counts.ratio(quick, len(times)),
        "bands": _speed_bands(active_ms, all_.typical),
    }


def comparison_with_others(number: int, mine: Judgments, all_: StageBehaviour, excluded: bool = False) -> Figures:
    """Compare an annotator's answers with the others'; `mine` are theirs from `judgments_considered`."""
    said = mine.answer.renamed(all_.views[all_.coarse])
    own = Counter(said.counts())
    others = all_.labels if excluded else all_.labels - own
    same = {view: _agreement_with_others(number, view, mine, all_, excluded) for view in all_.views}
    sums = {view: _sum(found) for view, found in same.items()}
    compared = {view: (*sums[view], _beside_others(number, all_.skills[view], found)) for view, found in same.items()}
    answers = all_.answers.of_excluded(mine.task, said) if excluded else all_.answers.own.get(number)
    rest = all_.answers.estimates_beside(number, warning_signs.SIGNS_FROM)
    return {
        "labels": dict(sorted(own.items())),
        "others": dict(sorted(others.items())),
        "labels_test": warning_signs.answers_test(answers, rest),
        "majority": {view: {"same": same, "n": n} for view, (same, n) in sums.items()},
        "agreement": warning_signs.agreement_test(compared),
        "kappas": {view: None if excluded else found.get(number) for view, found in all_.kappas.items()},
    }


def _agreement_with_others(number: int, view: str, mine: Judgments, all_: StageBehaviour, excluded: bool) -> Shares:
    if not excluded:
        return all_.skills[view].shares.get(number, {})
    agreed: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in mine:
        agreed[row.type, row.subtype] += agrees(all_.views[view], row.answer, all_.given.get(row.task, ()))
    return {part: (sum(found), len(found)) for part, found in agreed.items() if found}


def _sum(found: Shares) -> _Same:
    return sum(same for same, _ in found.values()), sum(n for _, n in found.values())


def agrees(view: Projection, own: str, others: Iterable[str]) -> list[bool]:
    """Return whether an answer agrees with the others' under a view (measures.agreement.agreement_with_majority):
    nothing if they cannot be compared, and for a check, a value for each statement.
    """
    said, rest = view(own), [view(one) for one in others]
    if not isinstance(view, View):
        most = most_frequent(rest)
        return [] if most is None else [said == most]
    mine = view.on_scale(said)
    theirs = [parts for one in rest if (parts := view.on_scale(one))]
    found: list[bool | None] = []
    for place, one in enumerate(mine):
        compared = [parts[place] for parts in theirs if place < len(parts)]
        if view.scale.level == NOMINAL:
            most = most_frequent(compared)
            found.append(None if most is None else one == most)
        else:
            found.append(agreement.agrees_on_scale(view.scale, one, compared))
    return [one for one in found if one is not None]


def most_frequent(labels: Iterable[str]) -> str | None:
    """Return the most frequent label; None if there are no labels or several are equally frequent."""
    found = Counter(labels).most_common(2)
    return found[0][0] if found and (len(found) == 1 or found[0][1] > found[1][1]) else None


def _beside_others(number: int, everyone: Skills, own: Shares) -> Beside | None:
    """Compare an annotator with the others; None if either has too few judgments."""
    if _sum(own)[1] < warning_signs.SIGNS_FROM or everyone.of.keys() <= {number}:
        return None
    if number not in everyone.of:
        everyone = Skills({**everyone.shares, number: own})
    mine, usual = everyone.of[number]
    others = everyone.estimates[[who != number for who in everyone.of]]
    middle = float(np.median(others[:, 0]))
    typical = 1 / (1 + math.exp(-usual - middle))
    return Beside(typical, p_above(Estimate(-mine.value, mine.variance), others * (-1, 1), -middle))


def behaviour_signs(found: Figures, all_: StageBehaviour) -> list[Sign]:
    """Return the warning signs in an annotator's statistics for one stage, except those from checks and practice."""
    typical = found["median_seconds"]
    return [
        *comparison_signs(found),
        *warning_signs.side_sign(found["side"]),
        *warning_signs.runs_sign(found["runs"]),
        *warning_signs.fast_sign(found["judged"], None if typical is None else typical * 1000, all_.usual),
    ]


def comparison_signs(found: Figures) -> list[Sign]:
    """Return the signs that compare an annotator's answers with the others'."""
    return [*warning_signs.agreement_sign(found["agreement"]), *warning_signs.answers_sign(found["labels_test"])]


def signs_as_json(found: Iterable[Sign]) -> list[Figures]:
    return [asdict(sign) for sign in found]


# How long judgments take


HISTOGRAM_BINS = 30  # at most this many bins before the open-ended one
_BOUNDED_SHARE = 0.95  # share of the judgments in bins with an upper end
_SECONDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
_HISTOGRAM_WIDTHS = [round(1000 * seconds) for seconds in _SECONDS]  # of a bin, in milliseconds


def time_histogram(given: Sequence[int] | Array) -> Figures:
    """Make a histogram of active times: milliseconds in, seconds out.

    It has `n`, `median`, `quick` (the number under half the median) and `bins` of {from, to, judgments}, from 0 to the
    last non-empty one. The width is the narrowest that puts 95% into `HISTOGRAM_BINS` bins; a last bin without an end
    holds the rest.
    """
    times = np.sort(np.asarray(given, dtype=np.int64))
    if not len(times):
        return {"n": 0, "median": None, "quick": 0, "bins": []}
    typical = float(np.median(times))
    end = int(times[math.ceil(_BOUNDED_SHARE * len(times)) - 1])
    width = next((width for width in _HISTOGRAM_WIDTHS if end // width < HISTOGRAM_BINS), _HISTOGRAM_WIDTHS[-1])
    counts: list[int] = np.bincount(np.minimum(times // width, HISTOGRAM_BINS)).tolist()
    bins = [
        {
            "from": at * width / 1000,
            "to": (at + 1) * width / 1000 if at < HISTOGRAM_BINS else None,
            "judgments": counts[at],
        }
        for at in range(len(counts))
    ]
    quick = int((times < warning_signs.FAST_SHARE * typical).sum())
    return {"n": len(times), "median": typical / 1000, "quick": quick, "bins": bins}
