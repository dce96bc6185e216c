"""Generated sequences where sentences are picked, edited, confirmed and rejected, and go from stage to stage.

A second positive is picked or written, the three sentences are mended, and the captions are ranked. After each step:
everything that test_state_machine.py holds; nobody was shown an edit of their own; each outcome is the rule's word,
worked out here from the rows; who comes next is offered the edits that stand; and each later stage asks about the words
that the outcomes before it say.
"""

import json
from collections import Counter
from random import Random

import pytest
from hypothesis.stateful import rule

from annotation.adjudication import decisions
from annotation.designs.plan import StagePlan
from annotation.figures.funnel import funnel
from annotation.models import Judgment, Lease, Outcome, Stage, Task
from annotation.pipeline.outcomes import counted_answers, rule_of
from annotation.protocols.base import Answer
from annotation.protocols.decision_rule import ADJUDICATOR, DROPPED, KEPT, OPEN
from annotation.protocols.registry import PROTOCOLS
from tests.annotation.pipeline.test_state_machine import (
    PICK,
    SELDOM,
    SEQUENCE,
    STEPS,
    TIMES,
    Pipeline,
    run,
    run_sequence,
)
from tests.builders import text_items

CAP = 3
WORDS = [f"A cat lies on {mat}." for mat in ("a mat", "the mat", "its mat")]  # few: two people write the same
DROPPING = {"reject": "rejected", "cannot_judge": "cannot_judge"}
PLANS = [
    StagePlan(text_items.PARAPHRASE, "first"),
    StagePlan(text_items.TRIPLET, "second", source="first", apart_from=[]),
    StagePlan(text_items.RANK, "third", source="second", apart_from=[], settings={"overlap": 2}),
]


class Sentences(Pipeline):
    steps = 0
    reached: Counter = Counter()

    def make_study(self):
        self.drawn, self.contents = Random(1), {}
        return text_items.study(*PLANS, items=4)

    def make_item(self):
        text_items.item(self.study.benchmark)

    @rule(pick=PICK)
    def import_new_candidates(self, pick):
        """Candidate images have no part here."""

    @rule(place=PICK, really=SELDOM)
    def open_or_close_a_stage(self, place, really):
        if really:
            self.move(place % 3, "")

    # What is answered: 1 takes a sentence as it is (somebody's edit where there is one), 2 edits, none rejects

    def filled_in(self, lease: Lease, answer: str) -> dict:
        if answer == "cannot_judge":
            return {"shown_answer": answer, "reason": "Because."}
        stage = lease.task.stage.name if lease.task_id else ""
        fields = {"first": self.paraphrase, "second": self.triplet, "third": self.rank}[stage](lease, answer)
        return {"shown_answer": fields.pop("answer", ""), "more": fields}

    def paraphrase(self, lease: Lease, answer: str) -> dict:
        if answer == "none":
            return {"answer": "reject", "why": "None of them."}
        edits = [one for one in lease.shown if one not in lease.task.options]
        picked = text_items.option(lease, self.drawn.choice([*edits, *edits, *lease.task.options[:2]]))
        return {"answer": picked} | ({"edit": "1", "words": self.drawn.choice(WORDS)} if answer == "2" else {})

    def triplet(self, lease: Lease, answer: str) -> dict:
        if answer == "none":
            return {**text_items.HOLDS, "same": "broken", "drop": "1"}
        return text_items.HOLDS | ({"third": self.drawn.choice(("No cat.", "A mat."))} if answer == "2" else {})

    def rank(self, lease: Lease, answer: str) -> dict:
        return {f"step-{place}": str(self.drawn.randint(1, 2)) for place in (1, 2, 3)}

    def decision(self, task: Task) -> dict:
        stage = Stage.objects.select_related("study").get(pk=task.stage_id)
        form, given = PROTOCOLS[stage.protocol].form, counted_answers(task)
        said = self.drawn.choice([*given.values(), Answer("cannot_judge")])
        if form.edits and self.drawn.random() < 0.5:
            said = decisions.own_words(task, stage, {"second_positive": "The cat is the one on the mat."})
        return {"answer": said.label, "content": {} if said.label == "cannot_judge" else said.content}

    # What holds

    def check_law_1(self):
        """Neither the label nor the words."""
        super().check_law_1()
        for key, content in Judgment.objects.values_list("key", "content"):
            assert self.contents.setdefault(key, content) == content

    def check_law_4(self):
        """All options and, of edits, some that others had made; what was shown stays."""
        author = dict(Judgment.objects.values_list("pk", "lease__annotator"))
        for lease in Lease.objects.filter(task__stage__study=self.study).select_related("task"):
            edits = set(lease.shown) - set(lease.task.options)
            assert len(lease.shown) == len(set(lease.shown)) == len(lease.task.options) + len(edits)
            assert all(author[int(one.removeprefix("edit-"))] != lease.annotator_id for one in edits)
            assert self.shown.setdefault(lease.token, lease.shown) == lease.shown
            type(self).reached.update(["an edit was offered"] if edits else [])

    def check_outcomes(self):
        given = {}
        counted = Judgment.objects.filter(counted_on__isnull=False).order_by("created_at", "pk")
        for judgment in counted.select_related("counted_on"):
            given.setdefault(judgment.counted_on.task_id, []).append(judgment)
        for task in Task.objects.filter(stage__study=self.study).select_related("stage", "decided"):
            self.check_task(task, given.get(task.pk, []))

    def said(self, judgment: Judgment, protocol: str) -> tuple[str, str]:
        says = words(judgment) if protocol == text_items.PARAPHRASE else judgment.answer
        return says, says

    def check_task(self, task: Task, given: list[Judgment]):
        there = getattr(task, "decided", None)
        self.note_reached(task, there)
        if task.stage.name == "first":
            self.check_proposals(task, given)
        if there and there.by == ADJUDICATOR:
            return
        found = (there.state, there.outcome, there.reason, there.content) if there else (OPEN, "", "", {})
        assert found == (by_hand if task.stage.name == "first" else by_rule)(task, given)

    def check_proposals(self, task: Task, given: list[Judgment]):
        """The edits that stand, each in the words that somebody who counts wants."""
        standing = [one for one in given if is_edit(one.answer)]
        offered = [int(one.removeprefix("edit-")) for one in task.proposals]
        assert set(offered) <= {one.pk for one in standing}
        assert Counter(words(one) for one in standing if one.pk in offered) == Counter({words(one) for one in standing})

    def note_reached(self, task: Task, outcome: Outcome | None) -> None:
        super().note_reached(task, outcome)
        edited = outcome is not None and is_edit(outcome.outcome)
        found = {
            "an edit was confirmed": edited and task.stage.name == "first" and outcome.by != ADJUDICATOR,
            "three were not alike": outcome is None and self.open_at_the_cap(task),
            "other words in a later round": task.round > 1 and task.live and bool(task.carried),
        }
        type(self).reached.update(name for name, so in found.items() if so)

    def open_at_the_cap(self, task: Task) -> bool:
        return task.stage.name == "first" and task.overlap == CAP == task.slots.exclude(judgment=None).count()

    def check_funnel(self):
        first, second, third = self.study.stages.all()
        texts = self.check_taken(first, second, {})
        self.check_taken(second, third, texts)
        whole = funnel(self.study)
        assert whole["imported"] == whole["kept"] + whole["dropped"] + whole["open"]
        assert whole["imported"] == self.study.benchmark.items.count()

    def check_taken(self, source: Stage, taker: Stage, before: dict[int, dict]) -> dict[int, dict]:
        """The taker has exactly the items that the source keeps, with the words that stand; returns these."""
        kept = Outcome.objects.filter(task__stage=source, task__live=True, state=KEPT)
        texts = {
            item: before.get(item, {}) | content.get("texts", {})
            for item, content in kept.values_list("task__item", "content")
        }
        live = dict(Task.objects.filter(stage=taker, live=True).values_list("item", "carried"))
        assert live == {item: {f"caption-{role}": text for role, text in of.items()} for item, of in texts.items()}
        return texts


