"""The slow parts of the study page, computed during the request or, for a large study, by the worker."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count

from django.utils import timezone

from annotation.adjudication import cases, disagreement_list
from annotation.dashboard import audit_block, stage_progress
from annotation.figures import cache
from annotation.figures.cache import LatestFigures
from annotation.figures.funnel import figures_of, measures, walk_of
from annotation.figures.stage import stage_rows, study_figures, without_pairs
from annotation.measures import stage_figures
from annotation.measures.funnel import fates
from annotation.models import Kind, Outcome, Slot, Stage, StageState, Strategy, Study, StudyState
from annotation.pipeline import audits
from annotation.protocols.decision_rule import ADJUDICATOR, OPEN
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch
from annotation.wording import pseudonym
from benchmarks.jobs.jobs import Tell, no_progress

KIND = "page"
CASES = 6  # disagreements shown
PAIRS = 45  # of annotators
PLACES = 1000  # of batches
PEOPLE = 100  # rows of annotators

# Each place in each batch: its annotator and progress.
BATCHES = """
SELECT task.batch, slot.number, count(DISTINCT task.item_id), count(*), count(slot.judgment_id),
       max(annotator.number)
FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
LEFT JOIN annotation_annotator annotator ON annotator.id = coalesce(slot.reserved_id, slot.annotator_id)
WHERE slot.stage_id = %(stage)s AND task.kind = 'judge' AND task.live AND task.batch IS NOT NULL
GROUP BY task.batch, slot.number ORDER BY task.batch, slot.number
"""


@cache.computes(KIND)
def overview(
    stage: Stage, key: str = "", tell: Tell = no_progress, stages: Sequence[Stage] | None = None, lists: bool = True
) -> dict:
    """`figures` are study_figures without `kappa_pairs` (replaced by `pairs` and `pair_count`) and with only the
    annotators that are shown (`people` is the number of all, `judging` of those who have judged); `headline` is
    stage_figures.headline, and `shares` those of the answers, the most common first. `stages`: all of the study, if
    they have been read. Without `lists`, nothing that only the stage's own page shows.
    """
    stages = stage_progress.stages_of(stage.study) if stages is None else stages
    audit = audits.with_needs(stage) if stage.strategy == Strategy.AUDIT else None
    parts: dict[str, Callable[[Stage], object]] = {
        "whole": lambda stage: _whole(stage.study, stages, {stage.pk: audit[1]} if audit else {}),
        **(LISTS if lists else {}),
    }
    done, total = count(1), 3 + len(protocol_named(stage.protocol).projections) + len(parts)
    tell(0, total)
    rows = stage_rows(stage)
    figures = study_figures(stage, rows, lambda: tell(next(done), total))
    shares = stage_figures.answer_shares(rows)
    figures = stage_figures.with_steady(rows, figures, shares)
    found = {
        **_trimmed(figures),
        "headline": stage_figures.headline(figures, shares),
        "shares": shares,
        "stuck": figures["now"]["blocked"],
    }
    for name, compute in parts.items():
        found[name] = compute(stage)
        tell(next(done), total)
    return {**found, "audit": audit_block.summary(stage, figures, *audit) if audit else {}}


def latest(stage: Stage, small: bool, stages: Sequence[Stage], lists: bool = True) -> LatestFigures:
    """As of now for a small study. The forecast, and items blocked because nobody comes, change with the clock while
    work continues.
    """
    if small:
        return LatestFigures(overview(stage, stages=stages, lists=lists), timezone.now(), current=True)
    going = stage.study.state == StudyState.OPEN and stage.state == StageState.OPEN
    return cache.latest(stage, KIND, small=False, good=cache.CLOCK if going else None)


def _whole(study: Study, stages: Sequence[Stage], known: Mapping[int, audits.Needs]) -> dict:
    """Return the study's funnel, with the items that a person must decide (`waiting` if open, else `flagged`) or has
    decided (`by_hand`), and in its audits' steps `needed`, the items that each is expected to need in all; `known` has
    some of these, by stage key.
    """
    selecting = [one for one in stages if not measures(one)]
    walk = walk_of(study, selecting)
    ends = fates(walk)
    queue = [ends[item].state for item in cases.waiting(selecting) if item in ends]
    waiting = queue.count(OPEN)
    by_hand = Outcome.objects.filter(by=ADJUDICATOR, task__stage__in=selecting, task__live=True)
    found = {
        **figures_of(walk, ends, stages), "waiting": waiting, "flagged": len(queue) - waiting,
        "by_hand": by_hand.values("task__item").distinct().count(),
    }  # fmt: skip
    audited = {one.position: one for one in stages if one.strategy == Strategy.AUDIT}
    for step in found["stages"]:
        if step["stage"] in audited:
            one = audited[step["stage"]]
            step["needed"] = (known.get(one.pk) or audits.needs(one)).items
    return found


def _trimmed(figures: dict) -> dict:
    coarse = next(found for found in figures["agreement"] if found["on"] == figures["by_type_on"])
    return {
        "figures": {**without_pairs(figures), "annotators": _annotators_shown(figures["annotators"])},
        "people": len(figures["annotators"]),
        "judging": sum(row["judged"] > 0 for row in figures["annotators"]),
        "pairs": sorted(coarse["kappa_pairs"], key=lambda pair: -pair["n"])[:PAIRS],
        "pair_count": len(coarse["kappa_pairs"]),
    }


def _annotators_shown(annotators: list[dict]) -> list[dict]:
    """Return the annotators to show, those to review first, otherwise in order of joining."""
    places = sorted(range(len(annotators)), key=lambda at: (not annotators[at]["signs"], -annotators[at]["judged"]))
    return [annotators[at] for at in sorted(places[:PEOPLE])]


def _batches(stage: Stage) -> dict:
    """Return each place in each batch with its annotator and progress, and how many are assigned and done."""
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
    """Return the number of a closed stage's items that are given out anyway: sent back, or with new candidates."""
    if stage.state == StageState.OPEN:
        return 0
    return Slot.objects.filter(stage=stage, live=True, judgment=None).values("task__item").distinct().count()


def _no_checks(stage: Stage) -> bool:
    """Return whether the stage has a rate of checks but no check items."""
    return bool(stage.check_rate) and not stage.tasks.filter(kind=Kind.CHECK, live=True).exists()


LISTS: Mapping[str, Callable[[Stage], object]] = {
    "cases": lambda stage: disagreement_list.list_disagreements(stage, CASES),
    "batches": _batches,
    "again": _again,
    "no_checks": _no_checks,
}
