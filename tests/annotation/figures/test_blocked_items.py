"""What is stuck, and why: one case for each reason, and what is not stuck."""

import json
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from annotation.assignment import by_name, leases
from annotation.designs.plan import StagePlan
from annotation.figures import blocked_items
from annotation.judging import submissions
from annotation.models import Annotator, Lease, Seat, Slot, Stage
from annotation.participants import lifecycle as participant_lifecycle
from annotation.pipeline import promotion
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import ItemImage
from tests.builders import studies

pytestmark = pytest.mark.django_db


def why(stage: Stage) -> dict[str, list[str]]:
    """Items by the reason for which they are stuck; what counts them says the same."""
    stage = Stage.objects.select_related("study").get(pk=stage.pk)
    found = blocked_items.blocked_items(stage)
    assert blocked_items.counts(stage) == found["counts"] == {name: len(rows) for name, rows in found["rows"].items()}
    json.dumps(found)
    return {name: [row["item"] for row in rows] for name, rows in found["rows"].items()}


def a_day_later() -> None:
    """As if everything had happened 25 hours ago."""
    Annotator.objects.update(joined_at=F("joined_at") - timedelta(hours=25))
    Lease.objects.update(granted_at=F("granted_at") - timedelta(hours=25))


def named(items: int = 1, people: int = 1, **settings):
    """A stage by name, everything assigned to everybody."""
    stage = studies.stage(items=items, strategy="named", **settings)
    people = [studies.annotator(stage.study) for _ in range(people)]
    keys = [task.item.key for task in stage.tasks.select_related("item")]
    by_name.assign(stage=stage, annotators=people, keys=keys, by="test")
    return stage, people


