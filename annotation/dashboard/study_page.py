"""The study page: the funnel of its stages, one stage's figures, and what needs a manager's attention.

`overview` computes what takes long, during the request or, for a large study, in the worker (figures/cache.py);
`contents` adds what changes at once and prepares both for the templates.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count, zip_longest

from django.urls import reverse
from django.utils import timezone

from annotation.adjudication import answers_shown, cases, disagreement_list
from annotation.charts import bars
from annotation.charts import study as study_charts
from annotation.comparison.question_map import asked_in
from annotation.dashboard import audit_block
from annotation.dashboard.agreement_page import measured_in_words
from annotation.dashboard.next_step import NextStep, Reached, next_step, passed_on_by, under_way, waits_for_closing
from annotation.dashboard.scores_block import scores_block
from annotation.exports import job as export_job
from annotation.figures import blocked_items, cache, human_baseline
from annotation.figures.cache import LatestFigures
from annotation.figures.funnel import funnel, measures
from annotation.figures.stage import FLAGS, LEASED, stage_rows, study_figures
from annotation.measures import counts, stage_figures
from annotation.measures.agreement_measures import MEASURES
from annotation.measures.counts import iso_time
from annotation.measures.papers.published import PUBLISHED, PublishedAgreement
from annotation.models import (
    STUDY_MOVES,
    DecisionRule,
    Kind,
    Slot,
    Stage,
    StageState,
    Strategy,
    Study,
    StudyState,
)
from annotation.pipeline import audits, dawid_skene
from annotation.protocols import in_words
from annotation.protocols.base import Answer, Protocol
from annotation.protocols.compile import is_plain
from annotation.protocols.registry import protocol_named
from annotation.releases import lifecycle as release_lifecycle
from annotation.releases import page as releases_page
from annotation.sql import fetch
from annotation.studies import reopening
from annotation.wording import pseudonym
from benchmarks.jobs import jobs
from benchmarks.jobs.jobs import Tell, no_progress
from benchmarks.models import Job
from benchmarks.views.likeness import panels

KIND = "page"
CASES = 6  # disagreements that are shown
PAIRS = 45  # of annotators
PLACES = 1000  # of batches
PEOPLE = 100  # rows of annotators
SHOWN = 6  # flags
RELEASES = 3
FRESH = ("summary", "latest", "stage", "flags", "exports", "releases")  # always current, whatever the size
BLOCKS = (
    *FRESH, "next_step", "tiles", "funnel", "tabs", "outcomes", "kappas", "series", "annotators", "agreement", "types",
    "disagreements", "batches", "scored", "audit",
)  # fmt: skip
MAYBE = ("batches", "scored", "audit")  # blocks that not every stage has
MOVES = {StudyState.PAUSED: "Pause", StudyState.OPEN: "Open", StudyState.CLOSED: "Close"}

# Counts and newest rows: whenever anything on the page changes, something here changes too. LATERAL, so that it reads
# only the study's own rows, however many the tables have.
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
MINUTE = -1  # of SEEN: forecasts move with the clock

# What is current for a large study. Everything else on its page is as of when it was computed.
SEEN_FRESH = """
SELECT (SELECT state FROM annotation_study WHERE id = %(study)s),
  (SELECT array_agg(state ORDER BY position) FROM annotation_stage WHERE study_id = %(study)s),
  (SELECT max(id) FROM annotation_instructions WHERE stage_id = %(stage)s),
  (SELECT count(*) FROM annotation_slot WHERE stage_id = %(stage)s AND held_until > now()),
  (SELECT array_agg(id || state ORDER BY id) FROM benchmarks_job
   WHERE kind IN ('export', 'estimate', 'release') AND params @> jsonb_build_object('study', %(study)s::bigint))
