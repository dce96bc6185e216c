"""Where annotators are split, one judgment more is asked for, up to the stage's cap; and somebody can give it."""

import uuid

import pytest

from annotation.assignment import by_name, leases, seats
from annotation.judging import submissions
from annotation.judging.next_step import claim_next, total
from annotation.models import Outcome, Slot, Stage, Task
from annotation.permissions import desk
from annotation.pipeline import outcomes
from annotation.screens import read_answer
from annotation.studies import lifecycle as study_lifecycle
from tests.builders import studies

pytestmark = pytest.mark.django_db


def stage(items=1, **settings) -> Stage:
    made = studies.study(items=items, **{"overlap": 2, "cap": 3, **settings})
    return made.stages.select_related("study").get()


def judged(here: Stage, *answers: str) -> list:
    """The one task is judged by new people; returns them."""
    people = [studies.annotator(here.study) for _ in answers]
    for person, answer in zip(people, answers, strict=True):
        assert studies.judgment(person, here, answer, reason="I cannot tell.")
    return people


def stands(task: Task | None = None) -> tuple | None:
    found = Outcome.objects.filter(task=task or Task.objects.get()).first()
    return found and (found.state, found.outcome or found.reason, found.by)


def places(task: Task | None = None) -> tuple[int, int, int]:
    """Its overlap, its slots, and those that are judged: never more than the overlap."""
    task = task or Task.objects.get()
    slots = Slot.objects.filter(task=task)
    return task.overlap, slots.count(), slots.filter(judgment__isnull=False).count()


def test_one_against_one_asks_for_a_third_and_two_of_three_decide():
    here = stage()
    judged(here, "none", "candidate-0")
    assert (stands(), places()) == (None, (3, 3, 2))
    judged(here, "candidate-0")
    assert (stands(), places()) == (("kept", "candidate-0", "majority"), (3, 3, 3))


@pytest.mark.parametrize(
    "answers", [("none", "none"), ("candidate-0", "candidate-1"), ("cannot_judge", "cannot_judge")]
)
def test_two_of_a_kind_ask_for_no_more(answers):
    here = stage()
    judged(here, *answers)
    assert stands() is not None and places() == (2, 2, 2)


@pytest.mark.parametrize(
    "tie_rule, came",
    [
        ("drop", ("dropped", "tie_unresolved", "tie_rule")),
        ("none", ("dropped", "none", "tie_rule")),
        ("first", ("kept", "candidate-3", "tie_rule")),
        ("adjudicate", None),
    ],
)
def test_three_kinds_at_the_cap_are_left_to_the_tie_rule(tie_rule, came):
    here = stage(tie_rule=tie_rule)
    judged(here, "candidate-3", "none", "cannot_judge")
    assert (stands(), places()) == (came, (3, 3, 3))


def test_more_are_asked_for_as_long_as_they_are_split():
    here = stage(cap=5)
    judged(here, "none", "candidate-0", "cannot_judge")
    assert places() == (4, 4, 3)
    judged(here, "none")
    assert places() == (5, 5, 4)  # two of four are no majority
    judged(here, "candidate-1")
    assert (stands(), places()) == (("dropped", "tie_unresolved", "tie_rule"), (5, 5, 5))


@pytest.mark.parametrize("fields", [{"cap": None}, {"overlap": 1}, {"cap": 2}])
def test_without_a_cap_above_the_overlap_nothing_is_added(fields):
    here = stage(**fields)
    judged(here, *["none", "candidate-0"][: here.overlap])
    assert places() == (here.overlap,) * 3


def test_an_answer_that_is_taken_back_leaves_the_place_that_was_added_and_adds_no_other():
    """Somebody may hold it already, and what was asked for once is not withdrawn."""
    here = stage()
    _, two = judged(here, "none", "candidate-0")
    for answer in ("candidate-0", "none", "candidate-0"):
        lease = submissions.undo(annotator=two, key=uuid.uuid4())
        assert (stands(), places()) == (None, (3, 3, 1))
        studies.submit(two, lease, read_answer.place_on_screen(lease, answer))
        assert (stands(), places()) == (None, (3, 3, 2))
    judged(here, "none")
    assert (stands(), places()) == (("dropped", "none", "majority"), (3, 3, 3))
    assert studies.judgment(studies.annotator(here.study), here) is None


