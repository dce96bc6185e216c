"""Decide each task's judgments again by the rule of its stage (protocols/decision_rule.py)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from annotation.measures.aggregation import dawid_skene
from annotation.protocols import in_data, schema
from annotation.protocols.base import Answer, AnswerContent, passed_on
from annotation.protocols.decision_rule import ADJUDICATOR, KEPT, MAJORITY, OPEN, Decision, Posterior, Rule
from annotation.protocols.item_data import attributes_of
from annotation.protocols.rules import FileRule
from annotation.releases.verification.rows import ReleasedStage, ReleasedTask, Rows, about

Decided = Sequence[tuple[ReleasedTask, Decision]]  # the live tasks of a stage, each with its decision
NAMES = ("stage", "item", "question", "outcome", "reason", "decided_by", "content", "carried")


def decide(rows: Rows) -> dict[str, Decided]:
    """Return decisions by stage. An adjudicator's decision stands; otherwise the judgments decide. If there is a
    protocol file, it determines what an adjudicator's answer decides.
    """
    found: dict[str, Decided] = {}
    for stage in rows.stages:
        fit = _fit(stage)
        known: dict[tuple, Decision] = {}
        found[stage.name] = [(task, _decide(rows, stage, task, fit, known)) for task in stage.live_tasks]
    return found


def _decide(
    rows: Rows, stage: ReleasedStage, task: ReleasedTask, posteriors: Mapping, known: dict[tuple, Decision]
) -> Decision:
    """Decide a task; `known` has earlier decisions by labels: with few options, most tasks repeat another's."""
    rule = _rule_about(rows, stage, task)
    if word := rows.adjudicated.get(about(task)):
        if rule.protocol.file and word["outcome"]:  # an item dropped as broken has no answer
            return replace(rule.adjudicated(Answer(word["outcome"])), content=word["content"] or AnswerContent())
        return _as_listed(word, ADJUDICATOR)
    place = task.place
    answers = [said.answer for said in stage.answers_to(task)]
    if rule is not stage.rule or place in posteriors or any(answer.content for answer in answers):
        return rule.settle(answers, task["overlap"], posteriors.get(place))
    key = (task["overlap"], *(answer.label for answer in answers))
    if key not in known:
        known[key] = rule.settle(answers, task["overlap"])
    return known[key]


def _as_listed(row: Mapping | ReleasedTask, by: str | None) -> Decision:
    content = row["content"] or AnswerContent()
    return Decision(row["state"] or OPEN, row["outcome"] or "", row["reason"] or "", by or "", content)


def _rule_about(rows: Rows, stage: ReleasedStage, task: ReleasedTask) -> Rule:
    """Return the stage's rule for the task's item."""
    if not isinstance(stage.rule, FileRule) or not stage.rule.asks_items:
        return stage.rule
    return stage.rule.about(attributes_of(stage.rule.file, rows.records[task["position"]]))


def _fit(stage: ReleasedStage) -> Mapping[tuple, Posterior]:
    """Return, by task, the probability of each kind of answer, if that decides."""
    if stage.rule.rule == MAJORITY:
        return {}
    given = [(task.place, said) for task in stage.live_tasks for said in stage.answers_to(task)]
    kinds = stage.rule.estimated_kinds([said.answer.label for _, said in given])
    return dawid_skene(
        [(place, said.annotator, kind) for (place, said), kind in zip(given, kinds, strict=True)]
    ).posteriors


def computed(rows: Rows, decided: Mapping[str, Decided]) -> Iterator[dict]:
    """Yield a row for each live task: its decision, and what its item has from earlier stages."""
    sources = {stage.source_id for stage in rows.stages}
    carried: dict[str, dict] = {}
    for stage in rows.stages:
        source = carried.get(stage.source_id, {})
        if stage.name in sources:
            carried[stage.name] = _carried_on(stage, decided[stage.name])
        yield from (_row(task, decision, source.get(task["position"])) for task, decision in decided[stage.name])


def _row(task: ReleasedTask, decision: Decision, carried: Mapping | None) -> dict:
    is_open = decision.state == OPEN
    return {
        **{name: task[name] for name in ("stage", "item", "question")},
        "state": decision.state,
        "outcome": decision.outcome or None,
        "reason": None if is_open else decision.reason or None,
        "decided_by": decision.by or None,
        "content": None if is_open else decision.content or None,
        "carried": carried or None,
    }


def _carried_on(stage: ReleasedStage, decided: Decided) -> dict[int, dict[str, str]]:
    """Return, by item, what came in and, if all its tasks keep it, what they chose or wrote."""
    of_item: dict[int, list] = defaultdict(list)
    for task, decision in decided:
        of_item[task["position"]].append((task, decision))
    found = {}
    for item, tasks in of_item.items():
        first, decision = tasks[0]
        found[item] = dict(first["carried"])
        if all(decision.state == KEPT for _, decision in tasks):
            contents = [decision.content for _, decision in tasks]
            found[item] = passed_on(first["carried"], stage.settings["carries"], decision.outcome, contents)
    return found


def rules(rows: Rows) -> list[tuple[ReleasedTask, list[dict[str, str | None]]]]:
    """Return the live tasks of stages with a protocol file, each with the decisions of its rules."""
    found = []
    for stage in rows.stages:
        if (file := stage.rule.protocol.file) is None:
            continue
        fit = _fit(stage)
        estimated = next((one.answer for one in file.decide if isinstance(one, schema.DawidSkene)), "")
        for task in stage.live_tasks:
            place = task.place
            labels = [said.answer.label for said in stage.answers_to(task)]
            posteriors = {estimated: fit[place]} if place in fit else {}
            rule = _rule_about(rows, stage, task)
            if isinstance(rule, FileRule):
                found.append((task, in_data.rules_of(file, labels, task["overlap"], posteriors, rule.of_item)))
    return found


def listed(stages: Iterable[ReleasedStage]) -> Iterator[dict]:
    """Yield the same rows as tasks.jsonl has."""
    for stage in stages:
        for task in stage.live_tasks:
            row = {name: task[name] or None for name in NAMES}
            yield {"state": task["state"] or OPEN, **row, "question": task["question"]}
