"""The figures of a stage: one dictionary that the study page shows, the API answers and the export carries.

Five queries, however many items, judgments and annotators there are. Everything under `now` depends on the clock and is
left out of exports.
"""

import math
from collections import defaultdict
from dataclasses import asdict
from statistics import median

from django.db import connection

from annotation import agreement, tallies
from annotation.agreement import Table
from annotation.models import Stage
from annotation.outcomes import rule_of
from annotation.tallies import HOUR, Given, Rule, moment

LONGEST = 10 * 365 * 24  # hours; a forecast beyond that is none
ENOUGH = 10  # judgments in the last hour from which its pace is trusted

JUDGMENTS = """
SELECT item.position, task.question, item.type, item.subtype, slot.number, annotator.number, judgment.answer,
       array_position(lease.shown, judgment.answer), cardinality(lease.shown), judgment.active_ms,
       coalesce(slot.judgment_id = judgment.id, false), judgment.surplus, judgment.withdrawn,
       (extract(epoch FROM judgment.created_at) * 1000000)::bigint
FROM annotation_slot slot
JOIN annotation_lease lease ON lease.slot_id = slot.id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_task task ON task.id = slot.task_id
JOIN benchmarks_item item ON item.id = task.item_id
WHERE slot.stage_id = %s
ORDER BY item.position, task.question, judgment.created_at, slot.number, judgment.id
"""

TOTALS = """
SELECT item.type, item.subtype, count(*)
FROM annotation_task task JOIN benchmarks_item item ON item.id = task.item_id
WHERE task.stage_id = %s GROUP BY item.type, item.subtype
"""

LEASED = """
SELECT count(*), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM annotation_slot WHERE stage_id = %s AND held_until > clock_timestamp()
"""

ANNOTATORS = """
SELECT annotator.number, annotator.simulated, count(lease.id) FILTER (WHERE lease.state = 'skipped')
FROM annotation_annotator annotator
LEFT JOIN (annotation_lease lease JOIN annotation_task task ON task.id = lease.task_id AND task.stage_id = %s)
  ON lease.annotator_id = annotator.id
WHERE annotator.study_id = %s GROUP BY annotator.id ORDER BY annotator.number
"""

FLAGS = """
SELECT count(*), count(*) FILTER (WHERE flag.settled_at IS NULL)
FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = flag.lease_id
JOIN annotation_task task ON task.id = lease.task_id WHERE task.stage_id = %s
"""


def judgment_rows(stage: Stage) -> list[Given]:
    """Every judgment of the stage, revisions and surplus included, by item and by the time of giving."""
    return [Given((row[0], row[1]), *row[2:]) for row in _rows(JUDGMENTS, stage.pk)]


def totals_by_type(stage: Stage) -> dict[tuple[str, str], int]:
    """Tasks of each type and subtype."""
    return {(kind, subtype): count for kind, subtype, count in _rows(TOTALS, stage.pk)}


def study_figures(stage: Stage) -> dict:
    """Every figure of the stage, JSON-able; docs/measures.md defines them. The same rows give the same dictionary."""
    rule, rows, totals = rule_of(stage), judgment_rows(stage), totals_by_type(stage)
    counted = [row for row in rows if row.counted]
    tasks = tallies.by_task(counted)
    decided = tallies.decisions(tasks, rule)
    wanted = sum(totals.values()) * stage.overlap
    long = tallies.table(counted)
    seen = {name: long.seen_as(view) for name, view in rule.views().items()}
    agreements = [tallies.agreement_on(name, table) for name, table in seen.items()]
    coarse = list(seen)[min(1, len(seen) - 1)]
    return {
        "study": _settings(stage, rule),
        "progress": _progress(stage, rows, decided, sum(totals.values())),
        "outcomes": tallies.outcomes(decided.values(), sum(totals.values())),
        "pace": tallies.pace(counted),
        "cost": tallies.cost(rows, len(counted), wanted, float(stage.study.pay_per_hour)),
        "agreement": agreements,
        "disagreements": {name: agreement.disagreements(table) for name, table in seen.items()},
        "annotators": _annotators(stage, rows, seen, agreements),
        "by_type_on": coarse,
        "by_type": tallies.by_type(totals, tasks, decided, seen[coarse]),
        "series": tallies.series(counted),
        "now": _now(stage, counted, wanted),
    }


