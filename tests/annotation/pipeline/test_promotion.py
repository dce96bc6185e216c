"""What a stage makes of an item decides where it goes, at once or when the stage is closed, and back again."""

import uuid
from collections import Counter

import pytest

from annotation.assignment import seats
from annotation.designs.plan import StagePlan
from annotation.judging import submissions
from annotation.models import Judgment, Slot, Stage, Task
from annotation.participants import lifecycle as participant_lifecycle
from annotation.pipeline import promotion, sampling
from annotation.protocols.decision_rule import KEPT, OPEN
from annotation.screens import errors, read_answer
from annotation.studies import lifecycle as study_lifecycle
from benchmarks import queries
from tests.builders import crowds, studies

pytestmark = pytest.mark.django_db
CHOOSE = StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"})


def second(**settings) -> StagePlan:
    return StagePlan("bivlc-disambiguate", name="second", source="choose", settings=settings)


@pytest.fixture
def pipeline():
    return studies.study(items=3, stages=[CHOOSE, second()])


def stages(study):
    return list(study.stages.select_related("study"))


def answer_all(study, answer="candidate-1"):
    """Everything of the first stage is answered alike, by one annotator."""
    annotator, first = studies.annotator(study), stages(study)[0]
    while studies.judgment(annotator, first, answer):
        pass
    return annotator


def live(stage):
    return Task.objects.filter(stage=stage, live=True)


def test_a_kept_item_enters_the_next_stage_with_the_chosen_image(pipeline):
    first, then = stages(pipeline)
    judged = studies.judgment(studies.annotator(pipeline), first, "candidate-2")
    [task] = then.tasks.all()
    assert task.item_id == judged.lease.task.item_id and task.carried == {"negative": "candidate-2"}
    assert set(task.options) == {"positive-0", "candidate-2"} and task.slots.count() == 1


def test_a_dropped_item_does_not_enter_and_keeps_its_reason(pipeline):
    first, then = stages(pipeline)
    judged = studies.judgment(studies.annotator(pipeline), first, "none")
    assert not then.tasks.exists()
    assert promotion.results(first)[judged.lease.task.item_id].label == "no_image_fits"


def test_a_stage_may_take_what_was_dropped():
    study = studies.study(
        items=2, stages=[CHOOSE, StagePlan("bivlc-choose", "again", "choose", settings={"takes": ["no_image_fits"]})]
    )
    answer_all(study, "none")
    assert live(stages(study)[1]).count() == 2


def test_undo_takes_the_item_back_and_the_same_answer_brings_its_task_back(pipeline):
    first, then = stages(pipeline)
    annotator = studies.annotator(pipeline)
    studies.judgment(annotator, first, "candidate-1")
    lease = submissions.undo(annotator=annotator, key=uuid.uuid4())
    assert not live(then).exists() and not Slot.objects.filter(stage=then, live=True).exists()
    studies.submit(annotator, lease, read_answer.place_on_screen(lease, "candidate-1"))
    assert live(then).get().slots.get().live and then.tasks.count() == 1


def test_who_came_by_another_stages_link_takes_nothing_back_in_the_first(pipeline):
    first, then = stages(pipeline)
    annotator = studies.annotator(pipeline, stage=first)
    studies.judgment(annotator, first, "candidate-1")
    participant_lifecycle.arrive(annotator=annotator, stage=then, by="test")
    with pytest.raises(errors.NothingToUndo, match="does not open"):
        submissions.undo(annotator=annotator, key=uuid.uuid4())
    assert live(then).exists()


def test_another_choice_is_asked_about_anew_and_what_was_judged_stays(pipeline):
    first, then = stages(pipeline)
    one, two = studies.annotator(pipeline), studies.annotator(pipeline)
    lease = studies.judgment(one, first, "candidate-1").lease
    studies.judgment(seated(two, then), then, "positive-0")
    studies.submit(one, lease, read_answer.place_on_screen(lease, "candidate-3"))
    old, new = then.tasks.order_by("round")
    assert (old.live, new.live, new.round) == (False, True, 2) and "candidate-3" in new.options
    assert Judgment.objects.filter(lease__task=old).count() == 1
    assert promotion.results(then)[new.item_id].state == OPEN


def seated(annotator, stage):
    seats.sit(annotator=annotator, stage=stage)
    studies.read(annotator, stage)
    return annotator


def test_whoever_chose_the_image_does_not_judge_it_in_the_next_stage(pipeline):
    first, then = stages(pipeline)
    one = studies.annotator(pipeline)
    studies.judgment(one, first, "candidate-1")
    assert then.apart_from == [1] and not seats.has_work(one, then)
    assert studies.judgment(seated(one, then), then) is None
    assert studies.judgment(seated(studies.annotator(pipeline), then), then)


def test_waiting_for_the_closing_promotes_all_in_one_step():
    study = studies.study(items=3, stages=[CHOOSE, second(promotion="closing")])
    first, then = stages(study)
    answer_all(study)
    assert not then.tasks.exists()
    study_lifecycle.move_stage(stage=first, to="closed", by="test")
    assert live(then).count() == 3


