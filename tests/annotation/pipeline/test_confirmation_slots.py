"""The places that are added for a confirmation: when one comes, who may take it, and when it goes again."""

import uuid

import pytest

from annotation.adjudication import decisions
from annotation.assignment import by_name, leases
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Outcome, Slot, Stage, Task
from annotation.participants import lifecycle as participant_lifecycle
from tests.builders import studies, text_items

pytestmark = pytest.mark.django_db
FIRST, SECOND = "A cat is lying on a mat.", "There is a cat on a mat."


@pytest.fixture
def stage() -> Stage:
    return text_items.stage()


def stands() -> tuple | None:
    found = Outcome.objects.first()
    return found and (found.outcome, found.by, found.content.get("texts", {}).get("second_positive"))


def places() -> list[int]:
    return list(Slot.objects.order_by("number").values_list("number", flat=True))


def test_an_edit_that_was_taken_back_does_not_count_by_the_word_of_one(stage):
    editor = studies.annotator(stage.study)
    made = text_items.edits(stage, FIRST, person=editor)
    text_items.picks(stage, f"edit-{made.pk}")
    submissions.undo(annotator=editor, key=uuid.uuid4())
    assert stands() is None
    assert Task.objects.get().proposals == [f"edit-{Slot.objects.get(number=2).judgment_id}"]


def test_the_place_for_a_confirmation_goes_where_the_edit_goes(stage):
    editor = studies.annotator(stage.study)
    made = text_items.edits(stage, FIRST, person=editor)
    assert places() == [1, 2]
    text_items.send(editor, made.lease, answer=text_items.option(made.lease, "caption-candidate-1"))
    assert places() == [1] and stands() == ("caption-candidate-1", "only_answer", text_items.TEXTS["candidate"][1])
    text_items.send(editor, made.lease, answer="1", edit="1", words=SECOND)
    assert places() == [1, 2] and stands() is None


def test_it_stays_while_somebody_looks_at_it_and_their_answer_is_waited_for(stage):
    editor, second = studies.annotator(stage.study), studies.annotator(stage.study)
    made = text_items.edits(stage, FIRST, person=editor)
    lease = text_items.hold(second, stage)
    text_items.send(editor, made.lease, answer=text_items.option(made.lease, "caption-candidate-1"))
    assert places() == [1, 2] and stands() is None
    text_items.send(second, lease, answer=text_items.option(lease, "caption-candidate-1"))
    assert stands()[:2] == ("caption-candidate-1", "unanimous")


def test_three_that_differ_wait_for_an_adjudicator_and_for_nobody_else(stage):
    for words in (FIRST, SECOND):
        text_items.edits(stage, words)
    text_items.rejects(stage)
    assert stands() is None and places() == [1, 2, 3]


def test_an_edit_of_somebody_who_is_excluded_is_offered_to_nobody(stage):
    editor = studies.annotator(stage.study)
    text_items.edits(stage, FIRST, person=editor)
    participant_lifecycle.exclude(annotator=editor, reason="Looked.", by="test")
    lease = text_items.hold(studies.annotator(stage.study), stage)
    assert sorted(lease.shown) == sorted(lease.task.options)


class TestNamed:
    """Who judges what is said by a manager: a confirmation goes to somebody else who has items in the stage."""

    @pytest.fixture
    def stage(self) -> Stage:
        return text_items.stage(StagePlan(text_items.PARAPHRASE, settings={"strategy": "named"}), items=2)

    def test_another_one_who_was_named_confirms(self, stage):
        one, two, outsider = (studies.annotator(stage.study) for _ in range(3))
        for person, key in ((one, "item-0"), (two, "item-1")):
            by_name.assign(stage=stage, annotators=[person], keys=[key], by="test")
        text_items.edits(stage, FIRST, person=one)
        assert text_items.hold(outsider, stage) is None and text_items.hold(one, stage) is None
        text_items.picks(stage, person=two)
        lease = text_items.hold(two, stage)
        assert lease.task.item.key == "item-0" and lease.task.proposals[0] in lease.shown

    def test_places_that_were_given_stay_and_their_answers_are_waited_for(self, stage):
        one, two = studies.annotator(stage.study), studies.annotator(stage.study)
        by_name.assign(stage=stage, annotators=[one, two], keys=["item-0"], by="test")
        text_items.picks(stage, person=two)
        assert stands() is None
        text_items.edits(stage, FIRST, person=one)
        task = Task.objects.get(item__key="item-0")
        assert list(task.slots.order_by("number").values_list("number", flat=True)) == [1, 2, 3]


def test_what_is_sent_back_is_asked_once_more_in_a_named_stage_too():
    stage = text_items.stage(StagePlan(text_items.PARAPHRASE, settings={"strategy": "named"}), items=2)
    one, two = studies.annotator(stage.study), studies.annotator(stage.study)
    for person, key in ((one, "item-0"), (two, "item-1")):
        by_name.assign(stage=stage, annotators=[person], keys=[key], by="test")
    task = text_items.picks(stage, person=one).lease.task
    decisions.send_back(task=task, by="user:1", seen=decisions.seen(task), note="Look again.")
    text_items.picks(stage, person=two)
    assert [lease.task_id for lease in leases.hold(annotator=two, stage=stage)] == [task.pk]
