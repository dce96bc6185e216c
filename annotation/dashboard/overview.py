"""What the study page shows of a stage and takes long: its figures, the funnel, what disagrees, batches. JSON-able.

Computed while the page waits, or of a large study by the worker (figures/cache.py). It holds what the page shows and no
more: of 500 annotators those with signs and those who judged most, of their 124,750 pairs those with most items in
common. Exports have all.
"""

from collections.abc import Callable
from itertools import count

from annotation.adjudication import disagreement_list
from annotation.figures import blocked_items, cache
from annotation.figures.funnel import funnel
from annotation.figures.stage import study_figures
from annotation.models import Kind, Slot, Stage, StageState, Strategy
from annotation.protocols.registry import PROTOCOLS
from annotation.sql import fetch
from annotation.wording import pseudonym
from benchmarks.jobs.jobs import Tell, silent

KIND = "page"
CASES = 6  # disagreements that are shown
PAIRS = 45  # of annotators
PLACES = 1000  # of batches
PEOPLE = 100  # rows of annotators

BATCHES = """
SELECT task.batch, slot.number, count(DISTINCT task.item_id), count(*), count(slot.judgment_id),
       max(annotator.number)
FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id
LEFT JOIN annotation_annotator annotator ON annotator.id = coalesce(slot.reserved_id, slot.annotator_id)
WHERE slot.stage_id = %(stage)s AND task.kind = 'judge' AND task.live AND task.batch IS NOT NULL
GROUP BY task.batch, slot.number ORDER BY task.batch, slot.number
"""


@cache.reckons(KIND)
def overview(stage: Stage, key: str = "", tell: Tell = silent) -> dict:
    """`figures` are study_figures without its `kappa_pairs` (`pairs` and `pair_count` stand for them), and with the
    annotators that are shown (`people` says how many there are).
    """
    parts: dict[str, Callable[[Stage], object]] = {
        "whole": lambda stage: funnel(stage.study),
        "cases": lambda stage: disagreement_list.listed(stage, CASES),
        "stuck": blocked_items.counts,
        "batches": batches,
        "again": again,
        "no_checks": no_checks,
    }
    done, total = count(1), 3 + len(PROTOCOLS[stage.protocol].projections) + len(parts)
    tell(0, total)
    found = trimmed(study_figures(stage, lambda: tell(next(done), total)))
    for name, compute in parts.items():
        found[name] = compute(stage)
        tell(next(done), total)
    return found


def trimmed(figures: dict) -> dict:
    coarse = next(found for found in figures["agreement"] if found["on"] == figures["by_type_on"])
    agreement = [{name: of[name] for name in of if name != "kappa_pairs"} for of in figures["agreement"]]
    return {
        "figures": {**figures, "agreement": agreement, "annotators": shown(figures["annotators"])},
        "people": len(figures["annotators"]),
        "pairs": sorted(coarse["kappa_pairs"], key=lambda pair: -pair["n"])[:PAIRS],
        "pair_count": len(coarse["kappa_pairs"]),
    }


def shown(annotators: list[dict]) -> list[dict]:
    """Those to look at first, in the order of joining."""
    places = sorted(range(len(annotators)), key=lambda at: (not annotators[at]["signs"], -annotators[at]["judged"]))
    return [annotators[at] for at in sorted(places[:PEOPLE])]


def batches(stage: Stage) -> dict:
    """Each place of each batch: whose it is and how far; and how many are given and done."""
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


def again(stage: Stage) -> int:
    """Items of a closed stage that are given out all the same: sent back, or with new candidates."""
    if stage.state == StageState.OPEN:
        return 0
    return Slot.objects.filter(stage=stage, live=True, judgment=None).values("task__item").distinct().count()


def no_checks(stage: Stage) -> bool:
    """Whether the stage is to have checks, and has none."""
    return bool(stage.check_rate) and not stage.tasks.filter(kind=Kind.CHECK, live=True).exists()
