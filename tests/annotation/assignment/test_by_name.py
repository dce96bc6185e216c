"""The strategy named: these annotators, these items."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.assignment import by_name, leases, seats
from annotation.designs.plan import StagePlan
from annotation.judging import next_step
from annotation.models import Outcome, Slot, Stage, Task
from annotation.permissions import desk
from annotation.pipeline import outcomes, promotion
from benchmarks.models import Event
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage() -> Stage:
    return studies.stage(items=4, strategy="named")


def people(stage: Stage, number: int) -> list:
    return [studies.annotator(stage.study, name=f"Expert {n}") for n in range(number)]


def assign(stage, who, *keys) -> int:
    return by_name.assign(stage=stage, annotators=who, keys=keys, by="user:1")


def got(stage, annotator) -> list[str]:
    """Keys of the items that the annotator is given, one after the other, until nothing is left."""
    found = []
    while judgment := studies.judgment(annotator, stage, "none"):
        found.append(judgment.lease.task.item.key)
    return sorted(found)


def test_each_gets_what_is_theirs_and_nothing_else(stage):
    ana, ben, eve = people(stage, 3)
    assert (assign(stage, [ana], "item-0", "item-1"), assign(stage, [ben], "item-2")) == (2, 1)
    assert (got(stage, ana), got(stage, ben), got(stage, eve)) == (["item-0", "item-1"], ["item-2"], [])


def test_more_annotators_than_the_overlap_get_places_of_their_own_and_all_of_them_decide(stage):
    three = people(stage, 3)
    assert assign(stage, three, "item-0") == 3
    task = Task.objects.get(item__key="item-0")
    assert (task.overlap, sorted(task.slots.values_list("number", flat=True))) == (3, [1, 2, 3])
    for person in three:
        assert not Outcome.objects.exists()
        got(stage, person)
    assert Outcome.objects.get().task == task


def test_what_had_settled_is_open_again_when_one_more_is_to_judge_it(stage):
    ana, ben = people(stage, 2)
    assign(stage, [ana], "item-0")
    got(stage, ana)
    assert Outcome.objects.count() == 1
    assign(stage, [ben], "item-0")
    assert not Outcome.objects.exists()


def test_assigning_twice_is_assigning_once(stage):
    ana, ben = people(stage, 2)
    assert [assign(stage, [ana, ben], "item-0", "item-0") for _ in range(2)] == [2, 0]
    assert Slot.objects.filter(reserved__isnull=False).count() == 2
    assert Event.objects.filter(verb="assigned").count() == 1


def test_unknown_keys_are_named_and_nothing_is_assigned(stage):
    with pytest.raises(by_name.CannotAssign, match=r"no item itme-1 in the benchmark\.\nThere is no item x"):
        assign(stage, people(stage, 1), "item-0", "itme-1", "x")
    assert not Slot.objects.exclude(reserved=None).exists()


def test_an_item_that_is_not_in_the_stage_is_said_to_be_that():
    study = studies.study(items=2, stages=[StagePlan("bivlc-choose"), named_after("bivlc-choose")])
    later = study.stages.get(position=2)
    with pytest.raises(by_name.CannotAssign, match=r"Item item-1 is not in this stage\."):
        assign(later, people(later, 1), "item-1")


def named_after(source: str, **rest) -> StagePlan:
    return StagePlan("bivlc-choose", "again", source, settings={"strategy": "named"}, **rest)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"left_at": "2026-01-01T00:00Z"}, "A-01 is not an active annotator"), (None, "at least one annotator")],
)
def test_only_people_at_work_in_the_study_are_given_anything(stage, change, said):
    who = people(stage, 1) if change else []
    for person in who:
        vars(person).update(change)
    with pytest.raises(by_name.CannotAssign, match=said):
        assign(stage, who, "item-0")


def test_whose_link_does_not_lead_to_the_stage_is_refused():
    study = studies.study(items=1, stages=[named_after(""), StagePlan("bivlc-choose")])
    stage, other = study.stages.all()
    assert assign(stage, [studies.annotator(study, stage=stage)], "item-0") == 1
    with pytest.raises(by_name.CannotAssign, match="A-02 joined by a link that doesn’t include this stage"):
        assign(stage, [studies.annotator(study, stage=other)], "item-0")


def test_at_least_one_item(stage):
    with pytest.raises(by_name.CannotAssign, match="at least one item"):
        assign(stage, people(stage, 1))


def test_a_task_with_more_than_fifty_judgments_is_refused_by_the_items_name(stage):
    full = Task.objects.get(item__key="item-1")
    for _ in range(49):
        outcomes.add_slot(full, stage)
    Slot.objects.filter(task=full).update(reserved=people(stage, 1)[0])
    with pytest.raises(by_name.CannotAssign, match="Item item-1 would need more than 50 judgments"):
        assign(stage, people(stage, 1), "item-0", "item-1")
    assert Task.objects.get(pk=full.pk).overlap == 50
    assert not Slot.objects.filter(task__item__key="item-0").exclude(reserved=None).exists()


def test_who_met_an_item_in_a_stage_kept_apart_is_refused_with_both_names():
    stages = [StagePlan("bivlc-choose"), named_after("bivlc-choose", apart_from=["bivlc-choose"])]
    study = studies.study(items=1, stages=stages)
    first, later = study.stages.all()
    ana = studies.annotator(study)
    studies.judgment(ana, first, "candidate-1")
    with pytest.raises(by_name.CannotAssign, match="A-01 has already seen item item-0"):
        assign(later, [ana], "item-0")
    assert assign(later, [studies.annotator(study)], "item-0") == 1


def test_what_is_not_begun_can_be_taken_back_and_given_to_another(stage):
    ana, ben = people(stage, 2)
    assign(stage, [ana], "item-0", "item-1", "item-2")
    studies.judgment(ana, stage)
    leases.hold(annotator=ana, stage=stage, wanted=1)
    assert by_name.unassign(stage=stage, annotator=ana, by="user:1") == 1
    (taken,) = Event.objects.get(verb="took back").data["tasks"]
    key = Task.objects.get(pk=taken).item.key
    assign(stage, [ben], key)
    assert got(stage, ben) == [key]
    assert Task.objects.get(pk=taken).overlap == 1


def test_one_item_alone_is_taken_back(stage):
    (ana,) = people(stage, 1)
    assign(stage, [ana], "item-0", "item-1")
    assert by_name.unassign(stage=stage, annotator=ana, keys=["item-1"], by="user:1") == 1
    assert got(stage, ana) == ["item-0"]


@pytest.mark.parametrize("back", [0, 1, 2])
def test_a_place_that_was_added_goes_when_it_is_taken_back(stage, back):
    three = people(stage, 3)
    assign(stage, three, "item-0")
    by_name.unassign(stage=stage, annotator=three[back], by="user:1")
    rest = [person for person in three if person != three[back]]
    task = Task.objects.get(item__key="item-0")
    if back:
        assert (task.overlap, task.slots.count()) == (2, 2)
    else:  # theirs was the place that the task had before
        assert (task.overlap, task.slots.filter(reserved=None).count()) == (3, 1)
    assert [got(stage, person) for person in rest] == [["item-0"], ["item-0"]]
    assert Outcome.objects.filter(task=task).exists() == bool(back)


def test_taking_back_the_last_open_place_settles_what_was_judged(stage):
    ana, ben = people(stage, 2)
    assign(stage, [ana, ben], "item-0")
    got(stage, ana)
    assert not Outcome.objects.exists()
    by_name.unassign(stage=stage, annotator=ben, by="user:1")
    assert Outcome.objects.count() == 1


def test_a_place_that_was_skipped_can_be_given_to_another_and_its_lease_stays(stage):
    ana, ben = people(stage, 2)
    assign(stage, [ana], "item-0")
    (lease,) = leases.hold(annotator=ana, stage=stage, wanted=1)
    leases.skip(annotator=ana, token=lease.token)
    (theirs, _) = by_name.assignments(stage)
    assert (theirs.assigned, theirs.done, theirs.skipped) == (1, 0, 1)
    assert by_name.unassign(stage=stage, annotator=ana, by="user:1") == 1
    assign(stage, [ben], "item-0")
    assert got(stage, ben) == ["item-0"]
    lease.refresh_from_db()


def test_the_page_is_told_who_has_what(stage):
    ana, ben = people(stage, 2)
    assign(stage, [ana], "item-0", "item-1", "item-2")
    studies.judgment(ana, stage)
    leases.hold(annotator=ana, stage=stage, wanted=1)
    first, second = by_name.assignments(stage)
    assert (first.annotator, first.assigned, first.done, len(first.left)) == (ana, 3, 1, 1)
    assert (second.annotator, second.assigned, second.left) == (ben, 0, ())
    assert by_name.unassigned(stage) == {"item-3": 1}


def test_what_a_later_import_brings_is_nobodys_until_it_is_given(stage):
    (ana,) = people(stage, 1)
    studies.item(stage.study.benchmark, key="late")
    assert promotion.take_in(stage.study) == 1
    assert "late" in by_name.unassigned(stage)
    assert not seats.has_work(ana, stage)
    assign(stage, [ana], "late")
    assert got(stage, ana) == ["late"]


def test_whoever_has_nothing_is_done_and_comes_back_to_work_when_given_some(stage):
    (ana,) = people(stage, 1)
    assert next_step.claim_next(desk(ana.token)).state == "done"
    assign(stage, [ana], "item-3")
    assert next_step.claim_next(desk(ana.token)).state == "screen"


def test_an_annotator_made_for_a_later_stage_goes_there_once_they_have_something():
    study = studies.study(items=1, stages=[StagePlan("bivlc-choose"), named_after("bivlc-choose")])
    first, later = study.stages.all()
    studies.judgment(studies.annotator(study), first, "candidate-0")
    expert = seats.join(study=study, by="user:1", stage=later, name="Expert")
    assert expert.stage == later
    assign(later, [expert], "item-0")
    studies.read(expert, later)
    assert next_step.claim_next(desk(expert.token)).state == "screen"


def test_an_answer_to_what_was_taken_back_in_between_is_never_lost(stage):
    """A lease that ran out keeps its place: it is not taken back while somebody may be at the screen."""
    (ana,) = people(stage, 1)
    assign(stage, [ana], "item-0")
    (lease,) = leases.hold(annotator=ana, stage=stage, wanted=1)
    Slot.objects.filter(pk=lease.slot_id).update(held_until="2020-01-01T00:00Z")
    assert by_name.unassign(stage=stage, annotator=ana, by="user:1") == 0
    assert not studies.submit(ana, lease).judgment.surplus


@pytest.mark.django_db(transaction=True)
def test_a_slot_that_somebody_is_just_taking_is_not_given_to_another():
    stage = studies.stage(items=1, strategy="named")
    ana, ben = people(stage, 2)
    taken = threading.Event()

    def take():
        """As a claim does, before it is committed."""
        with transaction.atomic():
            Slot.objects.update(annotator=ana, held_until=timezone.now() + timedelta(minutes=5))
            taken.set()
            time.sleep(0.4)
        connection.close()

    claim = threading.Thread(target=take)
    claim.start()
    taken.wait()
    assign(stage, [ben], "item-0")
    claim.join()
    assert Slot.objects.filter(annotator=ana, reserved=None).count() == 1
    assert got(stage, ben) == ["item-0"]
