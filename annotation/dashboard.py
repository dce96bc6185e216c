"""The study page's contents: the funnel of its stages, and of one stage the figures and what is to be looked at."""

import hashlib

from django.urls import NoReverseMatch, reverse

from annotation import baseline, charts, exports, funnel, paper_page, review
from annotation.figures import study_figures
from annotation.models import STUDY_MOVES, Kind, Promotion, Slot, Stage, StageState, Strategy, Study, StudyState
from annotation.protocols.registry import PROTOCOLS
from annotation.pseudonyms import pseudonym
from annotation.rows import fetch

SHOWN = 6  # disagreements and flags
PAIRS = 45  # of annotators, those with most items in common; the export has all
BLOCKS = (
    "summary", "funnel", "tabs", "stage", "tiles", "outcomes", "kappas", "series", "annotators", "agreement", "types",
    "disagreements", "flags", "batches", "exports",
)  # fmt: skip
MOVES = {StudyState.PAUSED: "Pause", StudyState.OPEN: "Open", StudyState.CLOSED: "Close"}

# Counts and newest rows: of everything that the page shows, something here is another as soon as that is.
SEEN = """
WITH stage AS (SELECT * FROM annotation_stage WHERE study_id = %(study)s),
     task AS (SELECT * FROM annotation_task WHERE stage_id IN (SELECT id FROM stage)),
     lease AS (SELECT lease.* FROM annotation_lease lease JOIN task ON task.id = lease.task_id)
SELECT (SELECT state FROM annotation_study WHERE id = %(study)s),
  (SELECT array_agg(state ORDER BY position) FROM stage),
  (SELECT max(id) FROM annotation_instructions WHERE stage_id IN (SELECT id FROM stage)),
  (SELECT row(count(*), count(*) FILTER (WHERE live), sum(overlap), max(id))::text FROM task),
  (SELECT row(count(*), count(judgment_id), max(judgment_id), count(*) FILTER (WHERE held_until > now()))::text
   FROM annotation_slot WHERE stage_id IN (SELECT id FROM stage)),
  (SELECT row(count(*), count(*) FILTER (WHERE state = 'skipped'))::text FROM lease),
  (SELECT max(judgment.id) FROM annotation_judgment judgment JOIN lease ON lease.id = judgment.lease_id),
  (SELECT row(count(*), count(settled_at))::text FROM annotation_flag WHERE lease_id IN (SELECT id FROM lease)),
  (SELECT row(count(*), max(decided_at))::text FROM annotation_outcome WHERE task_id IN (SELECT id FROM task)),
  (SELECT row(count(*), max(id))::text FROM annotation_seat WHERE stage_id IN (SELECT id FROM stage)),
  (SELECT row(count(*), count(excluded_at), count(left_at))::text FROM annotation_annotator
   WHERE study_id = %(study)s),
  (SELECT count(*) FROM benchmarks_item WHERE benchmark_id = %(benchmark)s),
  (SELECT array_agg(id || state ORDER BY id) FROM benchmarks_job
   WHERE kind = 'export' AND params @> jsonb_build_object('study', %(study)s::bigint)),
  to_char(now(), 'YYYYMMDDHH24MI')
"""
MINUTE = -1  # of SEEN: forecasts move with the clock

BATCHES = """
SELECT task.batch, slot.number, count(DISTINCT task.item_id), count(*), count(slot.judgment_id),
       max(annotator.number)
FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
LEFT JOIN annotation_annotator annotator ON annotator.id = coalesce(slot.reserved_id, slot.annotator_id)
WHERE slot.stage_id = %(stage)s AND task.kind = 'judge' AND task.live AND task.batch IS NOT NULL
GROUP BY task.batch, slot.number ORDER BY task.batch, slot.number
"""


def contents(stage: Stage) -> dict:
    """Everything that the page and its live part show."""
    study, protocol = stage.study, PROTOCOLS[stage.protocol]
    whole, stages = funnel.funnel(study), list(study.stages.order_by("position"))
    shown = {
        **drawn(stage, study_figures(stage)),
        "stage": stage,
        "study": study,
        "protocol": protocol,
        "instructions": stage.instructions.latest("version"),
        "whole": whole,
        "bars": list(charts.funnel_bars(whole)),
        "tabs": [tab(one, stage, whole) for one in stages],
        "batches": batches(stage),
        "closing": closing(stage, stages, whole),
        **looked_at(stage),
        "stage_links": stage_links(stage),
        "study_links": study_links(study, bool(baseline.pairs_of(stages))),
        "seen": fingerprint(stage),
    }
    return {**shown, "blocks": blocks(shown)}


def drawn(stage: Stage, figures: dict) -> dict:
    """The stage's figures, with what the page makes of them to show them."""
    coarse = next(found for found in figures["agreement"] if found["on"] == figures["by_type_on"])
    return {
        "figures": figures,
        "coarse": coarse,
        "pairs": sorted(coarse["kappa_pairs"], key=lambda pair: -pair["n"])[:PAIRS],
        "outcome_bars": list(charts.outcome_bars(figures["outcomes"], funnel.measures(stage))),
        "axis": charts.axis(figures),
        "dots": list(charts.dots(figures)),
        **paper_page.block(PROTOCOLS[stage.protocol], figures),
    }


