"""Each constraint in the database refuses what it is there to refuse, whatever the code above it does."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from annotation.assignment import leases
from annotation.models import (
    Annotator,
    Attempt,
    Delivery,
    Flag,
    Instructions,
    InstructionsImage,
    Judgment,
    Lease,
    Outcome,
    RatingsFile,
    ReaderReport,
    Release,
    Seat,
    Slot,
    Stage,
    Study,
    Task,
)
from tests.builders import studies, webhooks

pytestmark = pytest.mark.usefixtures("savepoint")


@pytest.fixture(scope="module")
def shared(module_world):
    """Two tasks of overlap 2; one annotator holds a lease, another has judged."""
    stage = studies.stage(items=2, overlap=2)
    holder, judge = studies.annotator(stage.study), studies.annotator(stage.study)
    lease = leases.hold(annotator=holder, stage=stage, wanted=1)[0]
    return {
        "stage": stage,
        "holder": holder,
        "judge": judge,
        "lease": lease,
        "judgment": studies.judgment(judge, stage),
    }


@pytest.fixture
def world(shared, savepoint):
    return {name: type(one).objects.get(pk=one.pk) for name, one in shared.items()}


def slots(world, **fields):
    return Slot.objects.filter(stage=world["stage"]).exclude(annotator__isnull=False).update(**fields)


def judgment(world, **fields):
    defaults = {"lease": world["lease"], "key": uuid.uuid4(), "digest": "d", "answer": "none"}
    return Judgment.objects.create(instructions=Instructions.objects.first(), **{**defaults, **fields})


def attempt(world, **fields):
    seat = Seat.objects.filter(stage=world["stage"]).first()
    return Attempt.objects.create(**{"seat": seat, "kind": "practice", "number": 1, **fields})


def ratings(world):
    facts = {"name": "a.csv", "sha256": "1", "source": "A paper", "mapping": {}}
    return RatingsFile.objects.create(stage=world["stage"], **facts)


def reported(world, **fields):
    return ReaderReport.objects.create(**{"study": world["stage"].study, "key": "item-0", "text": "A typo.", **fields})


def outcome(world, **fields):
    return Outcome.objects.create(**{"task": world["lease"].task, "by": "majority", **fields})


BROKEN = {
    "slot_number_once": lambda w: Slot.objects.filter(task=w["lease"].task).update(number=1),
    "slot_annotator_once": lambda w: Slot.objects.filter(task=w["lease"].task).update(
        annotator=w["holder"], held_until=Now(), judgment=None
    ),
    "slot_free_leased_or_judged": lambda w: slots(w, held_until=Now()),
    "slot_number_from_one": lambda w: Slot.objects.filter(pk=w["lease"].slot_id).update(number=0),
    "annotation_slot_judgment_id_key": lambda w: slots(w, annotator=w["holder"], judgment=w["judgment"]),
    "task_once": lambda w: Task.objects.create(
        stage=w["stage"], item_id=w["lease"].task.item_id, rank=99, options=["a", "b"]
    ),
    "task_rank_once": lambda w: Task.objects.update(rank=0),
    "lease_task_annotator_once": lambda w: Lease.objects.create(
        slot=w["lease"].slot, task=w["lease"].task, annotator=w["holder"], shown=[]
    ),
    "lease_state_known": lambda w: Lease.objects.update(state="lost"),
    "judgment_revision_once": lambda w: [judgment(w), judgment(w)],
    "annotation_judgment_key_key": lambda w: judgment(w, key=w["judgment"].key),
    "judgment_answered_or_withdrawn": lambda w: judgment(w, withdrawn=True),
    "judgment_revision_from_one": lambda w: judgment(w, revision=0),
    "judgment_imported_with_row": lambda w: judgment(w, imported_row=1),
    "judgment_active_within_elapsed": lambda w: judgment(w, active_ms=2, elapsed_ms=1),
    "flag_has_reason": lambda w: Flag.objects.create(lease=w["lease"], reason=""),
    "instructions_version_once": lambda w: Instructions.objects.create(stage=w["stage"], version=1, text="again"),
    "instructions_image_name_once": lambda w: [
        InstructionsImage.objects.create(stage=w["stage"], name="a", sha256=one, width=1, height=1) for one in "12"
    ],
    "instructions_image_content_once": lambda w: [
        InstructionsImage.objects.create(stage=w["stage"], name=one, sha256="1", width=1, height=1) for one in "ab"
    ],
    "annotator_number_once": lambda w: Annotator.objects.update(number=1),
    "annotator_prolific_once": lambda w: Annotator.objects.update(prolific_pid="P"),
    "stage_position_once": lambda w: Stage.objects.create(study=w["stage"].study, protocol="bivlc-choose", seed=1),
    "stage_overlap_range": lambda w: Stage.objects.update(overlap=0),
    "stage_lease_positive": lambda w: Stage.objects.update(lease_seconds=0),
    "stage_name_once": lambda w: Stage.objects.create(
        study=w["stage"].study, protocol="verify", position=2, name="bivlc-choose", seed=1
    ),
    "annotation_stage_invite": lambda w: Stage.objects.create(
        study=w["stage"].study, protocol="verify", position=2, name="again", seed=1, invite=w["stage"].invite
    ),
    "stage_state_known": lambda w: Stage.objects.update(state="lost"),
    "stage_rule_known": lambda w: Stage.objects.update(rule="oracle"),
    "stage_estimate_decides": lambda w: Stage.objects.update(rule="dawid-skene", tie_rule="adjudicate"),
    "stage_cap_from_overlap": lambda w: Stage.objects.update(cap=1),
    "stage_certainty_up_to_a_cap": lambda w: Stage.objects.update(certainty=0.9),
    "stage_check_rate_range": lambda w: Stage.objects.update(check_rate=0.6),
    "stage_agreement_both_or_neither": lambda w: Stage.objects.update(agreement_items=5),
    "stage_audits_have_a_target": lambda w: Stage.objects.update(strategy="audit", target_bound=0.05),
    "stage_batches_have_a_size": lambda w: Stage.objects.update(strategy="batches", batch_size=0),
    "annotator_excluded_with_reason": lambda w: Annotator.objects.update(excluded_at=Now()),
    "annotator_imported_without_link": lambda w: Annotator.objects.update(imported=True),
    "annotator_erased_whole": lambda w: Annotator.objects.update(erased_at=Now(), name="Grace"),
    "seat_once": lambda w: Seat.objects.create(annotator=w["holder"], stage=w["stage"]),
    "seat_place_once": lambda w: Seat.objects.update(batch=1, place=1),
    "seat_batch_and_place": lambda w: Seat.objects.update(batch=1),
    "attempt_once": lambda w: [attempt(w), attempt(w)],
    "attempt_kind_known": lambda w: attempt(w, kind="guess"),
    "attempt_finished_with_result": lambda w: attempt(w, passed=True),
    "task_kind_known": lambda w: Task.objects.update(kind="play", gold=["none"]),
    "task_gold_where_known": lambda w: Task.objects.update(kind="check"),
    "task_split_or_not": lambda w: Task.objects.update(entropy=-1, differs="kind", newest=1),
    "task_overlap_range": lambda w: Task.objects.update(overlap=51),
    "outcome_dropped_with_reason": lambda w: outcome(w, state="dropped"),
    "outcome_posterior_range": lambda w: outcome(w, state="kept", outcome="none", by="dawid_skene", posterior=1.5),
    "outcome_adjudicated_with_note": lambda w: outcome(w, state="kept", outcome="none", by="adjudicator"),
    "ratings_file_once": lambda w: [ratings(w), ratings(w)],
    "reader_report_has_text": lambda w: reported(w, text=""),
    "reader_report_answered_or_open": lambda w: reported(w, answer="dismissed"),
    "study_state_known": lambda w: Study.objects.update(state="lost"),
    "study_pay_not_negative": lambda w: Study.objects.update(pay_per_hour=-1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_database_refuses(world, name):
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        BROKEN[name](world)


def test_every_constraint_has_its_test():
    models = (
        Study, Stage, Instructions, InstructionsImage, Annotator, Seat, Attempt, Task, Outcome, Slot, Lease, Judgment,
        Flag, RatingsFile, ReaderReport,
    )  # fmt: skip
    declared = {constraint.name for model in models for constraint in model._meta.constraints}
    assert declared <= set(BROKEN)


class TestReleases:
    def test_a_version_is_there_once(self):
        study = studies.study()
        studies.release(study)
        with pytest.raises(IntegrityError, match="release_version_once"):
            studies.release(studies.study())

    @pytest.mark.parametrize("lacks", ["content", "file", "sha256"])
    def test_what_is_frozen_is_whole(self, lacks):
        with pytest.raises(IntegrityError, match="release_frozen_whole"):
            studies.release(studies.study(), **{lacks: ""})

    @pytest.mark.parametrize(
        "change", [{"content": "x"}, {"plan": {}}, {"version": "2.0"}, {"frozen_at": None}, {"summary": {"x": 1}}]
    )
    def test_a_frozen_one_is_never_altered(self, change):
        release = studies.release(studies.study())
        with pytest.raises(IntegrityError, match="never altered or deleted"):
            Release.objects.filter(pk=release.pk).update(**change)

    def test_a_frozen_one_is_never_deleted_alone(self):
        release = studies.release(studies.study())
        with pytest.raises(IntegrityError, match="never altered or deleted"):
            release.delete()

    def test_who_made_it_may_be_forgotten_and_one_that_is_not_frozen_may_go(self):
        user = User.objects.create_user("ana")
        release = studies.release(studies.study(), created_by=user)
        user.delete()
        release.refresh_from_db()
        assert release.created_by is None
        waiting = {"content": "", "file": "", "sha256": "", "frozen_at": None}
        studies.release(release.study, "2.0", **waiting).delete()


class TestWebhooks:
    def test_one_belongs_to_a_study_or_to_a_benchmark(self):
        study = studies.study()
        for owner in ({}, {"study": study, "benchmark": study.benchmark}):
            with pytest.raises(IntegrityError, match="webhook_of_one_owner"), transaction.atomic():
                webhooks.webhook(**owner)

    @pytest.mark.parametrize("of", ["study", "benchmark"])
    def test_an_address_is_there_once(self, of):
        study = studies.study()
        owner = {"study": study} if of == "study" else {"benchmark": study.benchmark}
        webhooks.webhook(**owner, url="https://lab.example.org/")
        with pytest.raises(IntegrityError, match=f"webhook_once_for_{of}"):
            webhooks.webhook(**owner, url="https://lab.example.org/")

    def test_an_event_is_in_a_known_state(self):
        [event] = webhooks.waiting(webhooks.webhook(studies.study()), 1)
        with pytest.raises(IntegrityError, match="delivery_state_known"):
            Delivery.objects.filter(pk=event.pk).update(state="lost")
