"""Leaving, coming back, exclusion and reinstatement: what goes to others, what counts, and that nothing is lost."""

import uuid

import pytest

from annotation.assignment import leases, seats
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Annotator, Judgment, Lease, LeaseState, Outcome, Seat, Slot, Task
from annotation.participants import lifecycle as participant_lifecycle
from annotation.pipeline import promotion
from annotation.screens import errors
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Event
from tests.builders import studies

pytestmark = pytest.mark.django_db
WHY = "Always the first picture."
PIPELINE = [
    StagePlan("bivlc-choose", name="first", settings={"carries": "negative"}),
    StagePlan("bivlc-choose", name="second", source="first", apart_from=[]),
]


def hold(annotator, stage, wanted=2):
    return leases.hold(annotator=annotator, stage=stage, wanted=wanted)


def counted(**of) -> int:
    return Slot.objects.filter(judgment__isnull=False, **of).count()


def exclude(annotator) -> int:
    return participant_lifecycle.exclude(annotator=annotator, reason=WHY, by="test")


def reinstate(annotator) -> int:
    return participant_lifecycle.reinstate(annotator=annotator, reason="I was wrong.", by="test")


# Leaving


def test_whoever_leaves_frees_what_they_hold_and_what_they_judged_counts():
    stage = studies.stage(items=3)
    ann, other = studies.annotator(stage.study), studies.annotator(stage.study)
    studies.judgment(ann, stage)
    held = hold(ann, stage)
    assert participant_lifecycle.leave(annotator=ann, by="test")
    assert {lease.state for lease in Lease.objects.filter(pk__in=[one.pk for one in held])} == {LeaseState.LAPSED}
    assert (counted(annotator=ann), Outcome.objects.count()) == (1, 1)
    assert {lease.task_id for lease in hold(other, stage)} == {lease.task_id for lease in held}


def test_leaving_twice_is_leaving_once():
    ann = studies.annotator(studies.study())
    assert [participant_lifecycle.leave(annotator=ann, by="test") for _ in range(2)] == [True, False]
    assert Event.objects.filter(verb="left").count() == 1


def test_nothing_is_given_to_somebody_who_has_left():
    stage = studies.stage(items=3)
    ann = studies.annotator(stage.study)
    participant_lifecycle.leave(annotator=ann, by="test")
    assert hold(Annotator.objects.get(), stage) == []


def test_a_late_answer_of_somebody_who_left_counts_while_nobody_else_has_the_slot():
    stage = studies.stage()
    ann = studies.annotator(stage.study)
    [lease] = hold(ann, stage)
    participant_lifecycle.leave(annotator=ann, by="test")
    assert not studies.submit(ann, lease).judgment.surplus


def batches(people: int = 2, **settings):
    stage = studies.stage(items=6, strategy="batches", batch_size=3, **settings)
    return stage, [studies.annotator(stage.study) for _ in range(people)]


def test_a_place_in_a_batch_that_somebody_left_goes_to_the_next():
    stage, (ann, _) = batches()
    batch = Seat.objects.get(annotator=ann).batch
    studies.judgment(ann, stage)
    participant_lifecycle.leave(annotator=ann, by="test")
    assert Seat.objects.get(annotator=ann).batch is None
    third = studies.annotator(stage.study)
    assert Seat.objects.get(annotator=third).batch == batch
    assert Slot.objects.filter(reserved=third).count() == 2


def test_whoever_comes_back_goes_on_with_what_is_left_of_their_batch():
    stage, (ann, _) = batches()
    batch = Seat.objects.get(annotator=ann).batch
    studies.judgment(ann, stage)
    participant_lifecycle.leave(annotator=ann, by="test")
    assert [participant_lifecycle.come_back(annotator=ann, by="test") for _ in range(2)] == [True, False]
    assert Seat.objects.get(annotator=ann).batch == batch
    assert studies.judgment(ann, stage) and studies.judgment(ann, stage) and not hold(ann, stage)
    assert counted(annotator=ann) == 3


def test_whoever_comes_back_too_late_for_their_batch_does_not_get_it():
    stage, (ann, _) = batches()
    studies.judgment(ann, stage)
    participant_lifecycle.leave(annotator=ann, by="test")
    third = studies.annotator(stage.study)
    participant_lifecycle.come_back(annotator=ann, by="test")
    assert Seat.objects.get(annotator=ann).batch is None and not hold(ann, stage)
    assert Slot.objects.filter(reserved=third).count() == 2


def test_what_somebody_skipped_is_not_kept_for_them_when_they_come_back():
    stage, (ann, _) = batches()
    leases.skip(annotator=ann, token=hold(ann, stage, 1)[0].token)
    participant_lifecycle.leave(annotator=ann, by="test")
    participant_lifecycle.come_back(annotator=ann, by="test")
    assert Slot.objects.filter(reserved=ann).count() == 2


def test_what_was_given_by_name_stays_theirs():
    stage = studies.stage(items=2, strategy="named")
    ann = studies.annotator(stage.study)
    Slot.objects.update(reserved=ann)
    participant_lifecycle.leave(annotator=ann, by="test")
    assert Slot.objects.filter(reserved=ann).count() == 2


