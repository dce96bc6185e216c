"""What the study page shows about a stage with the strategy *audit*."""

from typing import Any

from annotation.charts.study import Plot, Subject, audit_plot
from annotation.exports.readme import describe
from annotation.measures.audits.sentence import aim, sentence
from annotation.models import Kind, Stage, Strategy
from annotation.pipeline import audits
from annotation.pipeline.audit_order import is_stratified


def summary(stage: Stage, cost: float) -> dict[str, Any]:
    """JSON-able; {} for other stages. `cost` is that of the stage so far; items to come are expected to cost as much
    each as those that are settled.
    """
    if stage.strategy != Strategy.AUDIT:
        return {}
    rows, target = audits.audited(stage), audits.target_of(stage)
    found = audits.progress_of(stage, rows)
    settled = sum(row.wrong is not None for row in rows)
    counted = stage.slots.filter(judgment__isnull=False, task__kind=Kind.JUDGE)
    each = cost / settled if settled else None
    to_come = {
        "expected": None if found.plan.expected is None else max(0, found.plan.expected - settled),
        "most": max(0, found.plan.most - settled),
    }
    return {
        "items": found.items, "n": found.n, "wrong": found.wrong, "met": found.met, "settled": settled,
        "estimate": found.estimate, "low": found.low, "high": found.high, "half_width": found.half_width,
        "band": found.band, "aim": aim(target), "any_look": stage.any_look, "sha256": stage.order_sha256,
        "more": to_come, "cost": cost,
        "cost_to_come": {name: None if each is None or n is None else each * n for name, n in to_come.items()},
        "is_bound": stage.target_bound is not None,
        "target_percent": round(100 * (stage.target_bound or stage.target_half_width or 0), 6),
        "sentence": sentence(
            found, target, benchmark=stage.study.benchmark.name, stratified=is_stratified(stage), seed=stage.seed,
            sha256=stage.order_sha256, annotators=counted.values("annotator").distinct().count(),
            decision=describe(stage),
        ),
    }  # fmt: skip


def plot(found: dict[str, Any], subject: Subject) -> Plot:
    return audit_plot(found["band"], found["items"], found["aim"], subject)
