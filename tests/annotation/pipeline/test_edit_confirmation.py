"""An edit waits for another annotator: through the real verbs, from the claim to what the next stage gets."""

import uuid

import pytest

from annotation.adjudication import decisions
from annotation.assignment import leases
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Judgment, Lease, Outcome, Slot, Task
from annotation.pipeline.item_results import results
from annotation.pipeline.outcomes import counted_answers, rule_of
from annotation.protocols.base import Answer
from annotation.protocols.decision_rule import AWAITING_ADJUDICATION, Rule
from annotation.protocols.registry import PROTOCOLS
from annotation.screens import errors, read_answer
from tests.builders import studies, visla_items

pytestmark = pytest.mark.django_db
OPTION = "caption-candidate-1"
SITS, LIES = "A cat sits in the basket.", "A cat lies in the basket."


class World:
    """One item, and people who judge it in turn."""

    def __init__(self, **settings):
        self.study = visla_items.study("visla-paraphrase", 1, **settings)
        self.stage = self.study.stages.first()

    def newcomer(self):
        return studies.annotator(self.study)

    def lease(self, who) -> Lease | None:
        return next(iter(leases.hold(annotator=who, stage=self.stage, wanted=1)), None)

    def says(self, who=None, option: str = OPTION, **more: str):
        """What they say of the item: they take an option, or with `words` edit it; `option` can be `reject`."""
        who = who or self.newcomer()
        more |= {"edit": "1"} if "words" in more else {}
        lease = self.lease(who)
        studies.submit(who, lease, read_answer.place_on_screen(lease, option), more=more)
        return who

    @property
    def task(self) -> Task:
        return Task.objects.get(stage=self.stage)

    @property
    def edit(self) -> str:
        return self.task.proposals[-1]

    @property
    def outcome(self) -> Outcome | None:
        return Outcome.objects.filter(task__stage=self.stage).first()

    def stands(self) -> tuple[str, str, str]:
        """State, by, and the words."""
        return self.outcome.state, self.outcome.by, self.outcome.content["texts"]["second_positive"]


@pytest.fixture
def world():
    return World()


def test_what_is_taken_as_it_is_needs_nobody_else(world):
    world.says()
    assert world.stands() == ("kept", "only_answer", "In the basket there is a cat.")
    assert world.task.overlap == 1 and world.lease(world.newcomer()) is None


def test_an_edit_that_is_taken_is_agreement():
    edit, taken = Answer("edited"), Answer("edit-17")
    said = PROTOCOLS["visla-paraphrase"]
    assert {Rule(said, 1, "drop").projections()["answer"](answer.label) for answer in (edit, taken)} == {"edited"}


def test_a_rejection_needs_nobody_else(world):
    world.says(option="reject", same="broken", why="Odd.")
    assert (world.outcome.state, world.outcome.reason) == ("dropped", "rejected")
    assert Judgment.objects.get().reason == "Odd."


def test_an_edit_waits_and_is_an_option_for_whoever_comes_next(world):
    world.says(words=SITS)
    lease = world.lease(world.newcomer())
    assert world.outcome is None and world.task.overlap == 2
    assert set(lease.shown) == {*world.task.options, world.edit}


def test_an_edit_that_another_takes_as_it_is_stands(world):
    world.says(words=SITS)
    world.says(option=world.edit)
    assert world.stands() == ("kept", "unanimous", SITS)
    assert world.outcome.outcome == "edited" and world.lease(world.newcomer()) is None


def test_writing_the_same_words_confirms_as_well(world):
    world.says(words=SITS)
    world.says(option="caption-candidate-0", words=f" {SITS}")
    assert world.stands() == ("kept", "unanimous", SITS)


def test_nobody_confirms_what_they_wrote_themselves(world):
    editor = world.says(words=SITS)
    assert world.lease(editor) is None
    again = Lease.objects.get(annotator=editor)
    studies.submit(editor, again, read_answer.place_on_screen(again, OPTION), more={"edit": "1", "words": LIES})
    studies.submit(editor, again, read_answer.place_on_screen(again, OPTION), more={"edit": "1", "words": SITS})
    assert world.outcome is None and len(counted_answers(world.task)) == 1


def test_without_the_rule_of_two_the_edit_would_stand_alone(world, monkeypatch):
    """That the tests above would see a rule that lets an edit through."""
    monkeypatch.setattr("annotation.protocols.decision_rule.is_edit", lambda label: False)
    world.says(words=SITS)
    assert world.stands() == ("kept", "only_answer", SITS)