# Excluding


def test_exclusion_frees_the_slots_and_keeps_every_judgment():
    stage = studies.stage(items=3)
    ann, other = studies.annotator(stage.study), studies.annotator(stage.study)
    before = [studies.judgment(ann, stage) for _ in range(2)]
    hold(ann, stage)
    assert exclude(ann) == 2
    assert list(Judgment.objects.order_by("pk")) == before
    assert (counted(), Outcome.objects.count(), Slot.objects.filter(annotator=ann).count()) == (0, 0, 0)
    for _ in range(3):
        assert studies.judgment(other, stage)
    assert counted(annotator=other) == 3


def test_an_exclusion_has_a_reason_and_an_event_that_says_what_counted():
    stage = studies.stage(items=2)
    ann = studies.annotator(stage.study)
    given = studies.judgment(ann, stage)
    with pytest.raises(participant_lifecycle.NeedsReason):
        participant_lifecycle.exclude(annotator=ann, reason=" \0", by="test")
    assert [exclude(ann), exclude(ann)] == [1, 0]
    told = Event.objects.get(verb="excluded")
    assert (told.by, told.data["reason"], told.data["judgments"]) == ("test", WHY, [given.pk])
    ann.refresh_from_db()
    assert (ann.exclusion_reason, ann.excluded_at is not None) == (WHY, True)


def test_what_went_on_from_an_excluded_judgment_comes_back_when_another_says_the_same():
    study = studies.study(items=1, stages=PIPELINE)
    first, second = study.stages.all()
    ann, other = studies.annotator(study), studies.annotator(study)
    studies.judgment(ann, first, "candidate-1")
    task = Task.objects.get(stage=second)
    exclude(ann)
    task.refresh_from_db()
    assert not task.live and not Slot.objects.get(task=task).live
    studies.judgment(other, first, "candidate-1")
    task.refresh_from_db()
    assert task.live and promotion.results(first)[task.item_id].carried == {"negative": "candidate-1"}


def test_a_late_answer_of_somebody_excluded_is_surplus():
    stage = studies.stage()
    ann = studies.annotator(stage.study)
    [lease] = hold(ann, stage)
    exclude(Annotator.objects.get())
    assert studies.submit(ann, lease).judgment.surplus  # with the annotator as they were when the request came
    assert counted() == 0


def test_nothing_is_claimed_by_a_request_that_came_before_the_exclusion():
    stage = studies.stage(items=2)
    ann = studies.annotator(stage.study)
    exclude(Annotator.objects.get())
    assert hold(ann, stage) == []


def test_no_batch_is_given_to_a_request_that_came_before_the_exclusion():
    stage, (ann, _) = batches()
    participant_lifecycle.exclude(annotator=Annotator.objects.get(pk=ann.pk), reason=WHY, by="test")
    seats.sit(annotator=ann, stage=stage)
    assert not Slot.objects.filter(reserved=ann).exists()


def test_an_undo_of_somebody_excluded_holds_no_slot():
    stage = studies.stage()
    ann = studies.annotator(stage.study)
    studies.judgment(ann, stage)
    exclude(ann)
    submissions.undo(annotator=ann, key=uuid.uuid4())
    assert not Slot.objects.filter(annotator__isnull=False).exists()


def test_the_slots_of_a_closed_stage_stay_closed():
    stage = studies.stage()
    ann = studies.annotator(stage.study)
    studies.judgment(ann, stage)
    study_lifecycle.move_stage(stage=stage, to="closed", by="test")
    exclude(ann)
    assert not Slot.objects.get().live and not hold(studies.annotator(stage.study), stage)
    reinstate(ann)
    study_lifecycle.move_stage(stage=stage, to="open", by="test")
    exclude(ann)
    assert Slot.objects.get().live


# Reinstating


def test_whoever_is_reinstated_counts_again_where_nobody_judged_since():
    stage = studies.stage(items=3)
    ann, other = studies.annotator(stage.study), studies.annotator(stage.study)
    mine = [studies.judgment(ann, stage) for _ in range(2)]
    exclude(ann)
    replaced = studies.judgment(other, stage)
    kept = next(one for one in mine if one.lease.task_id != replaced.lease.task_id)
    assert [reinstate(ann), reinstate(ann)] == [1, 0]
    assert Slot.objects.get(annotator=ann).judgment == kept
    assert set(Outcome.objects.values_list("task", flat=True)) == {one.lease.task_id for one in (kept, replaced)}
    ann.refresh_from_db()
    assert (ann.excluded_at, ann.exclusion_reason) == (None, "")


def test_the_last_word_counts_again_and_never_what_was_taken_back():
    stage = studies.stage(items=2)
    ann = studies.annotator(stage.study)
    [one] = hold(ann, stage, 1)
    studies.submit(ann, one, "1")
    changed = studies.submit(ann, one, "2").judgment
    studies.judgment(ann, stage)
    exclude(ann)
    submissions.undo(annotator=ann, key=uuid.uuid4())  # the second screen's answer
    assert reinstate(ann) == 1
    assert Slot.objects.get(judgment__isnull=False).judgment == changed


