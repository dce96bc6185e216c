"""What has to be passed before a stage: who gets in, after how many tries, and what happens to whoever does not."""

import pytest

from annotation.assignment import seats
from annotation.checks import attention_checks, gold_items, qualification
from annotation.checks.gold_items import CannotSet
from annotation.checks.parsing import Known
from annotation.judging import next_step
from annotation.models import Attempt, Kind, OnFailure, Seat, Slot, Strategy
from annotation.permissions import desk
from annotation.screens import read_answer
from tests.builders import studies

pytestmark = pytest.mark.django_db

QUESTIONS = [
    {"question": "What counts?", "options": ["looks", "content"], "answer": 1},
    {"question": "If none fits?", "options": ["none", "any", "skip"], "answer": 0},
]


def stage_with(practice_items=0, **settings):
    """A stage whose practice items come from another benchmark; each has the right answer candidate-1."""
    stage = studies.stage(**settings)
    if practice_items:
        source = studies.benchmark(items=practice_items)
        known = {item: Known(("candidate-1",), f"Look at {item.key}.") for item in source.items.all()}
        gold_items.set_known(kind=Kind.PRACTICE, stage=stage, known=known, by="test")
    return stage


def state_of(annotator):
    return next_step.stopped_by(desk(annotator.token))


def questions(annotator, stage, number, answers):
    about = qualification.digest(stage.comprehension)
    return qualification.answer_questions(annotator=annotator, stage=stage, number=number, answers=answers, about=about)


def practise(annotator, stage, right=True):
    """One try at the practice: every answer right, or every one wrong."""
    step = qualification.step(annotator=annotator, stage=stage)
    number = step.number
    while step is not None and step.number == number:
        shown = read_answer.place_on_screen(step.lease, "candidate-1" if right else "none")
        at = {"annotator": annotator, "stage": stage, "number": number, "place": step.place}
        qualification.answer_screen(**at, shown_answer=shown)
        qualification.go_on(**at)
        step = qualification.step(annotator=annotator, stage=stage)


def test_with_nothing_to_pass_the_rules_alone_let_in():
    stage = studies.stage()
    assert state_of(studies.annotator(stage.study)) == ""