def test_what_is_open_when_a_stage_closes_is_not_given_out_and_not_promoted():
    study = studies.study(items=3, stages=[CHOOSE, second(promotion="closing")])
    first, then = stages(study)
    annotator = studies.annotator(study)
    studies.judgment(annotator, first, "candidate-0")
    study_lifecycle.move_stage(stage=first, to="closed", by="test")
    assert studies.judgment(annotator, Stage.objects.select_related("study").get(pk=first.pk)) is None
    assert live(then).count() == 1
    assert Counter(result.state for result in promotion.results(first).values()) == {KEPT: 1, OPEN: 2}
    study_lifecycle.move_stage(stage=first, to="open", by="test")
    assert studies.judgment(annotator, Stage.objects.select_related("study").get(pk=first.pk))


SAMPLED = [
    CHOOSE,
    StagePlan("bivlc-i2t", "i2t", "choose", settings={"sample": 4, "promotion": "closing", "seed": 5}),
    StagePlan("bivlc-t2i", "t2i", "choose", settings={"sample": 4, "promotion": "closing", "seed": 5}),
]


def test_two_stages_of_one_seed_draw_the_same_sample_and_closing_again_keeps_it():
    study = studies.study(items=12, stages=SAMPLED)
    first, i2t, t2i = stages(study)
    answer_all(study)
    study_lifecycle.move_stage(stage=first, to="closed", by="test")
    sample = set(i2t.tasks.values_list("item", flat=True))
    assert len(sample) == 4 and sample == set(t2i.tasks.values_list("item", flat=True))
    assert i2t.tasks.count() == t2i.tasks.count() == 8
    study_lifecycle.move_stage(stage=first, to="open", by="test")
    study_lifecycle.move_stage(stage=first, to="closed", by="test")
    assert set(i2t.tasks.values_list("item", flat=True)) == sample


def test_a_stratified_sample_has_each_types_share():
    plan = StagePlan("bivlc-i2t", "i2t", "choose", settings={"sample": 12, "stratify": True, "promotion": "closing"})
    study = studies.study(benchmark=crowds.benchmark(24), stages=[CHOOSE, plan])
    first, then = stages(study)
    answer_all(study)
    study_lifecycle.move_stage(stage=first, to="closed", by="test")
    items = study.benchmark.items.filter(tasks__stage=then).distinct()
    assert set(Counter(items.values_list("type", "subtype")).values()) == {2}


@pytest.mark.parametrize(
    "sizes, total, shares",
    [
        ({"a": 50, "b": 30, "c": 20}, 10, {"a": 5, "b": 3, "c": 2}),
        ({"a": 1, "b": 1, "c": 1}, 2, {"a": 1, "b": 1, "c": 0}),
        ({"a": 97, "b": 3}, 10, {"a": 10, "b": 0}),
    ],
)
def test_shares_are_whole_and_add_up(sizes, total, shares):
    assert sampling.apportion(sizes, total) == shares and sum(shares.values()) == total


def test_an_item_with_several_questions_is_kept_when_all_say_so():
    study = studies.study(items=1, stages=[CHOOSE, StagePlan("verify", "verify", "choose", settings={"overlap": 1}),
                                        StagePlan("bivlc-disambiguate", "last", "verify")])  # fmt: skip
    answer_all(study)
    _, verify, last = stages(study)
    one, two = (seated(studies.annotator(study), verify) for _ in range(2))
    studies.judgment(one, verify, "yes")
    assert not last.tasks.exists()
    studies.judgment(two, verify, "yes")
    assert last.tasks.get().carried == {"negative": "candidate-1"}


def test_later_imports_are_taken_in(pipeline):
    first, _ = stages(pipeline)
    studies.item(pipeline.benchmark)
    assert promotion.take_in(pipeline) == 1 and promotion.take_in(pipeline) == 0
    assert first.tasks.count() == first.slots.count() == 4


def test_who_runs_out_gets_what_a_later_import_brought(client, pipeline):
    annotator = answer_all(pipeline)
    studies.item(pipeline.benchmark)
    promotion.take_in(pipeline)
    assert 'name="answer"' in client.get(f"/judge/{annotator.token}/").text


def test_what_happens_at_a_click_reads_the_same_material(pipeline):
    item = queries.with_material(pipeline.benchmark.items.all())[0]
    brief, whole = queries.material_of(item.pk), queries.record_of(item)
    assert (brief.key, brief.captions, brief.images) == (whole.key, whole.captions, whole.images)
    assert [one.format for one in brief.images] == [one.format for one in whole.images] == ["JPEG"] * 5


def test_promoting_takes_the_same_few_queries_however_many_items(django_assert_max_num_queries):
    for items in (3, 12):
        study = studies.study(benchmark=crowds.benchmark(items), stages=[CHOOSE, second()])
        annotator = studies.annotator(study)
        with django_assert_max_num_queries(20):
            studies.judgment(annotator, stages(study)[0], "candidate-1")
