"""A stage's decision rule, and Dawid and Skene's estimate from its answers.

Nothing here writes, so statistics and exports do not need outcomes.py and dawid_skene.py.
"""

from collections.abc import Collection, Mapping

from annotation.measures.aggregation import Aggregate, dawid_skene
from annotation.models import Kind, Slot, Stage
from annotation.protocols.base import Answer
from annotation.protocols.decision_rule import Rule
from annotation.protocols.item_data import attributes_of
from annotation.protocols.registry import protocol_named
from annotation.protocols.rule_words import Asked, deciding
from annotation.protocols.rules import FileRule, rule_for
from benchmarks import queries

# Task → (judgment, number of its annotator, answer), in the order given
CountedAnswers = dict[int, list[tuple[int, int, Answer]]]


def rule_of(stage: Stage) -> Rule:
    """Return the rule by which the stage decides its tasks, whatever the item."""
    return rule_for(protocol_named(stage.protocol), stage.overlap, stage.tie_rule, stage.cap, stage.rule)


def rule_in_words(stage: Stage) -> str:
    """Describe in sentences how the stage's judgments decide an item."""
    asked = Asked(stage.overlap, stage.cap, stage.certainty, stage.agreement_items, stage.agreement_overlap)
    return deciding(protocol_named(stage.protocol), asked, stage.rule, stage.tie_rule)


def rule_about(stage: Stage, item: int) -> Rule:
    """Return the stage's rule for an item, with the item's own data if they affect it."""
    return rules_about(stage, [item])[item]


def rules_about(stage: Stage, items: list[int]) -> Mapping[int, Rule]:
    """Return the stage's rule for each of the items; items with equal data share one."""
    rule = rule_of(stage)
    if not isinstance(rule, FileRule) or not rule.asks_items:
        return dict.fromkeys(items, rule)
    about = {item: attributes_of(rule.file, record) for item, record in queries.materials_of(items).items()}
    alike = {repr(of_item): rule.about(of_item) for of_item in about.values()}
    return {item: alike[repr(of_item)] for item, of_item in about.items()}


def counted_answers(stage: Stage, tasks: Collection[int] | None = None) -> CountedAnswers:
    """Return counted judgments of the stage's live tasks: all, or these."""
    slots = Slot.objects.filter(stage=stage, judgment__isnull=False, task__kind=Kind.JUDGE, task__live=True)
    if tasks is not None:
        slots = slots.filter(task__in=tasks)
    in_order = slots.order_by(
        "task__item__position", "task__question", "task__round", "judgment__created_at", "judgment"
    ).values_list("task", "judgment", "annotator__number", "judgment__answer", "judgment__content")
    found: CountedAnswers = {}
    for task, judgment, annotator, label, content in in_order.iterator(chunk_size=10_000):
        found.setdefault(task, []).append((judgment, annotator, Answer(label, content)))
    return found


def fit(stage: Stage, found: CountedAnswers) -> Aggregate:
    """Return posteriors by task, and confusions by annotators' numbers; labels are kinds of answers."""
    rule = rule_of(stage)
    rows = [(task, annotator, answer.label) for task, given in found.items() for _, annotator, answer in given]
    kinds = rule.estimated_kinds([label for _, _, label in rows])
    return dawid_skene([(task, annotator, kind) for (task, annotator, _), kind in zip(rows, kinds, strict=True)])