"""


def contents(stage: Stage, small: bool = True) -> dict:
    """Everything that the page and its live part show; for a large study, what takes long is as last computed."""
    study, protocol = stage.study, protocol_named(stage.protocol)
    stages = _stages_of(study)
    # The forecast, and items blocked because nobody comes, change with the clock while work continues.
    going = study.state == StudyState.OPEN and stage.state == StageState.OPEN
    if small:
        found = LatestFigures(overview(stage), timezone.now(), current=True)
    else:
        found = cache.latest(stage, KIND, small=False, good=cache.CLOCK if going else None)
    shown = {
        "stage": stage,
        "study": study,
        "protocol": protocol,
        "rule_words": in_words.rules_in_words(protocol.file) if protocol.file else "",
        "instructions": stage.instructions.latest("version"),
        "large": not small,
        "latest": found,
        "tabs": [_tab(one, stage) for one in stages],
        **_looked_at(stage),
        **_estimated(stage),
        "stage_links": _stage_links(stage),
        "study_links": _study_links(study, bool(human_baseline.pairs_of(stages))),
        "seen": fingerprint(stage) if small else _seen_large(stage, found),
    }
    if found.data is not None:
        shown |= _drawn(stage, stages, found.data if small else _up_to_date(stage, found.data))
    return {**shown, "blocks": _blocks(shown)}


def _stages_of(study: Study) -> list[Stage]:
    """In order, each with its source, by one query."""
    stages = list(study.stages.order_by("position"))
    known = {stage.pk: stage for stage in stages}
    for stage in stages:
        if stage.source_id is not None:
            stage.source = known[stage.source_id]
    return stages


def _up_to_date(stage: Stage, data: dict) -> dict:
    """Earlier figures, updated with what can be counted at once: open leases and flags."""
    ((leased, until, _),), ((flags, unsettled),) = fetch(LEASED, stage=stage.pk), fetch(FLAGS, stage=stage.pk)
    figures = data["figures"]
    progress = {**figures["progress"], "flags": flags, "flags_open": unsettled}
    now = {**figures["now"], "leased": leased, "held_until": iso_time(until)}
    return {**data, "figures": {**figures, "progress": progress, "now": now}}


def newer(shown: dict, seen: str) -> dict:
    """The blocks to send to a page that has `seen`, without the figures that it already shows."""
    if shown["large"] and seen.partition("_")[0] == shown["seen"].partition("_")[0]:
        there = {*FRESH, "tiles"}
        return {**shown, "blocks": [(name, template) for name, template in shown["blocks"] if name in there]}
    return shown


def _drawn(stage: Stage, stages: list[Stage], data: dict) -> dict:
    """The stage's figures (`overview`), with what the page derives from them."""
    figures, whole = data["figures"], data["whole"]
    return {
        **data,
        "stuck": blocked_items.blocked_counts(data.get("stuck", {})),
        "joined": stage.study.annotators.exists(),
        "reopen": data.get("stuck", {}).get(blocked_items.REOPEN, 0),
        "reopened": reopening.reopened(stage),
        "to_decide": data.get("stuck", {}).get("adjudicate", 0),
        "published": _published(stage, figures["by_type_on"]),
        "pace": _overall_pace(figures),
        "coarse": next(found for found in figures["agreement"] if found["on"] == figures["by_type_on"]),
        "agreement_rows": agreement_rows(figures["agreement"]),
        "scaled": any("level" in found for found in figures["agreement"]),
        "tabs": [_tab(one, stage, whole) for one in stages],
        "still_open": _still_open(stage, whole),
        "closing": _closing(stage, stages, whole),
        "next_step": _next_step(stage, stages, data),
        "disagreements": answers_shown.as_seen(stage, data["cases"]),
        "outcome_bars": list(bars.outcome_bars(_outcomes(protocol_named(stage.protocol), figures), measures(stage))),
        "plots": _plotted(stage, figures, whole),
        "audit_plot": _audit_plot(stage, figures, data),
        **paper_block(protocol_named(stage.protocol), figures),
        **scores_block(protocol_named(stage.protocol), figures, _subject(stage, figures)),
    }


