"""A corrected item is asked again with the new words; judgments on the old ones stay, are marked and do not count."""

import uuid

import pytest
from django.db import IntegrityError, transaction

from annotation.assignment import leases as assignment_leases
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Judgment, LeaseState, Slot, Study, Task
from annotation.pipeline.item_results import results
from annotation.screens import errors
from annotation.studies import lifecycle as study_lifecycle
from annotation.studies import reopening
from benchmarks.corrections.correct import Change, correct
from benchmarks.models import Action, Caption, Correction, Item
from benchmarks.records import Refused
from tests.annotation.pipeline.test_new_rounds import answer, keys, labels, leases, sit, stages
from tests.builders import studies

pytestmark = pytest.mark.usefixtures("savepoint")
STAGES = [
    StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"}),
    StagePlan("bivlc-disambiguate", name="second", source="choose"),
    StagePlan("verify", name="third", source="second", settings={"overlap": 1}),
]
NEGATIVE, POSITIVE = "caption-negative-0", "caption-positive-0"


@pytest.fixture(scope="module")
def built(module_world) -> Study:
    """Three items that every stage kept."""
    made = studies.study(items=3, stages=STAGES)
    choose, second, third = stages(made)
    said = dict.fromkeys(keys(made), "candidate-1")
    answer(studies.annotator(made), choose, said)
    answer(sit(studies.annotator(made), second), second, dict.fromkeys(keys(made), "positive-0"))
    answer(sit(studies.annotator(made), third), third, dict.fromkeys(keys(made), "yes"))
    return made


@pytest.fixture
def study(built) -> Study:
    return Study.objects.get(pk=built.pk)


def change(study, place: str, new: str, item: int = 0, **more) -> list[Correction]:
    action = more.pop("action", Action.CAPTION)
    asked = Change(item=keys(study)[item], action=action, place=place, new=new, reason="A wrong word.", **more)
    return correct(benchmark=study.benchmark, changes=[asked], by="test")


def withdraw(study, item: int = 0, action=Action.WITHDRAW) -> list[Correction]:
    return change(study, "", "", item, action=action)


def tasks(study, item: int = 0) -> list[tuple]:
    """(stage, round, live, marked) of the item's tasks."""
    found = Task.objects.filter(stage__study=study, item__position=item).order_by("stage__position", "round")
    return [(task.stage.name, task.round, task.live, task.corrected_id is not None) for task in found]


def test_the_world_is_as_it_says(study):
    assert labels(study) == [["kept"] * 3] * 3


def test_words_that_the_first_stage_shows_are_asked_about_again_in_all(study):
    before = list(Judgment.objects.order_by("pk").values())
    [made] = change(study, NEGATIVE, "A blue cup and a red bowl.")
    assert (made.old, made.new) == ("A blue cup and a red plate, 0.", "A blue cup and a red bowl.")
    assert Caption.objects.get(item__position=0, role="negative", item__benchmark=study.benchmark).text == made.new
    assert labels(study) == [["open", "kept", "kept"], ["", "kept", "kept"], ["", "kept", "kept"]]
    assert list(Judgment.objects.order_by("pk").values()) == before
    choose, second, _third = stages(study)
    answer(studies.annotator(study), choose, {keys(study)[0]: "candidate-1"})
    answer(sit(studies.annotator(study), second), second, {keys(study)[0]: "positive-0"})
    assert labels(study)[0] == ["kept"] * 3 and labels(study)[1] == ["kept"] * 3


def test_words_that_a_stage_does_not_show_leave_its_judgments(study):
    change(study, POSITIVE, "A red cup and a blue bowl.")
    found = tasks(study)
    assert ("choose", 1, True, False) in found  # it shows the negative caption alone
    assert labels(study)[0] == ["kept"] * 3 and labels(study)[1][0] == "open"


def test_a_later_outcome_does_not_bring_back_judgments_on_old_words(study):
    change(study, POSITIVE, "A red cup and a blue bowl.")
    change(study, NEGATIVE, "A blue cup and a red bowl.")
    choose = stages(study)[0]
    answer(studies.annotator(study), choose, {keys(study)[0]: "candidate-1"})
    assert labels(study)[0] == ["kept"] * 3 and labels(study)[1][0] == "open"
    assert ("second", 1, False, True) in tasks(study) and ("second", 2, True, False) in tasks(study)


def test_nobody_has_seen_it_so_nothing_is_asked_again():
    study = studies.study(items=1, stages=STAGES)
    change(study, NEGATIVE, "A blue cup and a red bowl.")
    assert tasks(study) == [("choose", 1, True, False)]


def test_a_screen_that_somebody_holds_is_taken_back_and_its_answer_kept():
    study = studies.study(items=1, stages=STAGES)
    choose, person = stages(study)[0], studies.annotator(study)
    [held] = leases(person, choose)
    change(study, NEGATIVE, "A blue cup and a red bowl.")
    receipt = studies.submit(person, held, "1")
    assert receipt.judgment.surplus and not receipt.added and labels(study) == [["open"], [""], [""]]
    [again] = leases(person, choose)
    assert again.task_id != held.task_id and studies.submit(person, again, "1").added
    assert labels(study)[0] == ["kept"]


