"""Items that fell out are asked again when new candidates come for them: they alone, with those alone."""

import uuid

import pytest

from annotation import permissions
from annotation.adjudication import decisions
from annotation.assignment import leases as assignment_leases
from annotation.assignment import seats
from annotation.designs.plan import StagePlan
from annotation.judging import next_step, submissions
from annotation.models import Judgment, Slot, Study, Task
from annotation.pipeline import promotion
from annotation.pipeline.item_results import results
from annotation.screens import errors, read_answer
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Event, ItemImage
from tests.builders import studies

pytestmark = pytest.mark.usefixtures("savepoint")
STAGES = [
    StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"}),
    StagePlan("bivlc-disambiguate", name="second", source="choose"),
]


@pytest.fixture(scope="module")
def built(module_world) -> Study:
    """Four items: one fell out in each stage, one is kept, one is open in the second stage."""
    made = studies.study(items=4, stages=STAGES)
    choose, second = stages(made)
    chooser = studies.annotator(made)
    answers = dict(zip(keys(made), ["none", "candidate-1", "candidate-2", "candidate-3"], strict=True))
    answer(chooser, choose, answers)
    answer(
        sit(studies.annotator(made), second), second, dict(zip(keys(made), ["", "both", "positive-0", ""], strict=True))
    )
    return made


@pytest.fixture
def study(built) -> Study:
    return Study.objects.get(pk=built.pk)


def stages(study):
    return list(study.stages.select_related("study"))


def keys(study):
    return list(study.benchmark.items.order_by("position").values_list("key", flat=True))


def sit(annotator, stage):
    seats.sit(annotator=annotator, stage=stage)
    studies.read(annotator, stage)
    return annotator


def answer(annotator, stage, answers: dict[str, str]) -> list[Task]:
    """Everything that the annotator is given; "" leaves it. Returns the tasks."""
    met = []
    for lease in leases(annotator, stage):
        met.append(lease.task)
        said = answers.get(lease.task.item.key, "")
        if said:
            studies.submit(annotator, lease, read_answer.place_on_screen(lease, said))
    return met


def leases(annotator, stage):
    return assignment_leases.hold(annotator=annotator, stage=stage, wanted=50)


def bring(study, *places: int, count: int = 3) -> None:
    """New candidates for the items at these places, as an import stores them."""
    for item in study.benchmark.items.filter(position__in=places):
        there = list(item.item_images.filter(role="candidate"))
        for step in range(count):
            ItemImage.objects.create(
                item=item, image=studies.image(), role="candidate", position=len(there) + step,
                round=max(use.round for use in there) + 1, source_name=f"again-{step}.jpg",
            )  # fmt: skip


def labels(study) -> list[list[str]]:
    """What each stage says of the items, in their order; "" where an item is not in the stage."""
    ids = list(study.benchmark.items.order_by("position").values_list("pk", flat=True))
    found = [results(stage) for stage in stages(study)]
    return [[of_stage[pk].label if pk in of_stage else "" for pk in ids] for of_stage in found]


def test_the_world_is_as_it_says(study):
    assert labels(study) == [["no_image_fits", "kept", "kept", "kept"], ["", "ambiguous_both", "kept", "open"]]
    ids = list(study.benchmark.items.order_by("position").values_list("pk", flat=True))
    assert promotion.fallen_out(study) == set(ids[:2])


def test_they_alone_are_asked_again_with_the_new_images_alone(study):
    before = dict(Task.objects.values_list("pk", "live"))
    bring(study, 0, 1)
    assert promotion.take_in(study) == 2 and promotion.take_in(study) == 0
    new = Task.objects.exclude(pk__in=before)
    assert {tuple(task.options) for task in new} == {("candidate-4", "candidate-5", "candidate-6")}
    assert {(task.item.position, task.round, task.live) for task in new} == {(0, 2, True), (1, 2, True)}
    assert Slot.objects.filter(task__in=new, live=True).count() == 2
    ended = {task.item.position for task in Task.objects.filter(pk__in=before, live=False)}
    assert ended == {0, 1}
    assert labels(study) == [["open", "open", "kept", "kept"], ["", "", "kept", "open"]]


def test_judgments_of_the_round_before_stay(study):
    before = list(Judgment.objects.order_by("pk").values())
    bring(study, 0, 1)
    promotion.take_in(study)
    assert list(Judgment.objects.order_by("pk").values()) == before
    assert Task.objects.get(stage__position=1, item__position=0, round=1).decided.reason == "no_image_fits"


