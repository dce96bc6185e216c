"""What a study's pages of annotators show: the figures and signs of each, of each stage and of the whole study.

Computed once for each state of the study (figures/cache.py), kept with its first stage. Names are no part of it, nor what a
manager decided: the pages read both when they are looked at. As many queries for one annotator as for a thousand.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from annotation.checks import attention_checks, qualification
from annotation.figures import cache
from annotation.figures.stage import judgment_rows
from annotation.measures import annotator_behaviour, counts, warning_signs
from annotation.measures.annotator_behaviour import StageBehaviour
from annotation.measures.counts import JudgmentRow
from annotation.models import Kind, Seat, Stage, Study
from annotation.pipeline.outcomes import rule_of
from benchmarks.jobs.jobs import Tell, silent

KIND = "annotators"
SUMMED = ("judged", "answers", "active_minutes", "paid", "quick")


@cache.reckons(KIND)
def annotators(stage: Stage, key: str = "", tell: Tell = silent) -> dict:
    """`stages`, each with a row of everybody who has been there; `whole`, a row of everybody; `speed` (measures.warning_signs.speed_deviations)."""
    return of_stages(stage.study, list(stage.study.stages.order_by("position")), tell)


def of_stages(study: Study, stages: Sequence[Stage], tell: Tell = silent) -> dict:
    """The same of some of the study's stages."""
    found, pay = [], float(study.pay_per_hour)
    people = {one.number: one.excluded_at is not None for one in study.annotators.order_by("number")}
    for done, one in enumerate(stages):
        tell(done, len(stages) + 1)
        one.study = study
        found.append(of_stage(one, people, pay))
    whole, speed = of_study(found, list(people), pay)
    return {"stages": found, "whole": whole, "speed": speed}


def look(study: Study, by: str = "app") -> cache.Reckoned:
    first = study.stages.order_by("position").first()
    first.study = study
    return cache.look(first, KIND, by=by)


def by_annotator(rows: Iterable[JudgmentRow]) -> dict[int, list[JudgmentRow]]:
    found = defaultdict(list)
    for row in rows:
        found[row.annotator].append(row)
    return found


def of_stage(stage: Stage, people: Mapping[int, bool], pay: float) -> dict:
    """`people`: whether each is excluded. Who has been in the stage is who has a seat there."""
    rows = judgment_rows(stage)
    excluded = {number for number, out in people.items() if out}
    all_, mine = annotator_behaviour.stage_behaviour(rows, rule_of(stage).projections(), excluded), by_annotator(rows)
    checked, tried = attention_checks.results(stage), qualification.results(stage)
    there = set(Seat.objects.filter(stage=stage).values_list("annotator__number", flat=True)) | set(mine)
    found = [_row(number, mine[number], all_, number in excluded, pay) for number in sorted(there)]
    for row in found:
        _add_known(row, stage.position, checked.get(row["number"]), tried.get(row["number"], {}))
    return {
        "position": stage.position, "name": stage.name, "coarse": all_.coarse, "views": list(all_.views),
        "median_seconds": None if all_.typical is None else all_.typical / 1000, "bands": all_.bands, "rows": found,
        "labels": dict(sorted(all_.labels.items())),
        "times": annotator_behaviour.time_histogram([row.active_ms for row in rows if row.kind == Kind.JUDGE and row.counted]),
    }  # fmt: skip


def _row(number: int, rows: Sequence[JudgmentRow], all_: StageBehaviour, excluded: bool, pay: float) -> dict:
    found = annotator_behaviour.annotator_figures(number, rows, all_, excluded)
    found["paid"] = found["active_minutes"] / 60 * pay
    found["signs"] = annotator_behaviour.signs_as_json(annotator_behaviour.behaviour_signs(found, all_))
    return found


def _add_known(
    row: dict, position: int, checked: attention_checks.Result | None, tried: Mapping[str, qualification.Result]
) -> None:
    """What checks, the questions and the practice say; each sign says where."""
    row["checks"] = {"n": checked.n, "right": checked.right, "guess": checked.guess_rate} if checked else None
    row["passed"] = {kind: result.passed for kind, result in tried.items()}
    row["signs"] += annotator_behaviour.signs_as_json(
        [*known_signs(checked), *warning_signs.qualification_signs(row["passed"])]
    )
    row["signs"].sort(key=lambda sign: list(warning_signs.KINDS).index(sign["kind"]))
    row["signs"] = [{**sign, "stage": position} for sign in row["signs"]]


def known_signs(checked: attention_checks.Result | None) -> list[warning_signs.Sign]:
    return warning_signs.checks_sign(checked.n, checked.right, checked.guess_rate, checked.failed) if checked else []


# Of all stages


def of_study(stages: Sequence[dict], people: Sequence[int], pay: float) -> tuple[list[dict], dict]:
    """A row of each annotator over all stages; and how fast everybody is (measures.warning_signs.speed_deviations)."""
    mine = {number: [] for number in people}
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


def _whole(number: int, rows: Sequence[tuple[dict, dict]]) -> dict:
    """Counts are sums; shares are of all judgments; kappa is the mean of the stages', weighted by judgments."""
    own = [row for _, row in rows]
    found = {name: sum(row[name] for row in own) for name in SUMMED}
    same = [row["majority"][stage["coarse"]] for stage, row in rows]
    checked = [row["checks"] for row in own if row["checks"]]
    sums = {name: sum(one[name] for one in same) for name in ("same", "n")}
    return {
        "number": number,
        **found,
        "per_hour": counts.ratio(found["answers"], found["active_minutes"] / 60),
        "quick_share": counts.ratio(found["quick"], found["judged"]),
        "log_time": _weighted((row["log_time"], row["judged"]) for row in own),
        "majority": sums,
        "kappa": _weighted((row["kappas"][stage["coarse"]], row["judged"]) for stage, row in rows),
        "checks": {name: sum(one[name] for one in checked) for name in ("n", "right")} if checked else None,
        "signs": [sign for row in own for sign in row["signs"]],
    }


def _weighted(pairs: Iterable[tuple[float | None, int]]) -> float | None:
    defined = [(value, weight) for value, weight in pairs if value is not None and weight]
    return counts.ratio(sum(value * weight for value, weight in defined), sum(weight for _, weight in defined))
