"""A stage that asks about some of the benchmark's own items: drawn by the seed, the same in stages with one seed."""

from collections import Counter

import pytest

from annotation.designs.plan import StagePlan
from annotation.figures import funnel
from annotation.pipeline import promotion
from tests.builders import crowds, studies

pytestmark = pytest.mark.django_db


def two(items=30, **settings):
    plans = [StagePlan("bivlc-choose", name, settings=settings) for name in ("one", "two")]
    return studies.study(benchmark=crowds.benchmark(items), stages=plans)


def drawn(study, name="one"):
    return set(study.stages.get(name=name).tasks.values_list("item", flat=True))


def test_a_first_stage_asks_about_its_sample_alone():
    study = two(sample=7)
    assert len(drawn(study)) == 7
    assert drawn(study) == drawn(study, "two")


def test_another_seed_draws_others():
    assert drawn(two(sample=7, seed=2)) != drawn(two(sample=7, seed=3))


def test_a_stratified_sample_has_each_type_its_share():
    study = two(sample=12, stratify=True)
    kinds = Counter(study.stages.get(name="one").tasks.values_list("item__type", "item__subtype"))
    assert set(kinds.values()) == {2} and len(kinds) == 6


def test_a_sample_that_is_full_takes_in_nothing():
    study = two(sample=7)
    before = drawn(study)
    studies.item(study.benchmark)
    assert promotion.take_in(study) == 0
    assert drawn(study) == before


def test_a_sample_that_lacks_items_is_filled_up():
    study = two(items=5, sample=7)
    before = drawn(study)
    for _ in range(4):
        studies.item(study.benchmark)
    assert promotion.take_in(study) == 4  # two items in each stage
    assert drawn(study) == drawn(study, "two") and before < drawn(study) and len(drawn(study)) == 7


def types(study):
    return Counter(study.stages.get(name="one").tasks.values_list("item__type", flat=True))


def test_a_sample_of_each_type_has_so_many_of_every_one():
    assert types(two(items=30, sample=4, sample_each=True)) == {"add": 4, "replace": 4, "swap": 4}


def test_a_sample_of_each_type_can_keep_the_shares_of_subtypes():
    study = two(items=35, sample=7, sample_each=True, stratify=True)  # 5 of each subtype of replace, swap, add
    kinds = Counter(study.stages.get(name="one").tasks.values_list("item__type", "item__subtype"))
    assert max(kinds[pair] for pair in kinds if pair[0] == "replace") == 3


def test_a_type_with_fewer_items_gives_all_and_is_filled_up():
    study = two(items=4, sample=2, sample_each=True)
    before = drawn(study)
    short = types(study)
    assert max(short.values()) == 2 and min(short.values()) == 1
    for place in range(4, 16):
        studies.item(study.benchmark, type=("add", "replace", "swap")[place % 3])
    promotion.take_in(study)
    assert types(study) == {"add": 2, "replace": 2, "swap": 2} and before < drawn(study)


def test_what_is_not_drawn_of_a_full_type_is_left_out_in_the_funnel():
    study = two(items=30, sample=4, sample_each=True)
    counted = funnel.funnel(study)
    assert (counted["open"], counted["not_asked_in"][0]["reason"], counted["not_asked_in"][0]["items"]) == (
        12,
        "not_sampled",
        18,
    )