def test_a_changed_answer_that_splits_what_had_settled_asks_for_one_more():
    here = stage()
    _, two = judged(here, "none", "none")
    lease = submissions.history(annotator=two)[0]
    studies.submit(two, lease, read_answer.place_on_screen(lease, "candidate-0"))
    assert (stands(), places()) == (None, (3, 3, 2))


def test_nothing_is_added_where_an_adjudicator_has_decided():
    here = stage(cap=5)
    judged(here, "none", "candidate-0")
    word = {"state": "kept", "outcome": "candidate-0", "reason": "", "by": "adjudicator", "note": "I looked."}
    Outcome.objects.create(task=Task.objects.get(), **word)
    judged(here, "cannot_judge")
    assert (stands(), places()) == (("kept", "candidate-0", "adjudicator"), (3, 3, 3))


class TestWhoGivesIt:
    def work(self, annotator, here, answer="none"):
        """As the page: what is held, else what there is to sit down to."""
        judgment = studies.judgment(annotator, here, answer)
        if judgment is None and seats.has_work(annotator, here):
            seats.sit(annotator=annotator, stage=here)
            judgment = studies.judgment(annotator, here, answer)
        return judgment

    def test_of_batches_whoever_takes_the_next_place(self):
        here = stage(items=2, strategy="batches", batch_size=2)
        one, two, three = (studies.annotator(here.study) for _ in range(3))
        assert not seats.has_work(three, here)
        for person, answer in ((one, "none"), (two, "candidate-0")):
            assert self.work(person, here, answer)
        first = Task.objects.get(overlap=3)
        assert self.work(three, here).lease.task == first and stands(first) == ("dropped", "none", "majority")

    def test_of_batches_the_same_annotator_as_they_come(self):
        """The third places of a batch are asked for one after the other: one annotator may give them all."""
        here = stage(items=2, strategy="batches", batch_size=2)
        one, two, three = (studies.annotator(here.study) for _ in range(3))
        for _ in range(2):
            assert self.work(one, here, "none") and self.work(two, here, "candidate-0")
            assert self.work(three, here)
        assert Outcome.objects.filter(by="majority").count() == 2
        assert not any(seats.has_work(person, here) for person in (one, two, three))

    def test_of_everyone_the_next_who_joins(self):
        here = stage(strategy="everyone")
        judged(here, "none", "candidate-0")
        judged(here, "candidate-1")
        assert stands() == ("kept", "candidate-0", "first_of_equals")

    def test_of_named_those_who_are_done_with_their_own(self):
        here = stage(items=2, strategy="named")
        one, two, three, other = (studies.annotator(here.study) for _ in range(4))
        first, second = here.study.benchmark.items.values_list("key", flat=True)
        by_name.assign(stage=here, annotators=[one, two], keys=[first], by="test")
        by_name.assign(stage=here, annotators=[three], keys=[second], by="test")
        assert self.work(one, here, "none") and self.work(two, here, "candidate-0")
        assert [seats.has_work(person, here) for person in (one, two, three, other)] == [False, False, True, False]
        assert self.work(three, here).lease.task.item.key == second  # their own first
        assert total(three, here) == 1
        assert self.work(three, here).lease.task.item.key == first
        assert total(three, here) == 2 and not seats.has_work(three, here)
        assert studies.judgment(other, here) is None

    def test_of_named_nobody_takes_what_was_never_given(self):
        here = stage(items=2, strategy="named")
        one = studies.annotator(here.study)
        first = here.study.benchmark.items.first().key
        by_name.assign(stage=here, annotators=[one], keys=[first], by="test")
        assert self.work(one, here) and self.work(one, here) is None

    def test_two_at_once_get_it_once(self):
        here = stage()
        judged(here, "none", "candidate-0")
        three, four = studies.annotator(here.study), studies.annotator(here.study)
        assert len(leases.hold(annotator=three, stage=here)) == 1
        assert leases.hold(annotator=four, stage=here) == []


def test_what_is_asked_for_in_a_closed_stage_is_given_out_and_nothing_else():
    here = stage(items=2, cap=None)
    judged(here, "none", "none")
    task = Task.objects.get(decided__isnull=False)
    here = study_lifecycle.move_stage(stage=here, to="closed", by="test").stage
    person = studies.annotator(here.study)
    assert not seats.has_work(person, here) and claim_next(desk(person.token)).state == "done"
    outcomes.add_slot(task, here)
    assert not seats.has_work(person, here)
    Slot.objects.filter(task=task, judgment=None).update(live=True)
    assert seats.has_work(person, here)
    assert [lease.task for lease in claim_next(desk(person.token)).leases] == [task]
