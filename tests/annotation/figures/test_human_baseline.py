"""The human baseline: who gets which questions, and what the answers come to."""

from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

from annotation.designs.plan import StagePlan
from annotation.designs.presets import DIFFERENT_ANNOTATORS, I2T, ONE_ANNOTATOR, baseline_plans
from annotation.figures import human_baseline
from annotation.models import Judgment, Slot, Study
from annotation.protocols.registry import PROTOCOLS
from annotation.screens import read_answer
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.metrics.base import wilson
from benchmarks.metrics.bivlc import QUESTIONS
from tests.builders import annotators, crowds, studies

pytestmark = pytest.mark.django_db


def baseline_study(items: int, **plan) -> Study:
    return studies.study(
        benchmark=annotators.benchmark_of_pairs(items), stages=baseline_plans(**{"sample": None, **plan})
    )


def right(dice, task, protocol) -> str:
    return PROTOCOLS[protocol].right_answer(task.question, task.options)


def wrong(dice, task, protocol) -> str:
    return next(option for option in task.options if option != right(dice, task, protocol))


def crew_of(study: Study, people: int, answer: Callable = right) -> list[annotators.Worker]:
    return [annotators.Worker(study, answer, seed=number) for number in range(people)]


def who_answered(study: Study) -> dict[int, list[int]]:
    """Each item's annotators, one for each question that was answered."""
    found = defaultdict(list)
    for item, person in Slot.objects.filter(stage__study=study, judgment__isnull=False).values_list(
        "task__item", "annotator__number"
    ):
        found[item].append(person)
    return found


# The two designs, through claims


def test_one_annotator_gets_all_four_questions_of_an_item():
    study = baseline_study(6, design=ONE_ANNOTATOR, batch_items=2)
    workers = crew_of(study, 5)  # two more than there are batches
    assert annotators.finish(workers) == 24
    answered = who_answered(study)
    assert {len(people) for people in answered.values()} == {4}
    assert {len(set(people)) for people in answered.values()} == {1}
    assert sorted(worker.judged for worker in workers) == [0, 0, 8, 8, 8]
    assert human_baseline.baselines(study)[0]["design"] == {"one": 6, "different": 0, "mixed": 0}


def test_everybody_answers_images_before_captions():
    study = baseline_study(4, design=ONE_ANNOTATOR, batch_items=2)
    annotators.finish(crew_of(study, 2))
    order = defaultdict(list)
    for person, position in Judgment.objects.order_by("pk").values_list(
        "lease__annotator__number", "lease__task__stage__position"
    ):
        order[person].append(position)
    assert list(order.values()) == [[1] * 4 + [2] * 4] * 2


@pytest.mark.parametrize("people", [3, 9])
def test_nobody_gets_two_questions_of_an_item(people):
    study = baseline_study(6, design=DIFFERENT_ANNOTATORS, batch_items=1)
    workers = crew_of(study, people)
    annotators.finish(workers)
    pairs = Counter((item, person) for item, given in who_answered(study).items() for person in given)
    assert max(pairs.values()) == 1 and len(pairs) >= min(24, people * 3)
    assert max(worker.judged for worker in workers) <= 4
    assert human_baseline.baselines(study)[0]["design"]["mixed"] == 0


def test_without_being_kept_apart_somebody_would():
    """The law above can fail: the same stages without `apart_from`."""
    plans = [StagePlan(plan.protocol, plan.name, settings={"strategy": "pool"}) for plan in baseline_plans()]
    study = studies.study(benchmark=annotators.benchmark_of_pairs(2), stages=plans)
    annotators.finish(crew_of(study, 3))
    assert max(Counter((i, p) for i, given in who_answered(study).items() for p in given).values()) > 1