def test_questions_then_practice_let_in():
    stage = stage_with(practice_items=3, comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    assert state_of(annotator) == "before"
    assert questions(annotator, stage, 1, [1, 0]).passed
    assert state_of(annotator) == "before"
    practise(annotator, stage)
    assert state_of(annotator) == ""


def test_every_question_must_be_right_and_there_are_at_least_two_tries():
    stage = stage_with(comprehension=QUESTIONS, practice_tries=1, on_failure=OnFailure.SCREEN_OUT)
    annotator = studies.annotator(stage.study)
    assert not questions(annotator, stage, 1, [1, 2]).passed
    assert state_of(annotator) == "before"
    assert questions(annotator, stage, 2, [1, 0]).passed
    assert qualification.step(annotator=annotator, stage=stage) is None and state_of(annotator) == ""


def test_a_try_that_is_sent_twice_is_one_try():
    stage = stage_with(comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    questions(annotator, stage, 1, [0, 0])
    assert questions(annotator, stage, 1, [1, 0]) is None
    assert Attempt.objects.count() == 1 and state_of(annotator) == "before"


def test_answers_to_questions_that_have_changed_since_cost_no_try():
    stage = stage_with(comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    qualification.answer_questions(annotator=annotator, stage=stage, number=1, answers=[0, 0], about="older")
    assert not Attempt.objects.exists()


@pytest.mark.parametrize(("failure", "state"), [(OnFailure.FLAG, ""), (OnFailure.SCREEN_OUT, "screened_out")])
@pytest.mark.parametrize("kind", ["comprehension", "practice"])
def test_out_of_tries(failure, state, kind):
    asked = {"comprehension": QUESTIONS} if kind == "comprehension" else {"practice_items": 2}
    stage = stage_with(**asked, on_failure=failure)
    annotator = studies.annotator(stage.study)
    for number in (1, 2):
        assert state_of(annotator) == "before"
        practise(annotator, stage, right=False) if kind == "practice" else questions(annotator, stage, number, [0, 0])
    qualification.step(annotator=annotator, stage=stage)
    assert state_of(annotator) == state
    assert qualification.results(stage)[annotator.number][kind].passed is False


def test_the_pass_mark_is_a_share_of_the_practice_answers():
    for right, state in ((4, ""), (3, "before")):
        stage = stage_with(practice_items=5, practice_pass=0.8)
        annotator = studies.annotator(stage.study)
        for place in range(1, 6):
            step = qualification.step(annotator=annotator, stage=stage)
            shown = read_answer.place_on_screen(step.lease, "candidate-1" if place <= right else "none")
            at = {"annotator": annotator, "stage": stage, "number": 1, "place": place}
            qualification.answer_screen(**at, shown_answer=shown)
            qualification.go_on(**at)
        assert state_of(annotator) == state


def test_the_first_answer_is_the_one_that_counts():
    stage = stage_with(practice_items=1)
    annotator = studies.annotator(stage.study)
    step = qualification.step(annotator=annotator, stage=stage)
    at = {"annotator": annotator, "stage": stage, "number": 1, "place": 1}
    assert qualification.answer_screen(**at, shown_answer="none")
    assert not qualification.answer_screen(**at, shown_answer=read_answer.place_on_screen(step.lease, "candidate-1"))
    qualification.go_on(**at)
    qualification.go_on(**at)
    assert [attempt.passed for attempt in Attempt.objects.order_by("number")] == [False, None]


def test_order_and_options_are_drawn_for_the_try_and_stay():
    stage = stage_with(practice_items=8)
    annotator = studies.annotator(stage.study)
    first, again = (qualification.step(annotator=annotator, stage=stage) for _ in range(2))
    assert first.entry == again.entry
    drawn = {tuple(entry["shown"]) for entry in first.attempt.answers}
    assert len(drawn) > 1
    practise(annotator, stage, right=False)
    second = qualification.step(annotator=annotator, stage=stage)
    assert [entry["shown"] for entry in second.attempt.answers] != [entry["shown"] for entry in first.attempt.answers]


def test_whoever_is_screened_out_keeps_no_place():
    stage = stage_with(comprehension=QUESTIONS, items=4, strategy=Strategy.BATCHES, batch_size=4, check_rate=0.2,
                       on_failure=OnFailure.SCREEN_OUT)  # fmt: skip
    known = studies.benchmark(items=1).items.get()
    attention_checks.set_checks(stage=stage, answers={known: ["none"]}, by="test")
    annotator = studies.annotator(stage.study)
    assert Slot.objects.filter(reserved=annotator).count() == 5
    for number in (1, 2):
        questions(annotator, stage, number, [0, 0])
    assert not Slot.objects.filter(reserved=annotator).exists()
    other = studies.annotator(stage.study)
    assert Seat.objects.get(annotator=other).batch == 1
    assert not seats.has_work(annotator, stage)


def test_practice_that_the_manager_took_away_is_not_waited_for():
    stage = stage_with(practice_items=2)
    annotator = studies.annotator(stage.study)
    qualification.step(annotator=annotator, stage=stage)
    tasks = list(stage.tasks.filter(kind=Kind.PRACTICE).values_list("pk", flat=True))
    assert gold_items.remove(stage=stage, tasks=tasks, by="test") == (0, 2)  # they were in a try: retired
    assert qualification.step(annotator=annotator, stage=stage) is None and state_of(annotator) == ""


def test_an_item_cannot_be_both_check_and_practice():
    stage = studies.stage(items=1)
    item = stage.study.benchmark.items.get()
    gold_items.set_known(kind=Kind.PRACTICE, stage=stage, known={item: Known(("none",))}, by="test")
    with pytest.raises(CannotSet, match="already practice here"):
        attention_checks.set_checks(stage=stage, answers={item: ["none"]}, by="test")


def test_results_say_how_each_try_went():
    stage = stage_with(practice_items=2, comprehension=QUESTIONS)
    annotator = studies.annotator(stage.study)
    questions(annotator, stage, 1, [1, 1])
    questions(annotator, stage, 2, [1, 0])
    practise(annotator, stage, right=False)
    found = qualification.results(stage)[annotator.number]
    assert found["comprehension"] == qualification.Result((0.5, 1.0), True)
    assert found["practice"] == qualification.Result((0.0,), None)