def is_edit(label: str) -> bool:
    return label == "edited" or label.startswith("edit-")


def words(judgment: Judgment) -> str:
    return json.dumps(judgment.content.get("texts") or judgment.answer, sort_keys=True)


def by_hand(task: Task, given: list[Judgment]) -> tuple:
    """The rule of confirmation, written down a second time."""
    alike = Counter(map(words, given))
    shared = [one for one in given if alike[words(one)] >= 2]
    if len(given) == task.overlap == 1 and not is_edit(given[0].answer):
        shared = given
    if not shared or len(given) < task.overlap:
        return OPEN, "", "", {}
    why = DROPPING.get(shared[0].answer, "")
    return DROPPED if why else KEPT, shared[0].answer, why, shared[0].content


def by_rule(task: Task, given: list[Judgment]) -> tuple:
    answers = [Answer(one.answer, one.content) for one in given]
    decision = rule_of(task.stage).settle(answers, task.overlap)
    return (
        (OPEN, "", "", {})
        if decision.state == OPEN
        else (decision.state, decision.outcome, decision.reason, dict(decision.content))
    )


WANTED = {"settled in first", "settled in second", "settled in third", "no longer live", "adjudicated"}
WANTED |= {"answers differ", "an edit was offered", "an edit was confirmed", "three were not alike"}
WANTED |= {"other words in a later round"}


@pytest.mark.django_db
@pytest.mark.nightly
def test_sentences_in_any_order():
    run(Sentences, examples := 6 * TIMES)
    assert Sentences.steps >= STEPS * examples * 0.9
    assert set(Sentences.reached) >= WANTED


# As in test_state_machine.py: one sequence for the suite. Edits, their confirmation, and changed minds come first.
EDITS = [
    ("all_work", "2"), ("all_work", "2"), ("all_work", "1"), ("change_or_answer_late", 0, "2"), ("all_work", "2"),
    ("change_or_answer_late", 1, "2"), ("all_work", "1"), ("change_or_answer_late", 2, "2"), ("all_work", "1"),
]  # fmt: skip


@pytest.mark.django_db
def test_everything_once():
    reached = run_sequence(Sentences, [*EDITS, *SEQUENCE])
    assert reached >= WANTED, WANTED - reached