def two_stages(apart_from=(), **second):
    plans = [StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"})]
    plans.append(StagePlan("bivlc-disambiguate", name="fits", source="choose", apart_from=apart_from, settings=second))
    study = studies.study(items=3, stages=plans)
    return study.stages.get(position=1), study.stages.get(position=2)


# What moves


def test_what_somebody_can_take_is_not_stuck():
    stage = studies.stage(items=2, overlap=2)
    person = studies.annotator(stage.study)
    assert why(stage) == {}
    studies.judgment(person, stage)
    studies.annotator(stage.study)
    leases.hold(annotator=person, stage=stage)
    assert why(stage) == {}


def test_what_is_settled_is_not_stuck():
    stage = studies.stage(items=1)
    studies.judgment(studies.annotator(stage.study), stage)
    study_lifecycle.move_study(study=stage.study, to="closed", by="test")
    assert why(stage) == {}


def test_what_somebody_holds_moves_until_the_lease_runs_out():
    stage = studies.stage(items=1)
    leases.hold(annotator=studies.annotator(stage.study), stage=stage)
    a_day_later()
    assert why(stage) == {}
    Slot.objects.update(held_until=timezone.now() - timedelta(minutes=1))
    assert why(stage) == {"away": ["item-0"]}


# One for each reason


def tied(**settings) -> Stage:
    stage = studies.stage(items=1, overlap=2, **settings)
    for answer in ("candidate-0", "none"):
        studies.judgment(studies.annotator(stage.study), stage, answer)
    return stage


def test_a_tie_that_is_left_to_a_person():
    assert why(tied(tie_rule="adjudicate")) == {"adjudicate": ["item-0"]}


def test_what_is_to_be_estimated():
    assert why(tied(rule="dawid-skene")) == {"estimate": ["item-0"]}


def test_a_study_that_is_paused():
    stage = studies.stage(items=1)
    studies.annotator(stage.study)
    study_lifecycle.move_study(study=stage.study, to="paused", by="test")
    assert why(stage) == {"study": ["item-0"]}


def test_a_stage_that_is_closed():
    stage = studies.stage(items=1)
    studies.annotator(stage.study)
    study_lifecycle.move_stage(stage=stage, to="closed", by="test")
    assert why(stage) == {"stage": ["item-0"]}
    Slot.objects.update(live=True)  # asked again
    assert why(stage) == {}


def test_what_came_open_after_the_closing():
    stage = studies.stage(items=2)
    person = studies.annotator(stage.study)
    studies.judgment(person, stage)
    study_lifecycle.move_stage(stage=stage, to="closed", by="test")
    participant_lifecycle.exclude(annotator=person, reason="Careless.", by="test")
    found = why(stage)
    assert {name: len(items) for name, items in found.items()} == {"reopen": 1, "stage": 1}


def test_a_batch_that_nobody_has():
    stage = studies.stage(items=2, strategy="batches", batch_size=1)
    studies.annotator(stage.study)
    assert {name: len(items) for name, items in why(stage).items()} == {"batch": 1}


def test_a_place_that_was_given_to_nobody_by_name():
    stage = studies.stage(items=1, strategy="named")
    studies.annotator(stage.study)
    assert why(stage) == {"unnamed": ["item-0"]}


@pytest.mark.parametrize("how", ["left", "excluded"])
def test_a_place_of_somebody_who_is_gone(how):
    stage, [person] = named()
    assert why(stage) == {}
    if how == "left":
        participant_lifecycle.leave(annotator=person, by="test")
    else:
        participant_lifecycle.exclude(annotator=person, reason="Careless.", by="test")
    assert why(stage) == {"gone": ["item-0"]}
    assert (
        blocked_items.blocked_items(stage)["rows"]["gone"][0] | {"keepers": [1], "judged": 0, "wanted": 1}
        == (blocked_items.blocked_items(stage)["rows"]["gone"][0])
    )


def test_a_place_of_somebody_who_skipped():
    stage, [person] = named()
    [lease] = leases.hold(annotator=person, stage=stage, wanted=1)
    leases.skip(annotator=person, token=lease.token)
    assert why(stage) == {"passed": ["item-0"]}


def test_nobody_is_left_who_has_not_had_it():
    stage = studies.stage(items=2, overlap=2)
    assert len(why(stage)["nobody"]) == 2  # nobody has come yet
    person = studies.annotator(stage.study)
    studies.judgment(person, stage)
    assert len(why(stage)["nobody"]) == 1
    other = studies.annotator(stage.study)
    assert why(stage) == {}
    Seat.objects.filter(annotator=other).update(screened_out_at=timezone.now())
    assert len(why(stage)["nobody"]) == 1


def test_who_has_used_up_the_quota_is_nobody():
    stage = studies.stage(items=2, quota=1)
    studies.judgment(studies.annotator(stage.study), stage)
    assert len(why(stage)["nobody"]) == 1


def test_who_came_by_a_link_to_another_stage_is_nobody():
    first, second = two_stages()
    person = studies.annotator(first.study)
    studies.judgment(person, first, "candidate-0")
    assert why(second) == {}
    Annotator.objects.update(invited_to=first)
    assert len(why(second)["nobody"]) == 1
    Stage.objects.filter(pk=second.pk).update(after=first)
    assert why(second) == {}


def test_who_met_the_item_where_this_stage_keeps_apart_is_nobody():
    first, second = two_stages(apart_from=["choose"])
    studies.judgment(studies.annotator(first.study), first, "candidate-0")
    assert len(why(second)["nobody"]) == 1
    studies.annotator(first.study)
    assert why(second) == {}


def test_those_who_could_are_away():
    stage, _ = named()
    a_day_later()
    assert why(stage) == {"away": ["item-0"]}
    pool = studies.stage(items=1, overlap=2)
    studies.annotator(pool.study)
    a_day_later()
    assert why(pool) == {"away": ["item-0"]}
    studies.annotator(pool.study)
    assert why(pool) == {}


def test_what_many_skipped():
    stage = studies.stage(items=1)
    for _ in range(blocked_items.SKIPS):
        assert why(stage) in ({}, {"nobody": ["item-0"]})
        person = studies.annotator(stage.study)
        [lease] = leases.hold(annotator=person, stage=stage, wanted=1)
        leases.skip(annotator=person, token=lease.token)
    studies.annotator(stage.study)
    assert why(stage) == {"skipped": ["item-0"]}


def test_what_was_flagged_and_not_looked_at():
    stage = studies.stage(items=1)
    person = studies.annotator(stage.study)
    [lease] = leases.hold(annotator=person, stage=stage, wanted=1)
    submissions.flag(annotator=person, token=lease.token, reason="Odd")
    assert why(stage) == {"flagged": ["item-0"]}
    lease.flags.update(settled_at=timezone.now())
    assert why(stage) == {}


def test_what_waits_for_the_stage_before_it_to_close():
    first, second = two_stages(promotion="closing")
    person = studies.annotator(first.study)
    item = studies.judgment(person, first, "candidate-0").lease.task.item.key
    studies.judgment(person, first, "none")
    assert why(second) == {"source": [item]}
    study_lifecycle.move_stage(stage=first, to="closed", by="test")
    assert why(second) == {}


def test_what_the_stage_cannot_ask_about():
    first, second = two_stages()
    task = first.tasks.first()
    ItemImage.objects.filter(item=task.item, role="positive").delete()
    person = studies.annotator(first.study)
    for _ in range(3):
        studies.judgment(person, first, "candidate-0")
    promotion.follow_outcome(first, task.item_id)
    assert why(second) == {"unsuited": [task.item.key]}


# Lists


def test_every_reason_has_words_and_a_test():
    with open(__file__) as text:
        told = text.read()
    assert all(f'"{name}"' in told for name in blocked_items.REASONS)


def test_the_first_of_each_reason_are_listed(monkeypatch):
    monkeypatch.setattr(blocked_items, "MOST", 2)
    stage = studies.stage(items=5)
    found = blocked_items.blocked_items(stage)
    assert (found["counts"], len(found["rows"]["nobody"])) == ({"nobody": 5}, 2)
    ranks = list(stage.tasks.order_by("rank").values_list("item__key", flat=True))
    assert [row["item"] for row in found["rows"]["nobody"]] == ranks[:2]