def agreement_rows(agreement: Sequence[Mapping]) -> list[dict]:
    """The measures of a stage's views, a row each with a cell for each view; None if it is not of the view's level."""
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
    """The counts of outcomes; of answers on a scale, and of several, most annotators need not say the same."""
    outcomes = figures["outcomes"]
    if protocol.file is None or (is_plain(protocol.file) and not any("level" in one for one in figures["agreement"])):
        return outcomes
    decided = {by: n for by, n in outcomes["decided_by"].items() if by != "no_majority"}
    return {**outcomes, "decided_by": decided}


def _published(stage: Stage, view: str) -> PublishedAgreement | None:
    """The agreement that the protocol's paper reports on this view of the answers."""
    found = PUBLISHED.get(stage.protocol)
    return found if found and found.on == view else None


def _overall_pace(figures: dict) -> float | None:
    progress, hours = figures["progress"], figures["pace"]["hours"]
    return counts.hourly_rate(progress["judgments_counted"] + progress["judgments_gone"], hours)


def _subject(stage: Stage, figures: dict) -> study_charts.Subject:
    study = stage.study
    return study_charts.Subject(study.pk, study.name, figures["now"]["at"], stage.position, stage.name)


def _audit_plot(stage: Stage, figures: dict, data: dict) -> study_charts.Plot | None:
    return audit_block.plot(data["audit"], _subject(stage, figures)) if data.get("audit") else None


def _plotted(stage: Stage, figures: dict, whole: dict) -> dict[str, study_charts.Plot]:
    study, at, of_stage = stage.study, figures["now"]["at"], _subject(stage, figures)
    return {
        "funnel": study_charts.funnel_plot(whole, study_charts.Subject(study.pk, study.name, at)),
        "by_type": study_charts.type_plot(figures, of_stage),
        "series": study_charts.series_plot(figures["series"], at, of_stage),
    }


def _looked_at(stage: Stage) -> dict:
    """What needs attention and what can be done. `busy`: a job that the page shows has not finished."""
    study = stage.study
    going = Job.objects.filter(
        kind__in=(export_job.KIND, dawid_skene.KIND, release_lifecycle.KIND), params__study=study.pk
    )
    return {
        "flags": answers_shown.open_flags(stage, SHOWN),
        "exports": list(export_job.exports_of(study)[:5]),
        "releases": [releases_page.list_row(release) for release in releases_page.releases_of(study)[:RELEASES]],
        "busy": going.filter(state__in=cache.UNDER_WAY).exists(),
        "moves": [(to, MOVES[to]) for to in MOVES if to in STUDY_MOVES[StudyState(study.state)]],
    }


def _estimated(stage: Stage) -> dict:
    """For a stage decided by an estimate: the last one, how many judgments count now, and the next one's job."""
    if stage.rule != DecisionRule.DAWID_SKENE:
        return {}
    job, failed = dawid_skene.under_way(stage), dawid_skene.unfinished(stage)
    now = stage.slots.filter(judgment__isnull=False, task__live=True, task__kind=Kind.JUDGE).count()
    told = {"last": dawid_skene.last_estimate(stage), "judgments": now, "failed": failed}
    return {"estimate": {**told, "job": job, "pace": job and jobs.pace(job)}}


def _blocks(shown: dict) -> list[tuple[str, str]]:
    """The page's live parts that this stage has, each with its template."""
    there = BLOCKS if "figures" in shown else FRESH
    templates = {name: f"dashboard/_{name}.html" for name in there if name not in MAYBE or shown.get(name)}
    templates["latest"] = "components/_as_of.html"
    return [*templates.items(), *([("paper", shown["paper_template"])] if "paper" in shown else [])]


def fingerprint(stage: Stage) -> str:
    """Changes when anything changes that the page shows, the forecast's minutes included. One query."""
    row = list(fetch(SEEN, study=stage.study_id, benchmark=stage.study.benchmark_id)[0])
    if row[0] != StudyState.OPEN or stage.state != StageState.OPEN:
        row[MINUTE] = ""
    return hashed((stage.position, row))


