"""The page of one stage: its statistics, and what can be done about it. study_overview.py computes the slow parts;

`contents` adds what is always current and prepares both for the templates.
"""

from collections.abc import Mapping, Sequence

from django.db.models import Count
from django.urls import reverse

from annotation.adjudication import answers_shown
from annotation.charts import bars
from annotation.charts import study as study_charts
from annotation.comparison.question_map import asked_in
from annotation.dashboard import stage_progress
from annotation.dashboard.agreement_page import measured_in_words
from annotation.dashboard.agreement_words import agreement_in_words
from annotation.dashboard.next_step import passed_on
from annotation.dashboard.paper_block import paper_block
from annotation.dashboard.scores_block import scores_block
from annotation.dashboard.stage_words import settings_in_sentences
from annotation.dashboard.study_overview import latest
from annotation.designs import part
from annotation.figures import blocked_items
from annotation.figures.cache import LatestFigures, hashed
from annotation.figures.funnel import measures
from annotation.figures.stage import FLAGS, LEASED
from annotation.measures import counts
from annotation.measures.agreement_measures import MEASURES
from annotation.measures.counts import iso_time
from annotation.measures.papers.published import PUBLISHED
from annotation.models import DecisionRule, Kind, Stage, StageState, Strategy, StudyState
from annotation.pipeline import dawid_skene
from annotation.protocols.base import Protocol
from annotation.protocols.compile import is_plain
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch
from annotation.studies import reopening
from annotation.templatetags.figures import hours
from benchmarks.jobs import jobs

SHOWN = 6  # flags
FRESH = ("latest", "stage", "ending", "flags")  # always current, whatever the size
BLOCKS = (
    *FRESH, "tiles", "headline", "outcomes", "kappas", "series", "annotators", "agreement", "types", "disagreements",
    "batches", "scored", "audit",
)  # fmt: skip
MAYBE = ("batches", "scored", "audit")  # blocks that not every stage has

# Counts and newest rows: whenever anything on the page changes, something here changes too. LATERAL makes it read only
# the study's own rows, however large the tables.
SEEN = """
WITH stage AS (SELECT * FROM annotation_stage WHERE study_id = %(study)s),
     task AS (SELECT * FROM annotation_task WHERE stage_id IN (SELECT id FROM stage))
SELECT (SELECT state FROM annotation_study WHERE id = %(study)s),
  (SELECT array_agg(row(state, target_half_width, target_bound)::text ORDER BY position) FROM stage),
  (SELECT max(id) FROM annotation_instructions WHERE stage_id IN (SELECT id FROM stage)),
  (SELECT row(count(*), count(*) FILTER (WHERE live), sum(overlap), max(id))::text FROM task),
  (SELECT row(sum(place.n), sum(judged), max(place.newest), sum(held))::text FROM task CROSS JOIN LATERAL (
     SELECT count(*) AS n, count(judgment_id) AS judged, max(judgment_id) AS newest,
            count(*) FILTER (WHERE held_until > now()) AS held FROM annotation_slot WHERE task_id = task.id) place),
  (SELECT row(sum(given.n), sum(skipped), max(given.newest), sum(flags), sum(settled))::text
   FROM task CROSS JOIN LATERAL (
     SELECT count(DISTINCT lease.id) AS n, count(DISTINCT lease.id) FILTER (WHERE lease.state = 'skipped') AS skipped,
            max(judgment.id) AS newest, count(DISTINCT flag.id) AS flags,
            count(DISTINCT flag.id) FILTER (WHERE flag.settled_at IS NOT NULL) AS settled
     FROM annotation_slot slot JOIN annotation_lease lease ON lease.slot_id = slot.id
     LEFT JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
     LEFT JOIN annotation_flag flag ON flag.lease_id = lease.id WHERE slot.task_id = task.id) given),
  (SELECT row(count(*), max(decided_at))::text FROM task CROSS JOIN LATERAL (
     SELECT decided_at FROM annotation_outcome WHERE task_id = task.id LIMIT 1) outcome),
  (SELECT row(count(*), max(id))::text FROM annotation_seat WHERE stage_id IN (SELECT id FROM stage)),
  (SELECT row(count(*), count(excluded_at), count(left_at))::text FROM annotation_annotator
   WHERE study_id = %(study)s),
  (SELECT count(*) FROM benchmarks_item WHERE benchmark_id = %(benchmark)s),
  (SELECT array_agg(id || state ORDER BY id) FROM benchmarks_job
   WHERE kind IN ('export', 'estimate', 'release') AND params @> jsonb_build_object('study', %(study)s::bigint)),
  to_char(now(), 'YYYYMMDDHH24MI')
"""
MINUTE = -1  # in SEEN, because forecasts change with time

