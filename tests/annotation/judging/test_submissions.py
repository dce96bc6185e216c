import uuid
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.assignment import leases
from annotation.judging import submissions
from annotation.models import Judgment, LeaseState, Slot, StudyState
from annotation.screens import errors
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Event
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage():
    return studies.stage(items=3)


@pytest.fixture
def ann(stage):
    return studies.annotator(stage.study)


@pytest.fixture
def lease(ann, stage):
    return leases.hold(annotator=ann, stage=stage, wanted=1)[0]


def given_on(lease, stage):
    """Let the lease run out and somebody else take its slot."""
    Slot.objects.filter(pk=lease.slot_id).update(held_until=timezone.now() - timedelta(seconds=1))
    other = studies.annotator(stage.study)
    return other, leases.hold(annotator=other, stage=stage, wanted=1)[0]


def test_the_answer_is_stored_by_identity_not_by_place(ann, lease):
    assert studies.submit(ann, lease, "3").judgment.answer == lease.shown[2]


def test_a_judgment_fills_its_slot(ann, lease):
    judgment = studies.submit(ann, lease).judgment
    slot = Slot.objects.get(pk=lease.slot_id)
    assert (slot.judgment, slot.annotator, slot.held_until) == (judgment, ann, None)


def test_what_is_not_on_the_screen_is_refused(ann, lease):
    for answer in ("0", "5", "candidate-1", "", "-1", "²", "both"):
        with pytest.raises(errors.BadAnswer):
            studies.submit(ann, lease, answer)
        assert not Judgment.objects.exists(), answer


def test_cannot_judge_counts_and_wants_a_reason(ann, lease):
    with pytest.raises(errors.BadAnswer):
        studies.submit(ann, lease, "cannot_judge", reason="  ")
    judgment = studies.submit(ann, lease, "cannot_judge", reason="no picture").judgment
    assert judgment.counted_on.pk == lease.slot_id


def test_nobody_judges_before_reading_the_instructions(stage):
    newcomer = studies.annotator(stage.study, ready=False)
    lease = leases.hold(annotator=newcomer, stage=stage)[0]
    with pytest.raises(errors.NotOpen):
        studies.submit(newcomer, lease)


def test_the_same_key_again_is_the_same_judgment(ann, lease):
    key = uuid.uuid4()
    first, again = (studies.submit(ann, lease, "2", key=key) for _ in range(2))
    assert (again.judgment, again.replayed, first.replayed) == (first.judgment, True, False)
    assert Judgment.objects.count() == 1


def test_the_same_key_with_another_answer_is_an_error(ann, lease):
    key = uuid.uuid4()
    studies.submit(ann, lease, "2", key=key)
    with pytest.raises(errors.KeyReused):
        studies.submit(ann, lease, "3", key=key)


def test_a_key_of_somebody_else_is_an_error(ann, lease, stage):
    key = uuid.uuid4()
    studies.submit(ann, lease, "2", key=key)
    other = studies.annotator(stage.study)
    with pytest.raises(errors.KeyReused):
        studies.submit(other, leases.hold(annotator=other, stage=stage)[0], "2", key=key)


def test_a_lease_of_somebody_else_is_unknown(lease, stage):
    with pytest.raises(errors.UnknownLease):
        studies.submit(studies.annotator(stage.study), lease)


def test_a_late_answer_is_kept_as_surplus_and_not_counted(ann, lease, stage):
    other, theirs = given_on(lease, stage)
    late = studies.submit(ann, lease).judgment
    counted = studies.submit(other, theirs).judgment
    assert late.surplus and not counted.surplus
    assert Slot.objects.get(pk=lease.slot_id).judgment == counted


def test_who_answered_late_does_not_get_the_task_again(ann, lease, stage):
    other, theirs = given_on(lease, stage)
    studies.submit(ann, lease)
    leases.skip(annotator=other, token=theirs.token)
    held = leases.hold(annotator=ann, stage=stage, wanted=9)
    assert lease.task_id not in {held.task_id for held in held}


