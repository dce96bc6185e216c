"""The funnel: every item of a study is kept, dropped for a reason or open somewhere, at every moment."""

import json

import pytest

from annotation.designs.plan import StagePlan
from annotation.figures import funnel
from annotation.models import Promotion, Study, Task
from annotation.pipeline import outcomes, promotion, task_creation
from annotation.protocols.base import TaskSpec
from annotation.protocols.decision_rule import Decision
from annotation.studies import lifecycle as study_lifecycle
from tests.builders import crowds, studies

pytestmark = pytest.mark.django_db
CHOOSE = "bivlc-choose"


def two_stages(items: int = 6, second: dict | None = None, **settings) -> Study:
    """Choose, then choose again: what fell out of the first never gets to the second."""
    stages = [
        StagePlan(CHOOSE, name="first", settings={"carries": "negative", **settings}),
        StagePlan(CHOOSE, name="second", source="first", settings=second or {}),
    ]
    return studies.study(items=items, stages=stages)


def decide(stage, *answers: str) -> None:
    """The stage's items in their order come to these outcomes, as an adjudicator would write them; "" stays open."""
    tasks = Task.objects.filter(stage=stage, kind="judge", live=True).order_by("item__position")
    for task, answer in zip(list(tasks), answers, strict=False):
        if answer:
            reason = "no_image_fits" if answer == "none" else ""
            outcomes.write_outcome(
                task, stage, Decision("dropped" if reason else "kept", answer, reason, "only_answer")
            )
            promotion.follow_outcome(stage, task.item_id)


def reconciles(found: dict) -> bool:
    """Every sum that must hold does, in all and within each type."""
    for part in (found, *found["by_type"]):
        assert part["imported"] == part["kept"] + part["dropped"] + part["not_asked"] + part["open"]
        assert part["dropped"] == sum(row["items"] for row in part["reasons"])
        assert part["not_asked"] == sum(row["items"] for row in part["not_asked_in"])
        assert part["open"] == sum(row["items"] for row in part["open_in"])
        for step in part["stages"]:
            assert step["entered"] == step["kept"] + step["dropped"] + step["open"]
            assert step["dropped"] == sum(row["items"] for row in step["reasons"])
    for name in ("imported", "kept", "dropped", "not_asked", "open"):
        assert found[name] == sum(row[name] for row in found["by_type"])
    return True


def steps(found: dict) -> list[tuple]:
    return [tuple(step[name] for name in ("entered", "kept", "dropped", "open", "waiting")) for step in found["stages"]]


def test_an_untouched_study_is_open_in_its_first_stage():
    found = funnel.funnel(two_stages(items=3))
    assert reconciles(found)
    assert steps(found) == [(3, 0, 0, 3, 0), (0, 0, 0, 0, 0)]
    assert found["open_in"] == [{"stage": 1, "name": "first", "reason": "", "waits": False, "items": 3, "share": 1.0}]
    json.dumps(found)


def test_what_a_stage_keeps_enters_the_next_and_what_it_drops_has_a_reason():
    study = two_stages(items=6)
    first, second = study.stages.all()
    decide(first, "candidate-0", "none", "candidate-1", "candidate-2", "none")
    decide(second, "none", "candidate-0")
    found = funnel.funnel(study)
    assert reconciles(found)
    assert steps(found) == [(6, 3, 2, 1, 0), (3, 1, 1, 1, 0)]
    assert (found["kept"], found["dropped"], found["open"]) == (1, 3, 2)
    assert [(row["stage"], row["reason"], row["items"]) for row in found["reasons"]] == [
        (1, "no_image_fits", 2),
        (2, "no_image_fits", 1),
    ]
    assert (found["kept_share"], found["stages"][1]["kept_share"]) == (1 / 6, 1 / 3)


def test_what_waits_for_a_closing_is_open_until_then():
    study = two_stages(items=4, second={"promotion": Promotion.CLOSING})
    first, _ = study.stages.all()
    decide(first, "candidate-0", "none", "candidate-1")
    found = funnel.funnel(study)
    assert reconciles(found) and steps(found) == [(4, 2, 1, 1, 0), (0, 0, 0, 0, 2)]
    assert [(row["stage"], row["waits"], row["items"]) for row in found["open_in"]] == [(1, False, 1), (2, True, 2)]
    study_lifecycle.move_stage(stage=first, to="closed", by="test")
    assert steps(funnel.funnel(study)) == [(4, 2, 1, 1, 0), (2, 0, 0, 2, 0)]