# What is current for a large study. Everything else on its page is as last computed.
SEEN_FRESH = """
SELECT (SELECT state FROM annotation_study WHERE id = %(study)s),
  (SELECT array_agg(state ORDER BY position) FROM annotation_stage WHERE study_id = %(study)s),
  (SELECT max(id) FROM annotation_instructions WHERE stage_id = %(stage)s),
  (SELECT count(*) FROM annotation_slot WHERE stage_id = %(stage)s AND held_until > now()),
  (SELECT array_agg(id || state ORDER BY id) FROM benchmarks_job
   WHERE kind IN ('export', 'estimate', 'release') AND params @> jsonb_build_object('study', %(study)s::bigint))
"""


def contents(stage: Stage, small: bool = True) -> dict:
    """Return everything that the page and its live part show; for a large study, slow parts are as last computed."""
    study, protocol = stage.study, protocol_named(stage.protocol)
    stages = stage_progress.stages_of(study)
    found = latest(stage, small, stages)
    shown = {
        "stage": stage,
        "study": study,
        "protocol": protocol,
        "instructions": stage.instructions.latest("version"),
        "imported": stage.ratings_files.annotate(judged=Count("judgments")),
        "large": not small,
        "latest": found,
        "stages": stages,
        "flags": answers_shown.open_flags(stage, SHOWN),
        **_estimated(stage),
        "stage_links": _stage_links(stage),
        "seen": fingerprint(stage) if small else _seen_large(stage, found),
    }
    if found.data is not None:
        shown |= _drawn(stage, stages, found.data if small else _up_to_date(stage, found.data))
    batches = found.data["batches"] if found.data else None
    shown["settings"] = settings_in_sentences(stage, part.in_words(study.part), batches)
    return {**shown, "blocks": _blocks(shown)}


def _up_to_date(stage: Stage, data: dict) -> dict:
    """Update earlier statistics with what can be counted at once: open leases and flags."""
    ((leased, until, _),), ((flags, unsettled),) = fetch(LEASED, stage=stage.pk), fetch(FLAGS, stage=stage.pk)
    figures = data["figures"]
    progress = {**figures["progress"], "flags": flags, "flags_open": unsettled}
    now = {**figures["now"], "leased": leased, "held_until": iso_time(until)}
    return {**data, "figures": {**figures, "progress": progress, "now": now}}


def newer(shown: dict, seen: str) -> dict:
    """Return the blocks to send to a page that has `seen`, without those it already shows."""
    if shown["large"] and seen.partition("_")[0] == shown["seen"].partition("_")[0]:
        there = {*FRESH, "tiles"}
        return {**shown, "blocks": [(name, template) for name, template in shown["blocks"] if name in there]}
    return shown


def _drawn(stage: Stage, stages: list[Stage], data: dict) -> dict:
    """Return the stage's statistics (`overview`), with what the page derives from them."""
    figures, whole = data["figures"], data["whole"]
    progress, joined = stage_progress.progress(stage, whole), stage_progress.has_people(stage.study)
    return {
        **data,
        "stuck": blocked_items.blocked_counts(data.get("stuck", {})),
        "joined": joined,
        "reopen": data.get("stuck", {}).get(blocked_items.REOPEN, 0),
        "reopened": reopening.reopened(stage),
        "to_decide": data.get("stuck", {}).get("adjudicate", 0),
        "published": _published(stage, figures),
        "pace": _overall_pace(figures),
        "ranges": _ranges(figures["cost"]["range"]),
        "coarse": next(found for found in figures["agreement"] if found["on"] == figures["by_type_on"]),
        "agreement_words": agreement_in_words(figures, data["shares"]),
        "agreement_rows": agreement_rows(figures["agreement"]),
        "scaled": any("level" in found for found in figures["agreement"]),
        "still_open": progress["total"] - progress["done"],
        "state_words": _state_in_words(stage, figures, progress, joined),
        "waits_for": progress["waits_for"],
        "closing": passed_on(stage_progress.closing(stage, stages, whole)),
        "disagreements": answers_shown.as_seen(stage, data["cases"]),
        "all_decided": any(figures["disagreements"].values()),  # if none is listed
        "outcome_bars": list(bars.outcome_bars(_outcomes(protocol_named(stage.protocol), figures), measures(stage))),
        "plots": _plotted(stage, figures, data["shares"]),
        "audit_plot": data.get("audit") and study_charts.audit_plot(data["audit"], subject(stage, figures)),
        **paper_block(protocol_named(stage.protocol), figures),
        **scores_block(protocol_named(stage.protocol), figures, subject(stage, figures)),
    }


def _state_in_words(stage: Stage, figures: Mapping, progress: Mapping, joined: bool) -> str:
    """Describe the stage; judging stands still if the study is not open, or nobody has come or is left."""
    stops = figures["now"]["forecast"]["stopped"] or not joined
    if not stops or progress["words"] != stage_progress.BEING_JUDGED:
        return progress["words"]
    return "waiting for people" if stage.study.state == StudyState.OPEN else stage.study.state


def agreement_rows(agreement: Sequence[Mapping]) -> list[dict]:
    """Return a row for each measure with a cell for each view; None if it is not for the view's level."""
    cells = {
        measure: [
            one["measures"].get(measure.key)
            and measured_in_words(measure, one["measures"][measure.key], one.get("unit", ""))
            for one in agreement
        ]
        for measure in MEASURES
    }
    return [{"measure": measure, "cells": row} for measure, row in cells.items() if any(row)]