def test_the_chosen_new_image_goes_on(study):
    bring(study, 1)
    promotion.take_in(study)
    choose, second = stages(study)
    answer(sit(studies.annotator(study), choose), choose, {keys(study)[1]: "candidate-5"})
    task = Task.objects.get(stage=second, item__position=1, live=True)
    assert task.carried == {"negative": "candidate-5"} and task.options == ["positive-0", "candidate-5"]
    last = sit(studies.annotator(study), second)
    answer(last, second, {keys(study)[1]: "positive-0"})
    assert labels(study)[1][1] == "kept"


def test_whoever_judged_the_first_round_may_judge_the_next(client, study):
    bring(study, 0)
    promotion.take_in(study)
    chooser = study.annotators.get(number=1)
    assert 'name="answer"' in client.get(f"/judge/{chooser.token}/").text


def test_new_candidates_of_an_item_that_is_in_wait_until_it_falls_out(study):
    bring(study, 2, 3)
    assert promotion.take_in(study) == 0
    answer(sit(studies.annotator(study), stages(study)[1]), stages(study)[1], {keys(study)[3]: "candidate-3"})
    assert labels(study)[1][3] == "open"  # its only place is held by another
    chooser = study.annotators.get(number=2)
    [lease] = [one for one in leases(chooser, stages(study)[1]) if one.task.item.position == 3]
    studies.submit(chooser, lease, read_answer.place_on_screen(lease, "candidate-3"))
    assert labels(study)[1][3] == "ambiguous_generated"
    assert promotion.take_in(study) == 1
    assert labels(study) == [["no_image_fits", "kept", "kept", "open"], ["", "ambiguous_both", "kept", ""]]


@pytest.mark.parametrize("who", ["annotator", "adjudicator"])
def test_what_falls_out_after_its_new_candidates_came_is_asked_again_at_once(
    django_capture_on_commit_callbacks, study, who
):
    bring(study, 2)
    promotion.take_in(study)
    choose, chooser = stages(study)[0], study.annotators.get(number=1)
    with django_capture_on_commit_callbacks(execute=True):
        if who == "annotator":
            lease = next(one for one in submissions.history(annotator=chooser) if one.task.item.position == 2)
            studies.submit(chooser, lease, "none")
        else:
            task = Task.objects.get(stage=choose, item__position=2)
            seen = decisions.seen(task)
            decisions.decide(task=task, by="test", seen=seen, reason="flagged", note="Torn.")
    assert labels(study)[0][2] == "open"
    assert Task.objects.get(stage=choose, item__position=2, live=True).round == 2


def test_an_item_may_go_round_as_often_as_new_candidates_come(study):
    choose = stages(study)[0]
    for round in (2, 3):
        bring(study, 0)
        assert promotion.take_in(study) == 1
        task = Task.objects.get(stage=choose, item__position=0, live=True)
        assert task.round == round and len(task.options) == 3
        answer(sit(studies.annotator(study), choose), choose, {keys(study)[0]: "none"})
        assert labels(study)[0][0] == "no_image_fits"
    assert promotion.take_in(study) == 0


def test_in_a_closed_stage_they_alone_are_given_out(study):
    bring(study, 0, 1)
    choose = study_lifecycle.move_stage(stage=stages(study)[0], to="closed", by="test").stage
    studies.item(study.benchmark)
    assert promotion.take_in(study) == 3
    given = Slot.objects.filter(stage=choose, live=True, judgment=None).values_list("task__item__position", flat=True)
    assert sorted(given) == [0, 1]
    person = studies.annotator(study)  # whoever joins now is led there
    assert person.stage == choose and next_step.claim_next(permissions.desk(person.token)).state == "screen"


def test_what_is_brought_back_before_it_is_asked_again_stays(study):
    """Between the look and the lock somebody took their None back."""
    choose, chooser = stages(study)[0], study.annotators.get(number=1)
    lease = next(one for one in submissions.history(annotator=chooser) if one.task.item.position == 0)
    bring(study, 0)
    studies.submit(chooser, lease, read_answer.place_on_screen(lease, "candidate-1"))
    assert promotion._ask_again(choose, [lease.task.item_id]) == []
    assert labels(study)[0][0] == "kept"


