from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.assignment import leases as assignment_leases
from annotation.assignment import seats
from annotation.designs.plan import StagePlan
from annotation.models import Lease, LeaseState, Slot, StudyState
from annotation.studies import lifecycle as study_lifecycle
from tests.builders import studies

pytestmark = pytest.mark.django_db


def run_out(lease):
    Slot.objects.filter(pk=lease.slot_id).update(held_until=timezone.now() - timedelta(seconds=1))


def hold(annotator, stage, wanted=1):
    return assignment_leases.hold(annotator=annotator, stage=stage, wanted=wanted)


def test_the_same_leases_come_back_on_reload_in_the_same_order():
    stage = studies.stage(items=5, candidates=9)
    ann = studies.annotator(stage.study)
    first, again = ([(lease.pk, lease.shown) for lease in hold(ann, stage, 2)] for _ in range(2))
    assert first == again and len(first) == 2


def test_orders_are_permutations_of_the_options_and_differ_between_slots():
    stage = studies.stage(candidates=9, overlap=10)
    orders = [hold(studies.annotator(stage.study), stage)[0].shown for _ in range(10)]
    assert all(sorted(order) == [f"candidate-{number}" for number in range(9)] for order in orders)
    assert len(set(map(tuple, orders))) > 1


def test_an_annotator_never_gets_a_task_twice():
    stage = studies.stage(items=2, overlap=3)
    ann = studies.annotator(stage.study)
    tasks = [lease.task_id for lease in hold(ann, stage, 5)]
    assert len(tasks) == len(set(tasks)) == 2


def test_a_task_is_given_to_as_many_as_its_overlap():
    stage = studies.stage(overlap=2)
    got = [hold(studies.annotator(stage.study), stage) for _ in range(4)]
    assert [len(leases) for leases in got] == [1, 1, 0, 0]


def test_tasks_are_finished_before_new_ones_are_opened():
    stage = studies.stage(items=3, overlap=2)
    first, second = (hold(studies.annotator(stage.study), stage)[0] for _ in range(2))
    assert first.task_id == second.task_id


def test_a_lease_that_ran_out_goes_to_the_next_who_asks():
    stage = studies.stage(items=3)
    slow, quick = studies.annotator(stage.study), studies.annotator(stage.study)
    lease = hold(slow, stage)[0]
    run_out(lease)
    assert hold(quick, stage)[0].task_id == lease.task_id
    lease.refresh_from_db()
    assert lease.state == LeaseState.LAPSED


def test_a_lease_that_ran_out_is_still_mine_until_given_on():
    stage = studies.stage(items=3)
    ann = studies.annotator(stage.study)
    lease = hold(ann, stage)[0]
    run_out(lease)
    assert hold(ann, stage) == [lease]
    lease.slot.refresh_from_db()
    assert lease.slot.held_until > timezone.now()


def test_who_lost_a_lease_can_have_the_task_again():
    stage = studies.stage()
    slow, quick = studies.annotator(stage.study), studies.annotator(stage.study)
    run_out(hold(slow, stage)[0])
    given_on = hold(quick, stage)[0]
    assignment_leases.skip(annotator=quick, token=given_on.token)
    assert hold(slow, stage)[0].task_id == given_on.task_id


def test_a_skipped_task_goes_to_others_alone():
    stage = studies.stage()
    ann, other = studies.annotator(stage.study), studies.annotator(stage.study)
    lease = hold(ann, stage)[0]
    assignment_leases.skip(annotator=ann, token=lease.token)
    assert hold(ann, stage) == []
    assert hold(other, stage)[0].task_id == lease.task_id


def test_renewing_extends_what_is_held():
    stage = studies.stage(lease_seconds=100)
    ann = studies.annotator(stage.study)
    lease = hold(ann, stage)[0]
    run_out(lease)
    assert assignment_leases.renew(annotator=ann) == 1
    lease.slot.refresh_from_db()
    assert timedelta(seconds=95) < lease.slot.held_until - timezone.now() <= timedelta(seconds=100)


def test_a_young_lease_is_held_without_being_written_again():
    stage = studies.stage(lease_seconds=100)
    ann = studies.annotator(stage.study)
    lease = hold(ann, stage)[0]
    before = Slot.objects.get(pk=lease.slot_id).held_until
    assert assignment_leases.renew(annotator=ann) == 1
    assert Slot.objects.get(pk=lease.slot_id).held_until == before


def test_renewing_cannot_bring_back_what_was_given_on():
    stage = studies.stage()
    slow, quick = studies.annotator(stage.study), studies.annotator(stage.study)
    run_out(hold(slow, stage)[0])
    hold(quick, stage)
    assert assignment_leases.renew(annotator=slow) == 0


def test_the_quota_counts_what_is_judged_and_held():
    stage = studies.stage(items=6, quota=3)
    ann = studies.annotator(stage.study)
    studies.judgment(ann, stage)
    assert [len(hold(ann, stage, wanted)) for wanted in (1, 4)] == [1, 2]
    for _ in range(2):
        studies.judgment(ann, stage)
    assert hold(ann, stage, 2) == []


@pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
def test_nothing_is_given_out_unless_the_study_is_open(state):
    stage = studies.stage(items=3)
    study_lifecycle.move_study(study=stage.study, to=state, by="test")
    stage.study.refresh_from_db()
    assert hold(studies.annotator(stage.study), stage) == []


def test_waiting_tells_what_others_hold_and_when_it_frees():
    stage = studies.stage(lease_seconds=100)
    hold(studies.annotator(stage.study), stage)
    waiting = assignment_leases.waiting(annotator=studies.annotator(stage.study), stage=stage)
    assert waiting.others == 1
    assert waiting.frees_at <= timezone.now() + timedelta(seconds=100)


def test_who_has_had_every_task_waits_for_nothing():
    stage = studies.stage(overlap=2)
    ann = studies.annotator(stage.study)
    studies.judgment(ann, stage)
    hold(studies.annotator(stage.study), stage)
    assert assignment_leases.waiting(annotator=ann, stage=stage).others == 0


def test_each_lease_has_a_token_of_its_own():
    stage = studies.stage(items=2)
    hold(studies.annotator(stage.study), stage, 2)
    assert len(set(Lease.objects.values_list("token", flat=True))) == 2


def test_nobody_waits_for_a_screen_that_they_may_not_have():
    """Its item is one that they met in a stage kept apart, and whoever holds it is gone for good."""
    plans = [StagePlan("bivlc-choose", name="a"), StagePlan("bivlc-choose", name="b", apart_from=["a"])]
    study = studies.study(stages=plans)
    first, second = study.stages.all()
    met, gone = studies.annotator(study), studies.annotator(study)
    studies.judgment(met, first)
    seats.sit(annotator=gone, stage=second)
    [lease] = hold(gone, second)
    run_out(lease)
    assert assignment_leases.waiting(annotator=met, stage=second).others == 0
    assert assignment_leases.waiting(annotator=studies.annotator(study), stage=second).others == 1