def _seen_large(stage: Stage, found: LatestFigures) -> str:
    """`<figures>_<current state>`; the first is 0 while there are no figures."""
    flags = fetch(FLAGS, stage=stage.pk)
    job = (found.job.pk, str(found.job.state), found.job.done, found.job.total) if found.job else None
    row = fetch(SEEN_FRESH, study=stage.study_id, stage=stage.pk) + flags + [found.current, found.due, job]
    figures = hashed((stage.position, found.made_at)) if found.data is not None else "0"
    return f"{figures}_{hashed(row)}"


def hashed(what: object) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()[:16]


def _tab(one: Stage, shown: Stage, whole: dict | None = None) -> dict:
    """A stage's tab: its progress, and its place in the funnel if known."""
    named = {"stage": one, "title": protocol_named(one.protocol).title, "current": one == shown}
    if whole is None:
        return named
    steps = {step["stage"]: step for step in (*whole["stages"], *whole["measuring"])}
    step = steps[one.position]
    entered = step.get("entered", step.get("tasks", 0))
    done = step["answered"] if "answered" in step else entered - step["open"]
    total = step.get("needed", entered)
    before = one.source if not total and waits_for_closing(one) else None
    waits_for = before.position if before and before.state == StageState.OPEN else None
    return {**named, "total": total, "done": done, "about": total > done and "needed" in step, "waits_for": waits_for}


def _still_open(stage: Stage, whole: dict) -> int:
    """The items of the stage without an outcome; of a stage that measures, its questions."""
    tab = _tab(stage, stage, whole)
    return tab["total"] - tab["done"]


def _reached(stages: list[Stage], whole: dict) -> list[Reached]:
    return [Reached(one, tab["done"], tab["total"]) for one in stages for tab in [_tab(one, one, whole)]]


def _next_step(stage: Stage, stages: list[Stage], data: dict) -> NextStep:
    whole, study, stuck = data["whole"], stage.study, data.get("stuck", {})
    signs = sum(bool(row["signs"]) and not row["excluded"] for row in data["figures"]["annotators"])
    step = next_step(
        stage,
        _reached(stages, whole),
        {one.pk: _closing(one, stages, whole) for one in stages},
        adjudicate=cases.undecided(stages),
        reopen=stuck.get(blocked_items.REOPEN, 0),
        unstaffed={int(position): items for position, items in data.get("unstaffed", {}).items()},
        joined=study.annotators.exists(),
        released=study.releases.exclude(frozen_at=None).exists(),
    )
    return step if step.is_last else replace(step, signs=signs)


def _closing(stage: Stage, stages: list[Stage], whole: dict) -> list[dict]:
    """What closing the stage would pass on (`passed_on_by`); nothing if it measures."""
    steps = {step["stage"]: step for step in whole["stages"]}
    if stage.position not in steps:
        return []
    step = steps[stage.position]
    return passed_on_by(
        stage, stages, {"kept": step["kept"]} | {row["reason"]: row["items"] for row in step["reasons"]}
    )


def _stage_links(stage: Stage) -> list[tuple[str, str]]:
    """The pages about this stage that the user may open: (address, words)."""
    study, position = stage.study_id, stage.position
    query = f"?stage={position}"
    manages = stage.study.may.manage
    managing = [("study-checks", "Checks and practice"), ("study-try", "Try it")] if manages else []
    named = manages and stage.strategy == Strategy.NAMED
    audited = stage.strategy == Strategy.AUDIT
    models = [("study-model-errors", "People and models", [study], query)] if asked_in(stage.protocol) else []
    return _linked(
        ("study-instructions", "Instructions", [study], query),
        *((name, words, [study, position], "") for name, words in managing),
        ("study-adjudicate", "Adjudicate" if manages else "Cases", [study], query),
        *models,
        *([("study-assign", "Assign", [study, position], "")] if named else []),
        *([("study-corrected", "Corrected table", [study, position], "")] if audited else []),
    )


