"""The part of the study page about a stage with the strategy *audit*."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.measures.audits.judges import Corrected
from annotation.measures.audits.plan import Target
from annotation.measures.audits.running import Progress, progress
from annotation.measures.audits.sentence import (
    Work,
    aim,
    corrected_in_words,
    dropped_how,
    reached,
    sentence,
    standing,
    verdict,
)
from annotation.measures.pay import Pay
from annotation.models import Kind, Stage, StageState
from annotation.pipeline import audits
from annotation.pipeline.audit_order import is_stratified
from annotation.pipeline.stage_rules import rule_in_words
from annotation.protocols.decision_rule import ADJUDICATOR
from annotation.studies import audit_target
from annotation.wording import counted

_HARDLY_NARROWER = 0.95  # of the interval's half-width


def summary(
    stage: Stage, figures: Mapping[str, Any], rows: Sequence[audits.Audited], needs: audits.Needs
) -> dict[str, Any]:
    """Summarise the audit, JSON-able. `figures` are the stage's, `rows` the items in order; future judgments are
    expected to cost as much each as those that count.
    """
    target = audits.target_of(stage)
    without_errors = Corrected(**of_errors) if (of_errors := figures["audit"].get("corrected")) else None
    found = needs.progress
    hour = figures["cost"]["active_minutes"] / 60 * Pay.of(figures["study"]).now
    to_come = {"expected": needs.expected, "most": needs.most}
    return {
        "items": found.items, "n": found.n, "wrong": found.wrong, "met": found.met, "ended": found.ended,
        "standing": standing(found.met, found.ended, found.futile), "verdict": verdict(found, target),
        "settled": needs.settled, "so_far": needs.so_far, "counts": counts(stage, found, needs.settled),
        "estimate": found.estimate, "low": found.low, "high": found.high,
        "band": found.band, "aim": unbroken(aim(target)), "reached": unbroken(reached(found, target)),
        "any_look": stage.any_look, "sha256": stage.order_sha256, "scores_of": stage.scores_of,
        "scores_sha256": stage.scores_sha256,
        "scores_hardly_help": bool(stage.scores_sha256) and _scores_hardly_help(rows, target, found),
        "needed": needs.items, "more": {name: None if of is None else len(of) for name, of in to_come.items()},
        "cost": figures["cost"]["cost"],
        "cost_to_come": {
            name: hour / needs.counted * sum(of) if of is not None and needs.counted else None
            for name, of in to_come.items()
        },
        "is_narrow": found.half_width is not None and found.half_width <= (target.half_width or 0) + 1e-12,
        "is_bound": stage.target_bound is not None,
        "futile": found.futile, "stops_if_futile": target.stops_if_futile,
        "corrected": of_errors, "corrected_in_words": corrected_in_words(without_errors),
        "target_percent": audit_target.in_percent(stage),
        "sentence": sentence(
            found, target, work_of(stage, rows, found), benchmark=stage.study.benchmark.name,
            stratified=is_stratified(stage), seed=stage.seed, sha256=stage.order_sha256,
            changes=audits.changes_of(stage), corrected=without_errors,
            decision=_decision(stage),
            scores=(stage.scores_of, stage.scores_sha256) if stage.scores_sha256 else None,
        ),
    }  # fmt: skip


def unbroken(words: str) -> str:
    """Keep ± and its number on one line."""
    return words.replace("± ", "±\u00a0")


def counts(stage: Stage, found: Progress, settled: int) -> str:
    """Describe the items that the result rests on, and what became of other items given out."""
    asked = stage.slots.filter(judgment__isnull=False, task__kind=Kind.JUDGE, task__live=True)
    later = "were settled after the end" if found.ended else "are settled, but after an open item"
    begun = asked.values("task__item").distinct().count() - settled
    others = {later: settled - found.n, "have some judgments": begun}
    said = "".join(f"; {count:,} more {words}" for words, count in others.items() if count > 0)
    return f"The result rests on {found.n:,} of {counted(found.items, 'item')}{said}."


def _decision(stage: Stage) -> str:
    return f"{rule_in_words(stage)} An item is wrong if it is {dropped_how(stage.wrong_reasons)}."


def work_of(stage: Stage, rows: Sequence[audits.Audited], found: Progress) -> Work:
    """Describe who judged the items on which the result rests."""
    items = [row.item for row in rows[: found.n]]
    slots = stage.slots.filter(judgment__isnull=False, task__kind=Kind.JUDGE, task__live=True, task__item__in=items)
    people = list(slots.values_list("annotator", "annotator__simulated").distinct())
    decided = stage.tasks.filter(kind=Kind.JUDGE, live=True, item__in=items, decided__by=ADJUDICATOR)
    return Work(
        len(people), sum(simulated for _, simulated in people), decided.values("item").distinct().count(),
        sum(row.undecided for row in rows[: found.n]), stage.state == StageState.CLOSED,
    )  # fmt: skip


def _scores_hardly_help(rows: Sequence[audits.Audited], target: Target, found: Progress) -> bool:
    """Return whether without scores the interval would be about as narrow, or the audit already over."""
    plain = progress([row.wrong for row in rows[: found.n]] + [None] * (len(rows) - found.n), target)
    if found.half_width is None or plain.half_width is None:
        return False
    return plain.n < found.n or found.half_width > _HARDLY_NARROWER * plain.half_width
