"""A pipeline under anything that people may do, in any order: generated sequences, and what must hold after each step.

Two choosing stages of which the second takes what the first keeps, and a third that takes what the second keeps, and
some of what it drops, when the second is closed. After each step laws 1, 2 and 4 hold, outcomes follow from the counted
judgments, every stage holds exactly the items that its source sends, and the items reconcile.
"""

import os
import uuid
from collections import Counter, defaultdict
from datetime import timedelta
from math import log

import pytest
from django.contrib.postgres.aggregates import ArrayAgg
from django.db import connection, transaction
from django.db.models import Count, F, Q
from django.db.models.functions import Now
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RULE_MARKER,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from annotation.adjudication import decisions
from annotation.assignment import leases as assignment_leases
from annotation.assignment import seats
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Annotator, Judgment, Kind, Lease, Outcome, Slot, Stage, StudyState, Task
from annotation.participants import lifecycle as participant_lifecycle
from annotation.pipeline import outcomes, promotion
from annotation.protocols.base import Answer
from annotation.protocols.decision_rule import ADJUDICATOR, AWAITING_ADJUDICATION, DROPPED, KEPT, OPEN
from annotation.screens import errors
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Item, ItemImage
from tests.builders import studies

TIMES = int(os.environ.get("WINNOW_SEQUENCES", 1))  # so many times as many sequences; `make nightly` has 4
STEPS = 50  # that a sequence has at least on the mean, of 80 at most
A_WHILE = timedelta(seconds=1)
PEOPLE = st.integers(0, 3)
PICK = st.integers(0, 999)  # one of however many there are
ANSWERS = st.sampled_from(["1", "1", "1", "2", "none", "cannot_judge"])
SELDOM = st.sampled_from([False, True, False])  # of what would keep everybody from working
PLANS = [
    StagePlan("bivlc-choose", name="first", settings={"overlap": 2, "cap": 3, "carries": "negative"}),
    StagePlan("bivlc-choose", name="second", source="first", apart_from=[], settings={"tie_rule": "adjudicate"}),
    StagePlan(
        "bivlc-choose", name="third", source="second", apart_from=["second"],
        settings={"takes": ["kept", "no_image_fits", "flagged"], "promotion": "closing"},
    ),
]  # fmt: skip