def _study_links(study: Study, measured: bool) -> list[tuple[str, str]]:
    """The pages about the whole study that the user may open."""
    models = ("benchmark-models", "Models and humans", [study.benchmark_id], "")
    baseline = [("study-baseline", "Human baseline", [study.pk], ""), models] if measured else []
    people = [
        ("study-participants", "Participants", [study.pk], ""), ("study-members", "Members", [study.pk], ""),
        ("study-webhooks", "Webhooks", [study.pk], ""),
        ("study-new", "Duplicate", [], f"?copy={study.pk}&benchmark={study.benchmark_id}"),
    ]  # fmt: skip
    papers = [("study-report", "Report", [study.pk], ""), ("release-list", "Releases", [study.pk], "")]
    items = ("study-items", "Items", [study.pk], "")
    return _linked(items, *(people if study.may.manage else []), *baseline, *papers)


def _linked(*pages: tuple) -> list[tuple[str, str]]:
    return [(reverse(name, args=args) + query, words) for name, words, args, query in pages]


# What takes long

# Each place of each batch: its annotator and progress.
BATCHES = """
SELECT task.batch, slot.number, count(DISTINCT task.item_id), count(*), count(slot.judgment_id),
       max(annotator.number)
FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
LEFT JOIN annotation_annotator annotator ON annotator.id = coalesce(slot.reserved_id, slot.annotator_id)
WHERE slot.stage_id = %(stage)s AND task.kind = 'judge' AND task.live AND task.batch IS NOT NULL
GROUP BY task.batch, slot.number ORDER BY task.batch, slot.number
"""


@cache.computes(KIND)
def overview(stage: Stage, key: str = "", tell: Tell = no_progress) -> dict:
    """`figures` are study_figures without `kappa_pairs` (replaced by `pairs` and `pair_count`) and with only the
    annotators that are shown (`people` is the number of all, `judging` of those who have judged); `headline` is
    stage_figures.headline.
    """
    parts: dict[str, Callable[[Stage], object]] = {
        "whole": _whole,
        "cases": lambda stage: disagreement_list.list_disagreements(stage, CASES),
        "stuck": blocked_items.counts,
        "batches": _batches,
        "again": _again,
        "no_checks": _no_checks,
    }
    done, total = count(1), 3 + len(protocol_named(stage.protocol).projections) + len(parts)
    tell(0, total)
    rows = stage_rows(stage)
    figures = study_figures(stage, rows, lambda: tell(next(done), total))
    found = {**_trimmed(figures), "headline": stage_figures.headline(figures)}
    for name, compute in parts.items():
        found[name] = compute(stage)
        tell(next(done), total)
    audit = audit_block.summary(stage, figures["cost"]["cost"])
    return {**found, "audit": audit, "unstaffed": _unstaffed(stage, found)}


def _whole(stage: Stage) -> dict:
    """The study's funnel, with `needed` in the steps of its audits: the items that each is expected to need in all."""
    found = funnel(stage.study)
    audited = {one.position: one for one in stage.study.stages.filter(strategy=Strategy.AUDIT)}
    for step in found["stages"]:
        if step["stage"] in audited:
            step["needed"] = audits.needs(audited[step["stage"]]).items
    return found


def _unstaffed(stage: Stage, found: dict) -> dict[str, int]:
    """The items that no annotator is left to judge in the first stage that is under way, by its position."""
    reached = _reached(_stages_of(stage.study), found["whole"])
    going = under_way(reached)
    if going is None:
        return {}
    stuck = found["stuck"] if going == stage else blocked_items.counts(going)
    return {str(going.position): blocked_items.unstaffed(stuck)}