def test_what_a_sample_leaves_out_says_so():
    study = two_stages(items=6, second={"sample": 2})
    first = study.stages.get(position=1)
    decide(first, *["candidate-0"] * 6)
    assert steps(funnel.funnel(study))[1] == (0, 0, 0, 0, 6)
    study_lifecycle.move_stage(stage=first, to="closed", by="test")
    found = funnel.funnel(study)
    assert reconciles(found) and steps(found)[1] == (2, 0, 0, 2, 0)
    assert [(row["stage"], row["reason"], row["items"]) for row in found["not_asked_in"]] == [(2, "not_sampled", 4)]
    assert (found["dropped"], found["not_asked"]) == (0, 4)


def test_a_stage_may_take_up_what_another_dropped():
    stages = [
        StagePlan(CHOOSE, name="first"),
        StagePlan(CHOOSE, name="again", source="first", settings={"takes": ["no_image_fits"]}),
    ]
    study = studies.study(items=3, stages=stages)
    first, again = study.stages.all()
    decide(first, "candidate-0", "none", "none")
    decide(again, "candidate-0", "none")
    found = funnel.funnel(study)
    assert reconciles(found) and (found["kept"], found["dropped"]) == (2, 1)
    assert found["reasons"][0]["stage"] == 2


def test_a_later_import_waits_until_it_is_taken_in():
    study = two_stages(items=2)
    studies.item(study.benchmark)
    found = funnel.funnel(study)
    assert reconciles(found) and steps(found)[0] == (2, 0, 0, 2, 1)
    promotion.take_in(study)
    assert steps(funnel.funnel(study))[0] == (3, 0, 0, 3, 0)


def test_an_item_whose_answer_is_known_is_no_item_of_the_study():
    study = two_stages(items=2)
    Task.objects.filter(item__position=0).update(kind="check", gold=["none"])
    found = funnel.funnel(study)
    assert reconciles(found)
    assert [(row["stage"], row["reason"], row["items"]) for row in found["not_asked_in"]] == [(1, "check_item", 1)]


def test_an_item_in_a_second_round_counts_once():
    study = two_stages(items=1)
    first, _ = study.stages.all()
    decide(first, "none")
    item = study.benchmark.items.get()
    Task.objects.filter(stage=first).update(live=False)
    task_creation.create_tasks(
        first, [task_creation.NewTask(item.pk, item.key, TaskSpec(("caption-negative-0",), ("candidate-1",)), {}, 2)]
    )
    found = funnel.funnel(study)
    assert reconciles(found) and steps(found)[0] == (1, 0, 0, 1, 0)


def test_it_says_what_promotion_says():
    study = two_stages(items=12)
    for stage in study.stages.all():
        decide(stage, "candidate-0", "none", "", "candidate-1", "candidate-2", "none")
    for step, stage in zip(funnel.funnel(study)["stages"], study.stages.all(), strict=True):
        found = promotion.results(stage)
        walk = funnel.walk_of(study, [stage])
        assert walk.found[stage.pk] == {item: (result.state, result.reason) for item, result in found.items()}
        assert step["kept"] == sum(result.state == "kept" for result in found.values())


def test_it_takes_five_queries_however_many_items(django_assert_num_queries):
    study = two_stages(items=6)
    with django_assert_num_queries(5):
        funnel.funnel(study)


@pytest.mark.nightly
def test_a_study_of_full_size():
    study = studies.study(benchmark=crowds.benchmark(3000), stages=[StagePlan(CHOOSE, name="first")])
    found = funnel.funnel(study)
    assert reconciles(found) and len(found["by_type"]) == 6


def test_a_later_item_that_does_not_suit_stops_nobody():
    study = two_stages(items=2)
    studies.item(study.benchmark, candidates=1)
    for _ in range(2):
        promotion.take_in(study)
    found = funnel.funnel(study)
    assert reconciles(found) and steps(found)[0] == (2, 0, 0, 2, 0)
    assert [(row["stage"], row["reason"], row["items"]) for row in found["not_asked_in"]] == [(1, "not_suitable", 1)]
