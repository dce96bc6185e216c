"""Batches of items: whoever is given one keeps it to the end, and what is left of one goes to somebody else."""

from collections import Counter

import pytest

from annotation.assignment import leases, seats
from annotation.designs.plan import StagePlan
from annotation.models import Slot, Strategy
from tests.builders import crowds, studies

pytestmark = pytest.mark.django_db
SETTINGS = {"strategy": Strategy.BATCHES, "batch_size": 4}


def stage(items=12, **settings):
    made = studies.study(benchmark=crowds.benchmark(items), **{**SETTINGS, **settings})
    return made.stages.select_related("study").get()


def work(annotator, stage, times=100):
    """As the judging page would: answer what is held, sit down again where there is more. Returns how many."""
    done = 0
    while done < times:
        if studies.judgment(annotator, stage):
            done += 1
        elif seats.has_work(annotator, stage):
            seats.sit(annotator=annotator, stage=stage)
        else:
            break
    return done


def skip(annotator, stage):
    [lease] = leases.hold(annotator=annotator, stage=stage, wanted=1)
    assert leases.skip(annotator=annotator, token=lease.token)
    return lease.task


def owners(stage):
    """Each batch with the annotators who judged in it."""
    rows = Slot.objects.filter(stage=stage, judgment__isnull=False).values_list("task__batch", "annotator__number")
    return {batch: {number for b, number in rows if b == batch} for batch, _ in rows}


def test_batches_are_disjoint_and_each_is_one_annotators():
    here = stage(quota=4)
    people = [studies.annotator(here.study) for _ in range(3)]
    for _ in range(5):
        for one in people:
            studies.judgment(one, here)
    assert owners(here) == {1: {1}, 2: {2}, 3: {3}}
    assert [work(one, here) for one in people] == [0, 0, 0]


def test_a_skipped_screen_of_a_batch_goes_to_somebody_who_has_nothing_better():
    here = stage(items=8)
    first, second = studies.annotator(here.study), studies.annotator(here.study)
    left = skip(first, here)
    assert work(first, here) == 3
    assert work(second, here) == 5
    assert left.slots.get().annotator_id == second.pk


def test_a_fresh_batch_is_given_before_leftovers():
    here = stage(items=8, quota=4)
    first = studies.annotator(here.study)
    skip(first, here)
    assert work(first, here) == 3
    second = studies.annotator(here.study)
    assert {slot.task.batch for slot in Slot.objects.filter(reserved=second)} == {2}


def test_a_quota_cuts_no_batch_short():
    here = stage(items=12, quota=6)  # one batch and a half
    one = studies.annotator(here.study)
    assert work(one, here) == 4
    assert not Slot.objects.filter(reserved=one, judgment=None).exists()
    two = stage(items=8, quota=2)  # half a batch
    assert work(studies.annotator(two.study), two) == 4


def test_whoever_skipped_is_not_given_a_whole_batch_for_the_rest_of_their_quota():
    here = stage(items=12, quota=4)
    one = studies.annotator(here.study)
    skip(one, here)
    assert work(one, here) == 3 and not seats.has_work(one, here)


PLANS = [
    StagePlan("bivlc-choose", "first", settings={**SETTINGS, "quota": 4}),
    StagePlan("bivlc-choose", "second", after="first", settings={**SETTINGS, "quota": 4}),
]


def two_stages(items=12):
    study = studies.study(benchmark=crowds.benchmark(items), stages=PLANS)
    return study, *study.stages.select_related("study")


def move_on(annotator, stage):
    seats.sit(annotator=annotator, stage=stage)
    studies.read(annotator, stage)


def test_a_place_is_kept_for_whoever_has_its_items_in_the_stage_before():
    study, first, second = two_stages(items=8)
    people = [studies.annotator(study) for _ in range(2)]
    late = studies.annotator(study)  # both batches of the first stage are taken
    assert late.stage_id == first.pk and not seats.has_work(late, second)
    for one in reversed(people):
        assert work(one, first) == 4
        move_on(one, second)
        assert work(one, second) == 4
    assert owners(first) == owners(second) == {1: {1}, 2: {2}}


def test_a_place_is_free_again_when_they_left():
    study, first, second = two_stages(items=4)
    gone, late = studies.annotator(study), studies.annotator(study)
    assert work(gone, first) == 4
    assert not seats.has_work(late, second)
    type(gone).objects.filter(pk=gone.pk).update(left_at="2026-01-01T00:00Z")
    assert seats.has_work(late, second)


def test_leftovers_of_a_following_stage_are_free_though_their_holder_is_there():
    study, first, second = two_stages(items=4)
    one = studies.annotator(study)
    assert work(one, first) == 4
    move_on(one, second)
    skip(one, second)
    assert work(one, second) == 3
    late = studies.annotator(study)
    assert seats.has_work(late, second)
    move_on(late, second)
    assert work(late, second) == 1
    assert Counter(second.slots.values_list("annotator__number", flat=True)) == {1: 3, 2: 1}