def test_a_late_answer_to_an_old_lease_is_surplus_when_the_task_came_back():
    only = studies.stage(items=1)
    ann = studies.annotator(only.study)
    old = leases.hold(annotator=ann, stage=only, wanted=1)[0]
    other, theirs = given_on(old, only)
    leases.skip(annotator=other, token=theirs.token)
    new = leases.hold(annotator=ann, stage=only, wanted=1)[0]
    assert studies.submit(ann, old).judgment.surplus
    assert not studies.submit(ann, new).judgment.surplus


def test_skipping_what_was_given_on_leaves_it_to_the_other(ann, lease, stage):
    other, _ = given_on(lease, stage)
    assert leases.skip(annotator=ann, token=lease.token) is None
    assert Slot.objects.get(pk=lease.slot_id).annotator == other


def test_a_late_answer_counts_when_nobody_took_the_slot(ann, lease):
    Slot.objects.filter(pk=lease.slot_id).update(held_until=timezone.now() - timedelta(hours=1))
    assert not studies.submit(ann, lease).judgment.surplus


def test_a_late_answer_counts_when_the_slot_came_free_again(ann, lease, stage):
    other, theirs = given_on(lease, stage)
    leases.skip(annotator=other, token=theirs.token)
    assert not studies.submit(ann, lease).judgment.surplus


def test_an_edit_is_a_new_revision_and_the_slot_follows(ann, lease):
    studies.submit(ann, lease, "1")
    edited = studies.submit(ann, lease, "2").judgment
    assert edited.revision == 2
    assert Slot.objects.get(pk=lease.slot_id).judgment == edited
    assert Judgment.objects.count() == 2


def counted(lease) -> str:
    return Slot.objects.get(pk=lease.slot_id).judgment.answer


def test_an_answer_of_another_tab_is_not_replaced_unasked(ann, lease):
    stored = studies.submit(ann, lease, "1").judgment
    key = uuid.uuid4()
    with pytest.raises(errors.AnsweredElsewhere) as conflict:
        studies.submit(ann, lease, "2", key=key, seen=None)
    assert (conflict.value.stored, conflict.value.given.answer) == (stored, lease.shown[1])
    assert Judgment.objects.count() == 1 and counted(lease) == lease.shown[0]
    chosen = studies.submit(ann, lease, "2", key=key, seen=stored.key)  # the annotator has said which one counts
    assert not chosen.replayed and counted(lease) == lease.shown[1]


def test_a_change_from_a_page_that_shows_an_older_answer_is_not_taken_unasked(ann, lease):
    older = studies.submit(ann, lease, "1").judgment
    studies.submit(ann, lease, "2")
    with pytest.raises(errors.AnsweredElsewhere):
        studies.submit(ann, lease, "3", seen=older.key)
    assert studies.submit(ann, lease, "2", seen=older.key).judgment.revision == 3  # it says the same
    studies.submit(ann, lease, "1")
    assert studies.submit(ann, lease, "3", seen=older.key).judgment.revision == 5  # what that page shows stands again


def test_the_same_words_for_cannot_judge_are_the_same_answer(ann, lease):
    studies.submit(ann, lease, "cannot_judge", reason="Blank.")
    assert studies.submit(ann, lease, "cannot_judge", reason="Blank. ", seen=None)
    with pytest.raises(errors.AnsweredElsewhere):
        studies.submit(ann, lease, "cannot_judge", reason="Too dark.", seen=None)


def test_an_answer_sent_again_is_no_conflict_whatever_came_after_it(ann, lease):
    key = uuid.uuid4()
    studies.submit(ann, lease, "1", key=key)
    studies.submit(ann, lease, "2")
    assert studies.submit(ann, lease, "1", key=key, seen=None).replayed
    assert counted(lease) == lease.shown[1]


def test_a_change_that_follows_its_answer_out_of_the_outbox_is_no_conflict(ann, lease):
    first, second = uuid.uuid4(), uuid.uuid4()
    studies.submit(ann, lease, "1", key=first, seen=None)
    assert studies.submit(ann, lease, "2", key=second, seen=first).judgment.revision == 2


def test_what_was_taken_back_in_another_tab_can_be_answered_in_this_one(ann, lease):
    studies.submit(ann, lease, "1")
    submissions.undo(annotator=ann, key=uuid.uuid4())
    assert studies.submit(ann, lease, "2", seen=None).judgment.revision == 3