def _rows(query: str, *values: int) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall()


def _settings(stage: Stage, rule: Rule) -> dict:
    study = stage.study
    return {
        "name": study.name,
        "protocol": stage.protocol,
        "overlap": stage.overlap,
        "tie_rule": stage.tie_rule,
        "pay_per_hour": float(study.pay_per_hour),
        "currency": study.currency,
        "views": list(rule.views()),
    }


def _progress(stage: Stage, rows: list[Given], decided: dict, tasks: int) -> dict:
    ((flags, unsettled),) = _rows(FLAGS, stage.pk)
    return {
        "tasks": tasks,
        "settled": sum(decision.state != "open" for decision in decided.values()),
        "judgments_wanted": tasks * stage.overlap,
        "judgments_counted": sum(row.counted for row in rows),
        "judgment_rows": len(rows),
        "withdrawn": sum(row.withdrawn for row in rows),
        "surplus": sum(row.surplus and not row.withdrawn for row in rows),
        "flags": flags,
        "flags_open": unsettled,
    }


def _annotators(stage: Stage, rows: list[Given], seen: dict[str, Table], agreements: list[dict]) -> list[dict]:
    """Everybody who joined, in the order of joining."""
    mine = defaultdict(list)
    for row in rows:
        mine[row.annotator].append(row)
    everyone = median([row.active_ms for row in rows if row.counted] or [0])
    majority = {name: agreement.with_majority(table) for name, table in seen.items()}
    kappas = {found["on"]: _kappas(found["kappa_pairs"]) for found in agreements}
    nothing = agreement.Value(None, 0, tallies.NO_ANSWERS)
    return [
        {
            **tallies.annotator(number, mine[number], everyone, float(stage.study.pay_per_hour)),
            "with_majority": {name: asdict(found.get(number, nothing)) for name, found in majority.items()},
            "kappa_mean": {name: tallies.ratio(sum(of[number]), len(of[number])) for name, of in kappas.items()},
            "skipped": skipped,
            "simulated": simulated,
        }
        for number, simulated, skipped in _rows(ANNOTATORS, stage.pk, stage.study_id)
    ]


def _kappas(pairs: list[dict]) -> dict[int, list[float]]:
    """Each annotator's defined kappas, with whomever."""
    found = defaultdict(list)
    for pair in pairs:
        if pair["value"] is not None:
            found[pair["first"]].append(pair["value"])
            found[pair["second"]].append(pair["value"])
    return found


def _now(stage: Stage, counted: list[Given], wanted: int) -> dict:
    ((leased, at),) = _rows(LEASED, stage.pk)
    recent = sum(row.at > at - HOUR for row in counted)
    hours = min(1.0, max(1 / 60, (at - min((row.at for row in counted), default=at)) / HOUR))
    return {
        "at": moment(at),
        "leased": leased,
        "last_hour": {"judgments": recent, "hours": hours, "per_hour": recent / hours},
        "forecast": forecast(at, recent, hours, counted, wanted - len(counted)),
    }


def forecast(at: int, recent: int, hours: float, counted: list[Given], remaining: int) -> dict:
    """When the rest is judged at the pace of the last hour, or of the whole time where the last hour is thin.

    `earliest` and `latest` take the count behind the pace as a Poisson count: n ± 1.96 √n.
    """
    overall = tallies.pace(counted)["hours"]
    n, span, basis = (recent, hours, "the last hour") if recent >= ENOUGH else (len(counted), overall, "the whole time")
    if remaining <= 0 or not n or not span:
        reason = "everything is judged" if remaining <= 0 else "too little is judged to tell"
        return {"finish": None, "earliest": None, "latest": None, "basis": "", "reason": reason}
    counts = {"finish": n, "earliest": n + 1.96 * math.sqrt(n), "latest": n - 1.96 * math.sqrt(n)}
    found = {name: _reached(at, remaining, count / span) for name, count in counts.items()}
    return {**found, "basis": basis, "reason": "" if found["finish"] else "at this pace, not within ten years"}


def _reached(at: int, remaining: int, per_hour: float) -> str | None:
    """The moment at which the rest is judged; None where that is no use to anybody."""
    hours = remaining / per_hour if per_hour > 0 else math.inf
    return moment(at + round(hours * HOUR)) if hours < LONGEST else None