def looked_at(stage: Stage) -> dict:
    """What is to be looked at, and what can be done."""
    study = stage.study
    return {
        "no_checks": bool(stage.check_rate) and not stage.tasks.filter(kind=Kind.CHECK, live=True).exists(),
        "again": again(stage),
        "disagreements": review.disagreements(stage, SHOWN),
        "flags": review.open_flags(stage, SHOWN),
        "exports": list(exports.exports_of(study)[:5]),
        "moves": [(to, MOVES[to]) for to in MOVES if to in STUDY_MOVES[StudyState(study.state)]],
    }


def blocks(shown: dict) -> list[tuple[str, str]]:
    """The page's parts that change, each with its template: those that this stage has."""
    templates = {name: f"studies/_{name}.html" for name in BLOCKS if name != "batches" or shown["batches"]}
    return [*templates.items(), *([("paper", shown["paper_template"])] if "paper" in shown else [])]


def fingerprint(stage: Stage) -> str:
    """Changes when anything changes that the page shows, the forecast's minutes included. One query."""
    row = list(fetch(SEEN, study=stage.study_id, benchmark=stage.study.benchmark_id)[0])
    if row[0] != StudyState.OPEN or stage.state != StageState.OPEN:
        row[MINUTE] = ""
    return hashlib.sha256(repr((stage.position, row)).encode()).hexdigest()[:16]


def tab(one: Stage, shown: Stage, whole: dict) -> dict:
    """A stage among the study's: how far it is, and where it stands in the funnel."""
    steps = {step["stage"]: step for step in (*whole["stages"], *whole["measuring"])}
    step = steps[one.position]
    total = step.get("entered", step.get("tasks", 0))
    done = step["answered"] if "answered" in step else total - step["open"]
    return {"stage": one, "title": PROTOCOLS[one.protocol].title, "total": total, "done": done, "current": one == shown}


def batches(stage: Stage) -> dict:
    """Each place of each batch: whose it is and how far; and how many are given and done."""
    if stage.strategy not in (Strategy.BATCHES, Strategy.EVERYONE):
        return {}
    names = ("batch", "place", "items", "tasks", "judged", "holder")
    rows = [dict(zip(names, row, strict=True)) for row in fetch(BATCHES, stage=stage.pk)]
    for row in rows:
        row["who"] = pseudonym(row["holder"]) if row["holder"] else ""
    return {
        "rows": rows,
        "count": len({row["batch"] for row in rows}),
        "places": len(rows),
        "given": sum(row["holder"] is not None for row in rows),
        "done": sum(row["judged"] == row["tasks"] for row in rows),
    }


def closing(stage: Stage, stages: list[Stage], whole: dict) -> list[dict]:
    """What closing the stage sends on: to which stage, and how many of the items that are settled now."""
    steps = {step["stage"]: step for step in whole["stages"]}
    found = []
    for taker in stages:
        at_close = taker.promotion == Promotion.CLOSING or taker.sample is not None
        if taker.source_id == stage.pk and at_close and stage.position in steps:
            step = steps[stage.position]
            ready = sum(row["items"] for row in step["reasons"] if row["reason"] in taker.takes)
            ready += step["kept"] if "kept" in taker.takes else 0
            found.append({"to": taker, "ready": ready, "drawn": taker.sample and min(taker.sample, ready)})
    return found


def again(stage: Stage) -> int:
    """Items of a closed stage that are given out all the same: sent back, or with new candidates."""
    if stage.state == StageState.OPEN:
        return 0
    return Slot.objects.filter(stage=stage, live=True, judgment=None).values("task__item").distinct().count()


def stage_links(stage: Stage) -> list[tuple[str, str]]:
    """The pages about this stage that one may open: (address, words)."""
    study, position = stage.study_id, stage.position
    query = f"?stage={position}"
    manages = stage.study.may.manage
    checks = [("study-checks", "Checks and training", [study, position], "")] if manages else []
    named = manages and stage.strategy == Strategy.NAMED
    return there(
        ("study-instructions", "Instructions", [study], query),
        *checks,
        ("study-adjudicate", "Adjudicate" if manages else "Cases", [study], query),
        *([("study-assign", "Assign", [study, position], "")] if named else []),
    )


def study_links(study: Study, measured: bool) -> list[tuple[str, str]]:
    """The pages about the whole study that one may open."""
    baseline = [("study-baseline", "Human baseline", [study.pk], "")] if measured else []
    people = [("study-participants", "Participants", [study.pk], ""), ("study-members", "Members", [study.pk], "")]
    return there(*(people if study.may.manage else []), *baseline)


def there(*wanted: tuple) -> list[tuple[str, str]]:
    found = [(address(name, args), query, words) for name, words, args, query in wanted]
    return [(url + query, words) for url, query, words in found if url]


def address(name: str, args: list[int]) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""