def _trimmed(figures: dict) -> dict:
    coarse = next(found for found in figures["agreement"] if found["on"] == figures["by_type_on"])
    agreement = [{name: of[name] for name in of if name != "kappa_pairs"} for of in figures["agreement"]]
    return {
        "figures": {**figures, "agreement": agreement, "annotators": _annotators_shown(figures["annotators"])},
        "people": len(figures["annotators"]),
        "judging": sum(row["judged"] > 0 for row in figures["annotators"]),
        "pairs": sorted(coarse["kappa_pairs"], key=lambda pair: -pair["n"])[:PAIRS],
        "pair_count": len(coarse["kappa_pairs"]),
    }


def _annotators_shown(annotators: list[dict]) -> list[dict]:
    """The annotators to review first, in order of joining."""
    places = sorted(range(len(annotators)), key=lambda at: (not annotators[at]["signs"], -annotators[at]["judged"]))
    return [annotators[at] for at in sorted(places[:PEOPLE])]


def _batches(stage: Stage) -> dict:
    """Each place of each batch with its annotator and progress, and how many are assigned and done."""
    if stage.strategy not in (Strategy.BATCHES, Strategy.EVERYONE):
        return {}
    names = ("batch", "place", "items", "tasks", "judged", "holder")
    rows = [dict(zip(names, row, strict=True)) for row in fetch(BATCHES, stage=stage.pk)]
    for row in rows:
        row["who"] = pseudonym(row["holder"]) if row["holder"] else ""
    return {
        "rows": rows[:PLACES],
        "count": len({row["batch"] for row in rows}),
        "places": len(rows),
        "given": sum(row["holder"] is not None for row in rows),
        "done": sum(row["judged"] == row["tasks"] for row in rows),
    }


def _again(stage: Stage) -> int:
    """The number of items of a closed stage that are assigned anyway: sent back, or with new candidates."""
    if stage.state == StageState.OPEN:
        return 0
    return Slot.objects.filter(stage=stage, live=True, judgment=None).values("task__item").distinct().count()


def _no_checks(stage: Stage) -> bool:
    """Whether the stage has a rate of checks but no check items."""
    return bool(stage.check_rate) and not stage.tasks.filter(kind=Kind.CHECK, live=True).exists()


# What the paper of a stage's protocol reports

CRITERIA = {"sense": "commonsense", "fluency": "grammar"}  # the paper's names
EDITS = ("Texts and edits", "dashboard/_paper_edits.html")
PAPERS = {
    "visla-paraphrase": EDITS,
    "visla-triplet": EDITS,
    "hard-positive-rank": ("Both positives above the negative", "dashboard/_paper_rank.html"),
    "sugarcrepe-compare": ("Better, by origin", "dashboard/_paper_compare.html"),
}


def paper_block(protocol: Protocol, figures: dict) -> dict:
    """The page's `paper` block; {} for a stage whose paper reports nothing beyond the other blocks."""
    if "paper" not in figures:
        return {}
    title, template = PAPERS[protocol.name]
    paper = figures["paper"]
    return {"paper": paper, "paper_title": title, "paper_template": template, **_drawn_paper(protocol, paper)}


def _drawn_paper(protocol: Protocol, paper: dict) -> dict:
    """What its template needs besides the figures."""
    if "fates" in paper:
        none: dict = {}
        guidelines = zip_longest(paper["broken"], paper.get("holds", ()), fillvalue=none)
        return {
            "fate_bars": list(bars.fate_bars(paper["fates"])),
            "edit_rows": [row | {"spreads": [row["characters"], row["words"]]} for row in paper["edits"]],
            "guideline_rows": [broken | holds for broken, holds in guidelines],
            "likeness_panels": panels(paper["lexical"]),
        }
    if protocol.form and "orders" in paper:
        orders = [row | {"words": protocol.form.describe(Answer(row["order"]))} for row in paper["orders"]]
        return {"order_rows": orders, "order_bars": list(bars.order_bars(orders))}
    rows, whole = ([row | {"words": CRITERIA[row["criterion"]]} for row in paper[part]] for part in ("rows", "all"))
    return {"compare_rows": rows, "compare_whole": whole, "compare_bars": list(bars.compare_bars(rows))}