def _outcomes(protocol: Protocol, figures: dict) -> dict:
    """Return the counts of outcomes; for answers on a scale, or several answers, there need not be a majority."""
    outcomes = figures["outcomes"]
    if protocol.file is None or (is_plain(protocol.file) and not any("level" in one for one in figures["agreement"])):
        return outcomes
    decided = {by: n for by, n in outcomes["decided_by"].items() if by != "no_majority"}
    return {**outcomes, "decided_by": decided}


def _published(stage: Stage, figures: dict) -> dict | None:
    """Return the agreement that the protocol's paper reports on the view shown first (`paper`), and `ours`."""
    paper = PUBLISHED.get(stage.protocol)
    view = next(one for one in figures["agreement"] if one["on"] == figures["by_type_on"])
    if not paper or paper.on != view["on"]:
        return None
    return {"paper": paper, "ours": view["measures"][paper.measure]["value"]}


def _ranges(found: Mapping) -> bool:
    """Return whether the ends of the expected time are known and look different as written."""
    ends = found["minutes_low"], found["minutes_high"]
    return None not in ends and len(set(map(hours, ends))) == 2


def _overall_pace(figures: dict) -> float | None:
    progress, hours = figures["progress"], figures["pace"]["hours"]
    return counts.hourly_rate(progress["judgments_counted"] + progress["judgments_gone"], hours)


def subject(stage: Stage, figures: Mapping) -> study_charts.Subject:
    study = stage.study
    return study_charts.Subject(study.pk, study.name, figures["now"]["at"], stage.position, stage.title)


def _plotted(stage: Stage, figures: dict, shares: Sequence[float]) -> dict[str, study_charts.Plot]:
    of_stage = subject(stage, figures)
    return {
        "by_type": study_charts.type_plot(figures, shares, of_stage),
        "series": study_charts.series_plot(figures["series"], figures["now"]["at"], of_stage),
    }


def _estimated(stage: Stage) -> dict:
    """For a stage decided by an estimate: the last one, how many judgments count now, and the next one's job; `busy`
    until that has finished.
    """
    if stage.rule != DecisionRule.DAWID_SKENE:
        return {}
    job, failed = dawid_skene.jobs_of(stage)
    now = stage.slots.filter(judgment__isnull=False, task__live=True, task__kind=Kind.JUDGE).count()
    told = {"last": dawid_skene.last_estimate(stage), "judgments": now, "failed": failed}
    return {"estimate": {**told, "job": job, "pace": job and jobs.pace(job)}, "busy": job}


def _blocks(shown: dict) -> list[tuple[str, str]]:
    """Return the live parts of this stage's page, each with its template."""
    there = BLOCKS if "figures" in shown else FRESH
    templates = {name: f"dashboard/_{name}.html" for name in there if name not in MAYBE or shown.get(name)}
    templates["latest"] = "components/_as_of.html"
    return [*templates.items(), *([("paper", shown["paper_template"])] if "paper" in shown else [])]


def fingerprint(stage: Stage) -> str:
    """Return a value that changes when anything on the page does, including the forecast. Makes one query."""
    row = list(fetch(SEEN, study=stage.study_id, benchmark=stage.study.benchmark_id)[0])
    if row[0] != StudyState.OPEN or stage.state != StageState.OPEN:
        row[MINUTE] = ""
    return hashed((stage.position, row))


def _seen_large(stage: Stage, found: LatestFigures) -> str:
    """Return `<figures>_<current state>`; the first is 0 while there are no statistics."""
    flags = fetch(FLAGS, stage=stage.pk)
    row = fetch(SEEN_FRESH, study=stage.study_id, stage=stage.pk), flags, found.progress
    figures = hashed((stage.position, found.made_at)) if found.data is not None else "0"
    return f"{figures}_{hashed(row)}"


def _stage_links(stage: Stage) -> list[tuple[str, str]]:
    """Return the pages about this stage that the user may open: (address, words)."""
    study, position = stage.study_id, stage.position
    query = f"?stage={position}"
    manages = stage.study.may.manage
    managing = [("study-try", "Try it"), ("study-checks", "Checks and practice")] if manages else []
    named = manages and stage.strategy == Strategy.NAMED
    audited = stage.strategy == Strategy.AUDIT
    models = [("study-model-errors", "People and models", [study], query)] if asked_in(stage.protocol) else []
    return _linked(
        *((name, words, [study, position], "") for name, words in managing),
        ("study-instructions", "Instructions", [study], query),
        *models,
        *([("study-assign", "Assign", [study, position], "")] if named else []),
        *([("study-corrected", "Corrected table of models", [study, position], "")] if audited else []),
    )


def _linked(*pages: tuple) -> list[tuple[str, str]]:
    return [(reverse(name, args=args) + query, words) for name, words, args, query in pages]
