"""The statistics and warning signs of each annotator, per stage and for the whole study. Pure: figures/annotators.py
reads the rows from the database, releases/verification from the files of a release.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.measures import annotator_behaviour, counts, pass_rules, warning_signs
from annotation.measures.annotator_behaviour import StageBehaviour
from annotation.measures.judgments import JudgmentRow, Judgments
from annotation.measures.pay import Pay
from annotation.protocols.base import NOMINAL, Projection, level_of_view

SUMMED = ("judged", "answers", "active_minutes", "paid", "quick")


class Checked(NamedTuple):
    """An annotator's results on attention checks; `guess_rate` is the share that picking at random would get right."""

    n: int
    right: int
    guess_rate: float

    @property
    def signs(self) -> list[warning_signs.Sign]:
        return warning_signs.checks_sign(*self, pass_rules.fails_checks(*self))


class Known(NamedTuple):
    """Facts about annotators besides their judgments, by number: whether each in the study is `excluded`; who has a
    seat in the stage; their results on its checks, and whether they passed its comprehension questions and practice.
    """

    excluded: Mapping[int, bool]
    seated: Collection[int]
    checked: Mapping[int, Checked]
    passed: Mapping[int, Mapping[str, bool | None]]


def of_stage(
    position: int, name: str, rows: Iterable[JudgmentRow], views: Mapping[str, Projection], known: Known, pay: Pay
) -> dict[str, Any]:
    """Return one stage's statistics, JSON-able, with a row for each annotator who has a seat or has judged in it. `pay`
    is per hour.
    """
    excluded = {number for number, out in known.excluded.items() if out}
    given = Judgments.of(rows)
    all_, mine, none = annotator_behaviour.stage_behaviour(given, views, excluded), given.by_annotator(), given[:0]
    found = [
        _row(number, mine.get(number, none), all_, number in excluded, pay) for number in sorted({*known.seated, *mine})
    ]
    counted = counts.known_times(given.active_ms[given.is_judge & given.counted])
    level = level_of_view(all_.views[all_.coarse])
    for row in found:
        _add_known(row, position, known.checked.get(row["number"]), known.passed.get(row["number"], {}))
    return {
        "position": position,
        "name": name,
        "coarse": all_.coarse,
        "views": list(all_.views),
        "median_seconds": None if all_.typical is None else all_.typical / 1000,
        "bands": all_.bands,
        "rows": found,
        "labels": dict(sorted(all_.labels.items())),
        "times": annotator_behaviour.time_histogram(counted),
        **({} if level == NOMINAL else {"level": level}),
    }


def _row(number: int, rows: Judgments, all_: StageBehaviour, excluded: bool, pay: Pay) -> dict[str, Any]:
    found = annotator_behaviour.annotator_figures(number, rows, all_, excluded)
    found["paid"] = pay.earned(rows, found["active_minutes"] / 60)
    found["signs"] = annotator_behaviour.signs_as_json(annotator_behaviour.behaviour_signs(found, all_))
    return found


def _add_known(row: dict[str, Any], position: int, checked: Checked | None, passed: Mapping[str, bool | None]) -> None:
    """Add the results of checks, questions and practice; each sign names its stage."""
    row["checks"] = {"n": checked.n, "right": checked.right, "guess": checked.guess_rate} if checked else None
    row["passed"] = dict(passed)
    known = checked.signs if checked else []
    row["signs"] += annotator_behaviour.signs_as_json([*known, *warning_signs.qualification_signs(row["passed"])])
    row["signs"].sort(key=lambda sign: list(warning_signs.KINDS).index(sign["kind"]))
    row["signs"] = [{**sign, "stage": position} for sign in row["signs"]]


# Of all stages


def of_study(stages: Sequence[dict[str, Any]], people: Sequence[int]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return a row per annotator over all stages, and everybody's speed (measures.warning_signs.speed_deviations)."""
    mine: dict[int, list[tuple[dict[str, Any], dict[str, Any]]]] = {number: [] for number in people}
    for stage in stages:
        for row in stage["rows"]:
            mine[row["number"]].append((stage, row))
    whole = [_whole(number, rows) for number, rows in mine.items()]
    timed = [row for row in whole if row["judged"] >= warning_signs.SIGNS_FROM and row["log_time"] is not None]
    logs = {row["number"]: row["log_time"] for row in timed}
    speed, away = warning_signs.speed_deviations(logs)
    for row in whole:
        row["away"] = away.get(row["number"])
        found = annotator_behaviour.signs_as_json(warning_signs.far_sign(row["away"], speed["n"]))
        row["signs"] += [{**sign, "stage": None} for sign in found]
    return whole, speed


def _whole(number: int, rows: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """Combine an annotator's stages: counts are summed, shares are of all judgments, kappa is weighted by judgments."""
    own = [row for _, row in rows]
    found = {name: sum(row[name] for row in own) for name in SUMMED}
    same = [row["majority"][stage["coarse"]] for stage, row in rows]
    checked = [row["checks"] for row in own if row["checks"]]
    sums = {name: sum(one[name] for one in same) for name in ("same", "n")}
    return {
        "number": number,
        **found,
        "per_hour": counts.ratio(found["answers"], found["active_minutes"] / 60),
        "quick_share": counts.ratio(found["quick"], sum(sum(row["bands"]) for row in own)),
        "log_time": _weighted((row["log_time"], row["judged"]) for row in own),
        "majority": sums,
        "kappa": _weighted((row["kappas"][stage["coarse"]], row["judged"]) for stage, row in rows),
        "checks": {name: sum(one[name] for one in checked) for name in ("n", "right")} if checked else None,
        "signs": [sign for row in own for sign in row["signs"]],
    }


def _weighted(pairs: Iterable[tuple[float | None, int]]) -> float | None:
    defined = [(value, weight) for value, weight in pairs if value is not None and weight]
    return counts.ratio(sum(value * weight for value, weight in defined), sum(weight for _, weight in defined))