class Pipeline(RuleBasedStateMachine):
    steps = 0
    reached: Counter = Counter()

    @initialize()
    def begin(self):
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        with connection.cursor() as cursor:
            cursor.execute("SELECT setseed(0.5)")
        self.study = self.make_study()
        self.people = [studies.annotator(self.study) for _ in range(4)]
        self.acknowledged: dict[uuid.UUID, str] = {}
        self.shown: dict[uuid.UUID, list[str]] = {}
        self.sent: list[tuple[Annotator, dict]] = []
        self.once_excluded: set[int] = set()

    def make_study(self):
        return studies.study(items=4, candidates=2, stages=PLANS)

    def teardown(self):
        if hasattr(self, "atomic"):
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

    # What annotators do

    def me(self, number: int) -> Annotator:
        return Annotator.objects.select_related("stage__study").get(pk=self.people[number].pk)

    @rule(number=PEOPLE)
    def claim(self, number):
        for lease in self.hold(self.me(number)):
            assert self.shown.setdefault(lease.token, lease.shown) == lease.shown

    def hold(self, annotator: Annotator) -> list[Lease]:
        """As a page that is opened: claim where they sit, else go on to the next stage, read its rules and claim."""
        leases = assignment_leases.hold(annotator=annotator, stage=annotator.stage)
        onward = None if leases else seats.next_stage(annotator)
        if onward is None:
            return leases
        seats.sit(annotator=annotator, stage=onward)
        studies.read(annotator, onward)
        return assignment_leases.hold(
            annotator=annotator, stage=Stage.objects.select_related("study").get(pk=onward.pk)
        )

    def a_lease(self, number: int, *states: str) -> Lease | None:
        mine = Lease.objects.filter(annotator=self.people[number], state__in=states)
        return mine.order_by("granted_at", "pk").first()

    @rule(number=PEOPLE, answer=ANSWERS)
    def submit(self, number, answer):
        lease = self.a_lease(number, "held")
        if lease is not None:
            self.send(number, lease, answer)

    @rule(number=PEOPLE, answers=st.lists(ANSWERS, min_size=1, max_size=6))
    def work_a_while(self, number, answers):
        """Most of what happens in a study."""
        for answer in answers:
            for lease in self.hold(self.me(number))[:1]:
                self.send(number, lease, answer)

    @rule(answer=ANSWERS)
    def all_work(self, answer):
        for number in range(4):
            self.work_a_while(number, [answer] * 2)

    @rule(number=PEOPLE, answer=ANSWERS)
    def change_or_answer_late(self, number, answer):
        lease = self.a_lease(number, "judged", "lapsed")
        if lease is not None:
            self.send(number, lease, answer)

    def send(self, number: int, lease: Lease, answer: str) -> None:
        submission = submissions.Submission(
            token=lease.token, key=uuid.uuid4(), seen=studies.last_key(lease), **self.filled_in(lease, answer)
        )
        try:
            receipt = submissions.submit(annotator=self.me(number), submission=submission)
        except errors.NotOpen:
            return
        self.acknowledged[submission.key] = receipt.judgment.answer
        self.sent.append((self.people[number], submission))

    def filled_in(self, lease: Lease, answer: str) -> dict:
        return {"shown_answer": answer, "reason": "Because."}

    @rule(pick=PICK)
    def send_again(self, pick):
        if not self.sent:
            return
        annotator, submission = self.sent[pick % len(self.sent)]
        before = Judgment.objects.count()
        assert submissions.submit(annotator=annotator, submission=submission).replayed
        assert Judgment.objects.count() == before

    @rule(number=PEOPLE)
    def undo(self, number):
        key = uuid.uuid4()
        try:
            submissions.undo(annotator=self.me(number), key=key)
        except errors.Refused:
            return
        self.acknowledged[key] = ""

    @rule(number=PEOPLE)
    def skip(self, number):
        lease = self.a_lease(number, "held")
        if lease is not None:
            assignment_leases.skip(annotator=self.me(number), token=lease.token)

    @rule(pick=PICK)
    def expire(self, pick):
        held = list(Slot.objects.filter(held_until__isnull=False).order_by("pk"))
        if held:
            Slot.objects.filter(pk=held[pick % len(held)].pk).update(held_until=Now() - A_WHILE)

    @rule(number=PEOPLE, really=SELDOM)
    def leave_or_return(self, number, really):
        if not really:
            return
        annotator = self.me(number)
        if annotator.left_at is None:
            participant_lifecycle.leave(annotator=annotator, by="test")
        elif annotator.excluded_at is None:
            participant_lifecycle.come_back(annotator=annotator, by="test")

    # What managers do

    @rule(number=PEOPLE, really=SELDOM)
    def exclude_or_reinstate(self, number, really):
        if not really:
            return
        annotator = self.me(number)
        self.once_excluded.add(annotator.pk)
        verb = participant_lifecycle.reinstate if annotator.excluded_at else participant_lifecycle.exclude
        verb(annotator=annotator, reason="Looked at their answers.", by="test")

    @rule(place=st.integers(0, 2), really=SELDOM)
    def open_or_close_a_stage(self, place, really):
        if really:
            self.move(place, "")

    def move(self, place: int, to: str) -> None:
        """There, or to the other state than it is in."""
        stage = self.study.stages.all()[place]
        other = "closed" if stage.state == "open" else "open"
        if to in ("", other):
            study_lifecycle.move_stage(stage=stage, to=other, by="test")

    @rule(answer=ANSWERS)
    def go_through(self, answer):
        """Everybody works on, the second stage is closed, and what waited for that is worked on too."""
        self.all_work(answer)
        self.move(1, "closed")
        self.all_work(answer)
        self.move(1, "open")

    @rule(really=SELDOM)
    def pause_or_open_the_study(self, really):
        if not really:
            return
        study = type(self.study).objects.get(pk=self.study.pk)
        to = StudyState.OPEN if study.state == StudyState.PAUSED else StudyState.PAUSED
        study_lifecycle.move_study(study=study, to=to, by="test")

    @rule(pick=PICK, action=st.sampled_from(["decide", "flagged", "send back", "withdraw"]))
    def adjudicate(self, pick, action):
        tasks = list(Task.objects.filter(stage__study=self.study, kind=Kind.JUDGE, live=True).order_by("pk"))
        if tasks:
            self.adjudicated(tasks[pick % len(tasks)], action)

    def adjudicated(self, task: Task, action: str) -> None:
        """The adjudicator's verbs on a task, as far as they are allowed just now."""
        common = {"task": task, "by": "test", "seen": decisions.seen(task)}
        try:
            if action == "send back":
                decisions.send_back(**common, note="Look again.")
            elif action == "withdraw":
                decisions.withdraw(**common)
            else:
                decision = {"reason": "flagged"} if action == "flagged" else self.decision(task)
                decisions.decide(**common, **decision, note="I looked.")
        except decisions.Refused:
            pass

    def decision(self, task: Task) -> dict:
        return {"answer": task.options[0]}

    # What comes from outside

    @rule()
    def import_more(self):
        if self.study.benchmark.items.count() < 8:
            self.make_item()
        promotion.take_in(self.study)

    def make_item(self):
        studies.item(self.study.benchmark, candidates=2)

    @rule(pick=PICK)
    def import_new_candidates(self, pick):
        items = list(self.study.benchmark.items.order_by("position"))
        item = items[pick % len(items)]
        uses = ItemImage.objects.filter(item=item, role="candidate")
        last = max(use.round for use in uses)
        if last < 3:
            for position in (len(uses), len(uses) + 1):
                ItemImage.objects.create(
                    item=item, image=studies.image(), role="candidate", position=position, round=last + 1
                )
        fell_out = item.pk in promotion.fallen_out(self.study)
        promotion.take_in(self.study)
        asked = set(Task.objects.filter(stage__position=1, item=item, live=True).values_list("round", flat=True))
        assert not fell_out or asked == {max(use.round for use in ItemImage.objects.filter(item=item))}

    # What holds

    @invariant()
    def laws(self):
        if not hasattr(self, "study"):
            return
        type(self).steps += 1
        self.check_law_1()
        self.check_law_2()
        self.check_law_4()
        self.check_outcomes()
        self.check_spread()
        self.check_funnel()

    def check_law_1(self):
        """No acknowledged judgment is lost or altered."""
        stored = dict(Judgment.objects.values_list("key", "answer"))
        assert {key: stored[key] for key in self.acknowledged} == self.acknowledged

    def check_law_2(self):
        """Never more leases and counted judgments than the overlap, nobody twice."""
        busy = Count("slots", filter=Q(slots__annotator__isnull=False))
        of_study = Task.objects.filter(stage__study=self.study, kind=Kind.JUDGE)
        assert not of_study.annotate(all=Count("slots")).exclude(all=F("overlap")).exists()
        assert not of_study.annotate(busy=busy).filter(busy__gt=F("overlap")).exists()
        counted = Slot.objects.filter(judgment__isnull=False).values_list("task", "judgment__lease__annotator")
        assert all(number == 1 for number in Counter(counted).values())
        assert not Slot.objects.filter(judgment__isnull=False, annotator__excluded_at__isnull=False).exists()
        judged = Lease.objects.filter(state="judged", slot__stage__study=self.study)
        judged = judged.exclude(annotator__in=self.once_excluded)
        assert not judged.exclude(slot__judgment__lease=F("pk")).exists()  # what was said to count, counts

    def check_law_4(self):
        """What was shown is a permutation of the options, and stays as it was."""
        leases = Lease.objects.filter(task__stage__study=self.study).select_related("task")
        for lease in leases:
            assert sorted(lease.shown) == sorted(lease.task.options)
            assert self.shown.setdefault(lease.token, lease.shown) == lease.shown

    def check_outcomes(self):
        """Each outcome is what the rule makes of the counted judgments, unless an adjudicator spoke."""
        tasks = Task.objects.filter(stage__study=self.study).select_related("stage", "decided")
        order = ["slots__judgment__created_at", "slots__judgment"]
        counted = Q(slots__judgment__isnull=False)
        for task in tasks.annotate(answers=ArrayAgg("slots__judgment__answer", filter=counted, order_by=order)):
            there = getattr(task, "decided", None)
            self.note_reached(task, there)
            if there and there.by == ADJUDICATOR:
                continue
            decision = outcomes.rule_of(task.stage).decide(task.answers or [], task.overlap)
            found = (there.state, there.outcome, there.reason) if there else (OPEN, "", "")
            assert found == (decision.state, decision.outcome, decision.reason if decision.state != OPEN else "")

    def check_spread(self):
        """What each task keeps of how far its counted answers differ, and of what its rule leaves to a person, follows
        from them.
        """
        said = defaultdict(list)
        counted = Slot.objects.filter(stage__study=self.study, judgment__isnull=False, task__kind=Kind.JUDGE)
        for slot in counted.select_related("judgment").order_by("judgment__created_at", "judgment"):
            said[slot.task_id].append(slot.judgment)
        for task in Task.objects.filter(stage__study=self.study, kind=Kind.JUDGE).select_related("stage"):
            given = {one.pk: self.said(one, task.stage.protocol) for one in said[task.pk]}
            assert (task.entropy, task.differs, task.newest) == spread_of(given)
            answers = [Answer(one.answer, one.content) for one in said[task.pk]]
            assert task.waits == (
                outcomes.rule_of(task.stage).settle(answers, task.overlap).reason == AWAITING_ADJUDICATION
            )
            type(self).reached.update({"answers differ": task.entropy > 0})

    def said(self, judgment: Judgment, protocol: str) -> tuple[str, str]:
        """Of which kind it is, and what it says."""
        return "any" if judgment.answer.startswith("candidate-") else judgment.answer, judgment.answer

    def note_reached(self, task: Task, outcome: Outcome | None) -> None:
        """How far the generated sequences came: a machine that never promotes anything would prove nothing."""
        found = {
            "settled in " + task.stage.name: outcome is not None,
            "in " + task.stage.name: task.live,
            "no longer live": not task.live,
            "a later round": task.round > 1,
            "one more slot": task.stage.name == "first" and task.overlap > 2,
            "adjudicated": outcome is not None and outcome.by == ADJUDICATOR,
        }
        type(self).reached.update(name for name, there in found.items() if there)

    def check_funnel(self):
        first, second, third = self.study.stages.all()
        one, two = promotion.results(first), promotion.results(second)
        three = promotion.results(third)
        assert set(one) == set(Item.objects.filter(benchmark=self.study.benchmark).values_list("pk", flat=True))
        assert set(two) == {item for item, result in one.items() if result.state == KEPT}
        assert all(two[item].carried["negative"] == one[item].carried["negative"] for item in two)
        may = {item for item, result in two.items() if result.label in third.takes}
        assert set(three) <= may
        if second.state == "closed":
            assert set(three) == may
        dropped = [result.reason for found in (one, two) for result in found.values() if result.state == DROPPED]
        kept = sum(result.state == KEPT for result in two.values())
        waiting = sum(result.state == OPEN for found in (one, two) for result in found.values())
        assert len(one) == kept + len(dropped) + waiting