def test_both_halves_ask_about_the_same_sample_of_what_was_kept():
    plans = [
        StagePlan("bivlc-choose", "choose", settings={"carries": "negative"}),
        *baseline_plans(source="choose", sample=6, batch_items=3, stratify=True),
    ]
    study = studies.study(benchmark=crowds.benchmark(12), stages=plans)
    person = studies.annotator(study)
    while studies.judgment(person, person.stage, "candidate-2"):
        pass
    assert not study.stages.get(name="i2t").tasks.exists()
    study_lifecycle.move_stage(stage=study.stages.get(name="choose"), to="closed", by="test")
    i2t, t2i = study.stages.get(name="i2t"), study.stages.get(name="t2i")
    items = set(i2t.tasks.values_list("item", flat=True))
    assert len(items) == 6 and items == set(t2i.tasks.values_list("item", flat=True))
    batches = [sorted(stage.tasks.values_list("item", "batch").distinct()) for stage in (i2t, t2i)]
    assert batches[0] == batches[1]
    assert "candidate-2" in t2i.tasks.first().options


def test_there_is_no_third_design():
    with pytest.raises(ValueError, match="no design"):
        baseline_plans(design="both")


# What the answers come to


def measures(study) -> dict[str, tuple[int, int]]:
    [found] = human_baseline.baselines(study)
    return {name: (of["right"], of["n"]) for name, of in found["measures"].items()}


def answer(study: Study, **given: str) -> None:
    """Somebody new answers the questions of the first item: `i_pos="right"`; what is not named stays open."""
    for stage in study.stages.select_related("study"):
        person = studies.annotator(study)
        for lease in annotators.held(person, stage):
            how = given.get(f"{stage.name[0]}_{lease.task.question[:3]}")
            if how is not None:
                act = {"right": right, "wrong": wrong}.get(how, lambda *_, how=how: how)
                words = {"reason": "No picture."} if how == "cannot_judge" else {}
                shown = read_answer.place_on_screen(lease, act(None, lease.task, stage.protocol))
                studies.submit(person, lease, shown, **words)


def pool(items=1, **settings) -> Study:
    plans = [StagePlan(plan.protocol, plan.name, settings=settings) for plan in baseline_plans()]
    return studies.study(benchmark=annotators.benchmark_of_pairs(items), stages=plans)


def test_all_right():
    study = pool()
    answer(study, i_pos="right", i_neg="right", t_pos="right", t_neg="right")
    assert set(measures(study).values()) == {(1, 1)} and len(measures(study)) == 7


@pytest.mark.parametrize("asked, name", list(zip(("i_pos", "i_neg", "t_pos", "t_neg"), QUESTIONS, strict=True)))
def test_each_question_has_its_place(asked, name):
    study = pool()
    answer(study, **{**dict.fromkeys(("i_pos", "i_neg", "t_pos", "t_neg"), "right"), asked: "wrong"})
    found = measures(study)
    assert [single for single in QUESTIONS if found[single] == (0, 1)] == [name]
    assert found["group"] == (0, 1) and found["i2t"] == (int(asked[0] == "t"), 1)


def test_cannot_judge_is_not_right():
    study = pool()
    answer(study, i_pos="right", i_neg="cannot_judge")
    assert measures(study)["i2t"] == (0, 1) and measures(study)["i_neg2t"] == (0, 1)


def test_what_is_not_answered_waits():
    study = pool()
    answer(study, i_pos="wrong", t_pos="right", t_neg="right")
    found = measures(study)
    assert found["i_pos2t"] == (0, 1) and found["i_neg2t"] == (0, 0)
    assert found["i2t"] == (0, 0) and found["group"] == (0, 0) and found["t2i"] == (1, 1)


def test_most_decide_and_a_tie_is_not_right():
    study = pool(overlap=2)
    answer(study, i_pos="right", i_neg="right")
    assert measures(study)["i_pos2t"] == (0, 0)
    answer(study, i_pos="wrong", i_neg="right")
    assert measures(study)["i_pos2t"] == (0, 1) and measures(study)["i_neg2t"] == (1, 1)
    most = pool(overlap=3)
    for how in ("right", "wrong", "right"):
        answer(most, i_pos=how)
    assert measures(most)["i_pos2t"] == (1, 1)