def test_a_judgment_can_be_neither_deleted_nor_altered_in_the_database(ann, lease):
    judgment = studies.submit(ann, lease).judgment
    Slot.objects.filter(judgment=judgment).update(judgment=None, held_until=timezone.now())
    mine = Judgment.objects.filter(pk=judgment.pk)
    for change in (mine.delete, lambda: mine.update(answer="none")):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


def test_undo_holds_the_screen_again_with_the_answer_and_keeps_it(ann, lease):
    studies.submit(ann, lease, "2")
    undone = submissions.undo(annotator=ann, key=uuid.uuid4())
    slot = Slot.objects.get(pk=lease.slot_id)
    assert (undone.token, undone.previous, undone.state) == (lease.token, {"answer": "2"}, LeaseState.HELD)
    assert slot.judgment is None and slot.held_until > timezone.now()
    assert list(lease.judgments.order_by("revision").values_list("withdrawn", flat=True)) == [False, True]


def test_undo_with_the_same_key_undoes_once(ann, stage):
    for _ in range(2):
        studies.judgment(ann, stage)
    key = uuid.uuid4()
    assert submissions.undo(annotator=ann, key=key) == submissions.undo(annotator=ann, key=key)
    assert Judgment.objects.filter(withdrawn=True).count() == 1


def test_undo_walks_back_one_answer_at_a_time(ann, stage):
    judged = [studies.judgment(ann, stage).lease_id for _ in range(2)]
    assert [submissions.undo(annotator=ann, key=uuid.uuid4()).pk for _ in range(2)] == judged[::-1]


def test_after_an_undo_the_answer_can_be_given_again(ann, lease):
    studies.submit(ann, lease, "2")
    submissions.undo(annotator=ann, key=uuid.uuid4())
    again = studies.submit(ann, lease, "3").judgment
    assert (again.revision, again.counted_on.pk) == (3, lease.slot_id)


def test_undo_ends_with_its_window(ann, lease):
    studies.submit(ann, lease)
    lease.task.stage.__class__.objects.update(undo_seconds=0)
    with pytest.raises(errors.NothingToUndo):
        submissions.undo(annotator=ann, key=uuid.uuid4())


def test_nothing_to_undo(ann):
    with pytest.raises(errors.NothingToUndo):
        submissions.undo(annotator=ann, key=uuid.uuid4())


def test_a_closed_study_takes_what_was_under_way_but_no_changes(ann, lease, stage):
    study_lifecycle.move_study(study=stage.study, to=StudyState.CLOSED, by="test")
    studies.submit(ann, lease)
    with pytest.raises(errors.NotOpen):
        studies.submit(ann, lease, "2")
    with pytest.raises(errors.NotOpen):
        submissions.undo(annotator=ann, key=uuid.uuid4())


def test_times_are_bounded_and_active_is_within_elapsed(ann, lease):
    judgment = studies.submit(ann, lease, active_ms=10**12, elapsed_ms=10**12).judgment
    assert judgment.active_ms == judgment.elapsed_ms == submissions.LONGEST_MS


def test_a_flag_reaches_the_manager_once_and_changes_nothing(ann, lease):
    flags = {submissions.flag(annotator=ann, token=lease.token, reason="caption is empty").pk for _ in range(2)}
    assert len(flags) == Event.objects.filter(verb="flagged").count() == 1
    lease.refresh_from_db()
    assert lease.state == LeaseState.HELD


def test_history_is_newest_first_with_the_answer_as_shown(ann, stage):
    for place in ("1", "2"):
        studies.submit(ann, leases.hold(annotator=ann, stage=stage, wanted=1)[0], place)
    assert [lease.previous["answer"] for lease in submissions.history(annotator=ann)] == ["2", "1"]


def test_the_key_is_unique_in_the_database(ann, lease):
    first = studies.submit(ann, lease).judgment
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotation_judgment (lease_id, revision, key, digest, instructions_id, answer, content,"
            " reason, withdrawn, surplus, active_ms, elapsed_ms)"
            " SELECT lease_id, 2, key, digest, instructions_id, answer, content, '', false, false, 0, 0"
            " FROM annotation_judgment WHERE id = %s",
            [first.pk],
        )