def spread_of(said: dict[int, tuple[str, str]]) -> tuple:
    """Entropy by its definition, in what the judgments differ, and the last of them."""
    shares = [count / len(said) for count in Counter(said.values()).values()]
    kinds = {kind for kind, _ in said.values()}
    if len(shares) < 2:
        return 0, "", None
    return round(-sum(p * log(p, 2) for p in shares), 6), "kind" if len(kinds) > 1 else "option", max(said)


def run(machine: type[Pipeline], examples: int) -> None:
    machine.steps = 0
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=80, deadline=None, derandomize=True, database=None,
            phases=[Phase.generate],  # tokens and keys are drawn anew each time, so that no example can be made smaller
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip


WANTED = {"settled in first", "settled in second", "settled in third", "no longer live", "a later round"}
WANTED |= {"one more slot", "adjudicated", "answers differ"}


@pytest.mark.django_db
@pytest.mark.nightly
def test_anything_in_any_order():
    run(Pipeline, examples := 18 * TIMES)
    assert Pipeline.steps >= STEPS * examples
    assert set(Pipeline.reached) >= WANTED


# One sequence in which everything happens once, for the suite; `make nightly` generates the others.
SEQUENCE = [
    ("claim", 0), ("work_a_while", 0, ["1", "2", "none", "1"]), ("send_again", 0),
    ("work_a_while", 1, ["2", "1", "none"]),
    ("undo", 1), ("skip", 2), ("claim", 3), ("expire", 0), ("change_or_answer_late", 3, "2"), ("all_work", "1"),
    ("exclude_or_reinstate", 0, True), ("all_work", "none"), ("import_more",), ("import_new_candidates", 0),
    ("import_new_candidates", 1), ("import_new_candidates", 2), ("import_new_candidates", 3), ("all_work", "1"),
    ("exclude_or_reinstate", 0, True), ("leave_or_return", 1, True), ("adjudicate", 0, "decide"),
    ("adjudicate", 0, "send back"), ("adjudicate", 1, "decide"), ("adjudicate", 1, "withdraw"),
    ("adjudicate", 2, "flagged"), ("leave_or_return", 1, True), ("go_through", "1"), ("pause_or_open_the_study", True),
    ("submit", 0, "1"), ("pause_or_open_the_study", True), ("open_or_close_a_stage", 0, True), ("all_work", "2"),
    ("open_or_close_a_stage", 0, True), ("change_or_answer_late", 2, "none"), ("adjudicate", 3, "decide"),
]  # fmt: skip


def run_sequence(machine: type[Pipeline], sequence: list[tuple]) -> set[str]:
    """What was reached by these steps. The laws hold after every third, and after the last: all look at all rows."""
    machine.reached = Counter()
    made = machine()
    made.begin()
    try:
        for left, (name, *given) in zip(reversed(range(len(sequence))), sequence, strict=True):
            getattr(made, name)(*given)
            if left % 3 == 0:
                made.laws()
    finally:
        made.teardown()
    return set(machine.reached)


def test_the_sequence_has_every_step():
    rules = {name for name in dir(Pipeline) if hasattr(getattr(Pipeline, name), RULE_MARKER)}
    assert {name for name, *_ in SEQUENCE} == rules


@pytest.mark.django_db
def test_everything_once():
    assert run_sequence(Pipeline, SEQUENCE) >= WANTED