def test_an_edit_that_is_taken_back_is_no_option_any_more(world):
    editor = world.says(words=SITS)
    submissions.undo(annotator=editor, key=uuid.uuid4())
    assert world.task.proposals == [] and world.outcome is None
    world.says(editor)
    assert world.stands() == ("kept", "only_answer", "In the basket there is a cat.")
    assert not Slot.objects.filter(task=world.task, judgment=None).exists()


def test_who_took_an_edit_back_gets_it_back_to_go_on_with(world):
    editor = world.says(words=SITS)
    assert submissions.undo(annotator=editor, key=uuid.uuid4()).previous["words"] == SITS


def test_a_confirmation_that_is_taken_back_opens_it_again(world):
    world.says(words=SITS)
    other = world.says(option=world.edit)
    submissions.undo(annotator=other, key=uuid.uuid4())
    assert world.outcome is None and len(world.task.proposals) == 1


def test_a_second_edit_goes_to_a_third_who_sees_both(world):
    world.says(words=SITS)
    world.says(words=LIES)
    assert world.outcome is None and len(world.task.proposals) == 2
    world.says(option=world.edit)
    assert world.stands() == ("kept", "majority", LIES)


@pytest.mark.parametrize(
    ("third", "state"), [({"option": "reject", "why": "No."}, "dropped"), ({"words": SITS}, "kept")]
)
def test_a_rejection_against_an_edit_goes_to_a_third(world, third, state):
    world.says(words=SITS)
    world.says(option="reject", neutral="broken")
    assert world.outcome is None and world.task.overlap == 3
    world.says(**third)
    assert (world.outcome.state, world.outcome.by) == (state, "majority")


def test_three_of_three_minds_wait_for_an_adjudicator(world):
    world.says(words=SITS)
    world.says(words=LIES)
    world.says(option="reject", why="No.")
    assert world.outcome is None and world.lease(world.newcomer()) is None
    answers = list(counted_answers(world.task).values())
    assert rule_of(world.stage).settle(answers).reason == AWAITING_ADJUDICATION
    adopt(world, answers[1])
    assert world.stands() == ("kept", "adjudicator", LIES)


def adopt(world, answer: Answer) -> None:
    """An adjudicator takes what somebody answered."""
    seen = decisions.seen(world.task)
    decisions.decide(
        task=world.task, by="her", seen=seen, note="Reads best.", answer=answer.label, content=answer.content
    )


def test_an_adjudicator_writes_what_stands(world):
    world.says(words=SITS)
    world.says(option="reject", why="No.")
    adopt(world, decisions.own_words(world.task, world.stage, {"second_positive": LIES}))
    assert world.stands() == ("kept", "adjudicator", LIES)
    with pytest.raises(decisions.Unfit, match="the same as the sentence at the top"):
        decisions.own_words(world.task, world.stage, {"second_positive": visla_items.CAT["positive"][0]})


def test_a_higher_cap_asks_more_people():
    world = World(cap=4)
    for number in range(3):
        world.says(words=f"{SITS} {number}")
    assert world.task.overlap == 4 and world.lease(world.newcomer()) is not None


def test_every_revision_is_kept_with_who_made_it(world):
    editor = world.says(words=SITS)
    lease = Lease.objects.get()
    studies.submit(editor, lease, read_answer.place_on_screen(lease, OPTION), more={"edit": "1", "words": LIES})
    kept = Judgment.objects.order_by("revision")
    assert [one.content["texts"]["second_positive"] for one in kept] == [SITS, LIES]
    assert {one.lease.annotator for one in kept} == {editor} and world.edit == f"edit-{kept[1].pk}"


def test_the_next_stage_gets_the_words_that_stand():
    world = World(stages=[StagePlan("visla-paraphrase", "a"), StagePlan("visla-triplet", "b", "a")])
    world.says(words=SITS)
    world.says(option=world.edit)
    [task] = Task.objects.filter(stage__name="b")
    assert task.carried == {"caption-second_positive": SITS}
    assert results(world.stage)[task.item_id].state == "kept"


@pytest.mark.parametrize("more", [{"words": ""}, {"words": "A cat is in the basket."}])
def test_what_is_no_edit_changes_nothing(world, more):
    with pytest.raises(errors.BadAnswer):
        world.says(**more)
    assert not Judgment.objects.exists()