def test_annotators_are_scored_on_their_own_answers():
    study = baseline_study(8, design=ONE_ANNOTATOR, batch_items=4)
    annotators.finish([annotators.Worker(study, right, 1), annotators.Worker(study, wrong, 2)])
    [found] = human_baseline.baselines(study)
    rows = {row["annotator"]: row for row in found["annotators"]}
    assert [(row["answered"], row["right"]) for row in rows.values()] == [(16, 16), (16, 0)]
    assert rows["A-01"]["measures"]["group"]["share"] == 1 and rows["A-02"]["measures"]["group"]["share"] == 0
    assert found["measures"]["group"]["share"] == 0.5
    for row in found["measures"].values():  # one who is always right and one who never is say nothing of others
        assert row["over"] == "annotators" and row["effective"] < 1 and row["low"] < 0.05 < 0.95 < row["high"]
    for row in rows.values():
        group = row["measures"]["group"]
        assert (group["low"], group["high"]) == wilson(group["right"], 4) and "over" not in group


def test_of_one_annotator_alone_intervals_are_over_items():
    study = baseline_study(8, design=ONE_ANNOTATOR, batch_items=8)
    annotators.finish(crew_of(study, 1))
    [found] = human_baseline.baselines(study)
    types = [row["measures"] for row in found["by_type"] if row["items"] > 1]
    for row in (row for measures in (found["measures"], *types) for row in measures.values()):
        assert row["over"] == "items" and row["effective"] == row["n"] > 0
        assert (row["low"], row["high"]) == wilson(row["right"], row["n"])


def test_a_study_may_measure_twice_or_in_one_direction_or_not_at_all():
    plans = [StagePlan(plan.protocol, f"{plan.name}-{again}") for again in (1, 2) for plan in baseline_plans()]
    twice = studies.study(benchmark=annotators.benchmark_of_pairs(2), stages=plans)
    assert [[one["name"] for one in found["stages"]] for found in human_baseline.baselines(twice)] == [
        ["i2t-1", "t2i-1"],
        ["i2t-2", "t2i-2"],
    ]
    half = studies.study(benchmark=annotators.benchmark_of_pairs(2), stages=[StagePlan("bivlc-t2i")])
    [found] = human_baseline.baselines(half)
    assert found["questions"] == 4 and found["measures"]["i2t"]["reason"]
    assert human_baseline.baselines(studies.study()) == []


def test_types_add_up_and_it_takes_three_queries(django_assert_num_queries):
    study = baseline_study(6, batch_items=3)
    annotators.finish(crew_of(study, 2))
    with django_assert_num_queries(3):
        [found] = human_baseline.baselines(study)
    whole = [row for row in found["by_type"] if row["subtype"] is None]
    assert sum(row["items"] for row in whole) == 6 == found["items"]


# A real run: 72 items, 6 annotators of one accuracy, every answer independent of the others

ACCURACY, SEED, ITEMS = 0.93, 20240603, 72


def test_a_baseline_measures_the_accuracy_it_was_given():
    truth: dict[int, list[bool]] = defaultdict(list)  # of each item, whether each answer was right

    def sometimes(dice, task, protocol) -> str:
        is_right = dice.random() < ACCURACY
        truth[task.item_id].append(is_right)
        return (right if is_right else wrong)(dice, task, protocol)

    study = baseline_study(ITEMS, design=ONE_ANNOTATOR, batch_items=12, sample=ITEMS)
    workers = [annotators.Worker(study, sometimes, seed=f"{SEED}/{number}") for number in range(6)]
    assert annotators.finish(workers) == 4 * ITEMS
    [found] = human_baseline.baselines(study)
    assert (found["items"], found["questions"], found["answered"]) == (ITEMS, 4 * ITEMS, 4 * ITEMS)
    assert found["measures"]["group"]["right"] == sum(all(answers) for answers in truth.values())
    for name, power in (("i2t", 2), ("t2i", 2), ("group", 4), ("i_pos2t", 1), ("t_neg2i", 1)):
        row = found["measures"][name]
        assert row["n"] == ITEMS and row["low"] <= ACCURACY**power <= row["high"]
        assert row["over"] == "annotators" and row["effective"] <= ITEMS
        assert (row["low"], row["high"]) == wilson(row["share"] * row["effective"], row["effective"])
    assert [row["answered"] for row in found["annotators"]] == [48] * 6
    assert found["stages"][0]["direction"] == I2T