def test_a_change_that_came_while_excluded_does_not_count_and_the_answer_before_does():
    stage = studies.stage()
    ann = studies.annotator(stage.study)
    given = studies.judgment(ann, stage)
    exclude(ann)
    assert studies.submit(ann, given.lease, "3").judgment.surplus
    assert reinstate(ann) == 1
    assert Slot.objects.get().judgment == given
    studies.submit(ann, given.lease, "2")
    assert Slot.objects.get().judgment != given


def test_an_edit_while_excluded_that_was_taken_back_leaves_no_answer():
    stage = studies.stage(items=1)
    ann = studies.annotator(stage.study)
    [lease] = hold(ann, stage, wanted=1)
    studies.submit(ann, lease)
    exclude(ann)
    studies.submit(ann, lease, "2")
    submissions.undo(annotator=ann, key=uuid.uuid4())
    assert (reinstate(ann), counted()) == (0, 0)


def test_whoever_is_reinstated_is_seated_again():
    stage, (ann, _) = batches()
    studies.judgment(ann, stage)
    exclude(ann)
    assert reinstate(ann) == 1
    assert Slot.objects.filter(reserved=ann).count() == 3 - 1
    assert studies.judgment(ann, stage)


def test_a_reinstated_annotator_who_had_left_is_still_gone():
    stage = studies.stage(items=2)
    ann = studies.annotator(stage.study)
    participant_lifecycle.leave(annotator=ann, by="test")
    exclude(ann)
    reinstate(ann)
    assert ann.left_at and hold(ann, stage) == []


# Checks


def test_a_checks_place_stays_with_the_annotator():
    stage = studies.stage(items=2, strategy="named")
    ann = studies.annotator(stage.study)
    task = Task.objects.filter(stage=stage).first()
    Task.objects.filter(pk=task.pk).update(kind="check", gold=["none"])
    Slot.objects.update(reserved=ann)
    assert [bool(studies.judgment(ann, stage)) for _ in range(2)] == [True, True]
    exclude(ann)
    assert Slot.objects.get(task=task).reserved_id == ann.pk
    assert not Slot.objects.exclude(task=task).filter(reserved=ann).exists()


# Links


def test_a_known_participant_who_comes_by_another_stages_link_sits_there():
    study = studies.study(items=2, stages=PIPELINE)
    first, second = study.stages.all()
    ann = studies.annotator(study, prolific_pid="p", stage=first, prolific_session="x1")
    studies.judgment(ann, first, "candidate-0")
    hold(ann, first)
    participant_lifecycle.arrive(annotator=ann, stage=second, by="invite", prolific_study="s2", prolific_session="x2")
    ann.refresh_from_db()
    assert (ann.stage, ann.invited_to, ann.prolific_study, ann.prolific_session) == (second, second, "s2", "x2")
    assert not Slot.objects.filter(stage=first, held_until__isnull=False).exists()
    assert Event.objects.get(verb="came by another link").data["before"]["prolific_session"] == "x1"


def test_the_same_link_again_changes_nothing():
    study = studies.study(items=2, stages=PIPELINE)
    first = study.stages.first()
    ann = studies.annotator(study, prolific_pid="p", stage=first, prolific_session="x1")
    held = hold(ann, first)
    participant_lifecycle.arrive(annotator=ann, stage=first, by="invite", prolific_session="x1")
    assert hold(ann, first) == held
    assert not Event.objects.filter(verb="came by another link").exists()


def test_somebody_excluded_is_seated_nowhere_but_their_newest_submission_is_known():
    study = studies.study(items=2, stages=PIPELINE)
    first, second = study.stages.all()
    ann = studies.annotator(study, prolific_pid="p", stage=first)
    exclude(ann)
    participant_lifecycle.arrive(annotator=ann, stage=second, by="invite", prolific_session="x2")
    ann.refresh_from_db()
    assert (ann.stage, ann.prolific_session) == (first, "x2")


def test_who_comes_back_after_another_stages_link_sits_there():
    study = studies.study(items=2, stages=PIPELINE)
    first, second = study.stages.all()
    ann = studies.annotator(study, prolific_pid="p", stage=first)
    participant_lifecycle.leave(annotator=ann, by="test")
    participant_lifecycle.arrive(annotator=ann, stage=second, by="invite", prolific_session="x2")
    participant_lifecycle.come_back(annotator=ann, by="test")
    ann.refresh_from_db()
    assert ann.stage == second


def test_who_has_left_takes_nothing_back_or_the_screen_would_be_nobodys():
    stage = studies.stage(items=2, strategy="batches", batch_size=2)
    ann, other = studies.annotator(stage.study), studies.annotator(stage.study)
    studies.judgment(ann, stage)
    participant_lifecycle.leave(annotator=ann, by="test")
    with pytest.raises(errors.NotOpen):
        submissions.undo(annotator=ann, key=uuid.uuid4())
    seats.sit(annotator=other, stage=stage)
    assert studies.judgment(other, stage) and not Slot.objects.filter(judgment=None).exists()