def test_an_outcome_of_an_earlier_round_changes_nothing_any_more(study):
    bring(study, 0)
    promotion.take_in(study)
    chooser = study.annotators.get(number=1)
    lease = next(one for one in submissions.history(annotator=chooser) if one.task.item.position == 0)
    studies.submit(chooser, lease, read_answer.place_on_screen(lease, "candidate-1"))
    assert labels(study) == [["open", "kept", "kept", "kept"], ["", "ambiguous_both", "kept", "open"]]


def test_too_few_new_candidates_leave_the_item_as_it_was_and_are_said_once(study):
    bring(study, 0, count=1)
    assert [promotion.take_in(study) for _ in range(3)] == [0, 0, 0]
    assert labels(study)[0][0] == "no_image_fits"
    [told] = Event.objects.filter(verb="could not ask")
    assert "1 candidate" in told.data["reason"]
    bring(study, 0)
    assert promotion.take_in(study) == 1


def test_a_later_import_that_does_not_suit_is_passed_over_and_said_once(study):
    studies.item(study.benchmark, candidates=0)
    assert [promotion.take_in(study) for _ in range(2)] == [0, 0]
    assert Event.objects.filter(verb="could not ask").count() == 1
    studies.item(study.benchmark)
    assert promotion.take_in(study) == 1


def test_closing_passes_over_what_does_not_suit_the_next_stage():
    second = StagePlan("bivlc-disambiguate", name="second", source="choose", settings={"promotion": "closing"})
    study = studies.study(items=2, stages=[STAGES[0], second])
    item = study.benchmark.items.first()
    answer(studies.annotator(study), stages(study)[0], dict.fromkeys(keys(study), "candidate-0"))
    item.item_images.filter(role="positive").delete()
    study_lifecycle.move_stage(stage=stages(study)[0], to="closed", by="test")
    assert Task.objects.filter(stage__study=study, stage__position=2).count() == 1


def test_what_another_branch_made_of_an_item_does_not_matter():
    """Two stages take the benchmark's items, one each its own way: what one drops is not asked again in the other."""
    study = studies.study(items=1, stages=[StagePlan("bivlc-choose", name="a"), StagePlan("bivlc-choose", name="b")])
    for stage, said in zip(stages(study), ("candidate-0", "none"), strict=True):
        answer(sit(studies.annotator(study), stage), stage, {keys(study)[0]: said})
    bring(study, 0)
    assert promotion.take_in(study) == 1
    assert labels(study) == [["kept"], ["open"]]


def test_an_item_that_another_stage_rescued_is_not_out():
    again = StagePlan("bivlc-choose", name="again", source="choose", settings={"takes": ["no_image_fits"]})
    study = studies.study(items=1, stages=[STAGES[0], again])
    first, then = stages(study)
    answer(studies.annotator(study), first, {keys(study)[0]: "none"})
    assert promotion.fallen_out(study) == set()
    answer(sit(studies.annotator(study), then), then, {keys(study)[0]: "none"})
    assert len(promotion.fallen_out(study)) == 1


def test_a_measuring_stage_beside_does_not_keep_an_item_that_was_dropped():
    plans = [*STAGES, StagePlan("bivlc-i2t", name="people", source="choose", apart_from=[])]
    study = studies.study(items=1, stages=plans)
    choose, second, _ = stages(study)
    answer(studies.annotator(study), choose, {keys(study)[0]: "candidate-0"})
    answer(sit(studies.annotator(study), second), second, {keys(study)[0]: "both"})
    bring(study, 0)
    assert promotion.take_in(study) == 1
    assert not Task.objects.filter(stage__name="people", live=True).exists()


def test_many_items_come_back_in_a_few_queries(django_assert_max_num_queries):
    study = studies.study(items=12, stages=STAGES)
    chooser = studies.annotator(study)
    answer(chooser, stages(study)[0], dict.fromkeys(keys(study), "none"))
    bring(study, *range(12))
    with django_assert_max_num_queries(40):
        assert promotion.take_in(study) == 12


def test_undo_of_what_dropped_it_comes_too_late(study):
    bring(study, 0)
    promotion.take_in(study)
    chooser = study.annotators.get(number=1)
    while True:
        try:
            submissions.undo(annotator=chooser, key=uuid.uuid4())
        except errors.NothingToUndo:
            break
    assert (
        labels(study)[0][0] == "open"
        and Task.objects.filter(stage__position=1, item__position=0, live=True).count() == 1
    )