def test_an_answer_about_old_words_cannot_be_undone_and_is_not_in_the_history():
    study = studies.study(items=1, stages=STAGES)
    choose, person = stages(study)[0], studies.annotator(study)
    studies.submit(person, leases(person, choose)[0], "1")
    change(study, NEGATIVE, "A blue cup and a red bowl.")
    with pytest.raises(errors.NothingToUndo):
        submissions.undo(annotator=person, key=uuid.uuid4())
    assert submissions.history(annotator=person) == []


def test_a_closed_stage_gives_it_out_only_when_it_is_opened_again(study):
    choose = stages(study)[0]
    study_lifecycle.move_stage(stage=choose, to="closed", by="test")
    change(study, NEGATIVE, "A blue cup and a red bowl.")
    assert not leases(studies.annotator(study), choose) and labels(study)[0][0] == "open"
    assert reopening.reopen(stage=choose, by="test") == 1
    assert Slot.objects.filter(task__stage=choose, live=True, judgment=None).count() == 1


def test_a_withdrawn_item_leaves_every_stage_and_comes_back_with_its_judgments(study):
    withdraw(study)
    assert [of_stage[0] for of_stage in labels(study)] == ["", "", ""]
    with pytest.raises(Refused):
        withdraw(study)
    withdraw(study, action=Action.RESTORE)
    assert labels(study) == [["kept"] * 3] * 3


def test_a_held_screen_of_a_withdrawn_item_is_taken_back():
    study = studies.study(items=1, stages=STAGES)
    choose, person = stages(study)[0], studies.annotator(study)
    [held] = leases(person, choose)
    withdraw(study)
    assert leases(person, choose) == []
    held.refresh_from_db()
    assert held.state == LeaseState.LAPSED and studies.submit(person, held, "1").judgment.pk


def test_checks_on_the_item_are_retired():
    study = studies.study(items=2, stages=STAGES[:1])
    Task.objects.filter(item__position=0).update(kind="check", gold=["none"])
    change(study, NEGATIVE, "A blue cup and a red bowl.")
    assert tasks(study) == [("choose", 1, False, True)]


@pytest.mark.parametrize("strategy", ["batches", "everyone", "named", "audit"])
def test_it_is_asked_again_of_those_who_had_it(strategy):
    more = {"batches": {"batch_size": 2}, "audit": {"target_half_width": 0.2}}.get(strategy, {})
    study = studies.study(items=2, strategy=strategy, **more)
    [stage], person = stages(study), studies.annotator(study)
    if strategy == "named":
        Slot.objects.update(reserved=person)
    order = list(stage.tasks.order_by("rank").values_list("item", flat=True))
    place = Item.objects.get(pk=order[0]).position
    for lease in assignment_leases.hold(annotator=person, stage=stage, wanted=2):
        studies.submit(person, lease, "1")
    change(study, NEGATIVE, "A blue cup and a red bowl.", item=place)
    if strategy == "audit":
        assert list(stage.tasks.filter(live=True).order_by("rank").values_list("item", flat=True)) == order
    [lease] = assignment_leases.hold(annotator=person, stage=stage, wanted=2)
    assert lease.task.item_id == order[0] and studies.submit(person, lease, "1").added
    assert results(stage)[order[0]].label == "kept"


def test_an_audit_that_is_over_keeps_its_judgments_marked():
    study = studies.study(items=2, strategy="audit", target_half_width=0.2)
    [stage], person = stages(study), studies.annotator(study)
    for lease in assignment_leases.hold(annotator=person, stage=stage, wanted=2):
        studies.submit(person, lease, "1")
    study_lifecycle.move_stage(stage=stage, to="closed", by="test")
    change(study, NEGATIVE, "A blue cup and a red bowl.")
    assert tasks(study) == [(stage.name, 1, True, True)]


WRONG = [
    ({"place": "caption-other-0", "new": "x"}, "UNKNOWN_PLACE"),
    ({"place": NEGATIVE, "new": " "}, "VALUE_MISSING"),
    ({"place": NEGATIVE, "new": "A blue cup and a red plate, 0."}, "ALREADY_DONE"),
    ({"place": NEGATIVE, "new": "x", "old": "Other words."}, "CHANGED"),
    ({"place": NEGATIVE, "new": "A red cup and a blue plate, 0."}, "SAME_CAPTIONS"),
    ({"place": NEGATIVE, "new": "x" * 4001}, "FIELD_TOO_LONG"),
    ({"place": NEGATIVE, "new": "x", "item": "nobody"}, "UNKNOWN_ID"),
    ({"place": NEGATIVE, "new": "x", "reason": " "}, "VALUE_MISSING"),
]


@pytest.mark.parametrize("asked, code", WRONG)
def test_what_cannot_be_corrected_is_refused_and_nothing_is_changed(study, asked, code):
    given = {"item": keys(study)[0], "action": Action.CAPTION, "reason": "A wrong word.", **asked}
    good = Change(item=keys(study)[1], action=Action.CAPTION, place=NEGATIVE, new="Right.", reason="So.")
    with pytest.raises(Refused) as refused:
        correct(benchmark=study.benchmark, changes=[good, Change(**given)], by="test")
    assert [problem.code for problem in refused.value.problems] == [code]
    assert not Correction.objects.exists()


def test_the_history_is_never_altered(study):
    [made] = change(study, NEGATIVE, "A blue cup and a red bowl.")
    with pytest.raises(IntegrityError), transaction.atomic():
        Correction.objects.filter(pk=made.pk).update(new="Something else.")
