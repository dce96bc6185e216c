"""Studies of a part of a benchmark: which items they have, now and after a later import, and what exports say of it."""

import json

import pytest

from annotation.designs.presets import single_stage
from annotation.exports.export import export_split
from annotation.figures.funnel import funnel
from annotation.pipeline.part import items_in
from annotation.pipeline.promotion import take_in
from annotation.studies.lifecycle import CannotCreate, create_study
from benchmarks.models import Benchmark, Caption, Item, ItemImage
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    """Items 0 to 5: the even ones are swaps, the first three have a second picture, and 1 and 4 a model."""
    made = studies.benchmark(items=6, candidates=0)
    for number, item in enumerate(made.items.order_by("position")):
        Item.objects.filter(pk=item.pk).update(key=f"k{number}", type="add" if number % 2 else "swap", subtype="obj")
        if number < 3:
            item.item_images.create(image=studies.image(), role="scene", position=0, source_name="n")
        if number in (1, 4):
            Caption.objects.filter(item=item, role="negative").update(attributes={"model": "m1", "step": 3})
    return made


def study(benchmark: Benchmark, part: dict, **given):
    plans = single_stage("verify").stages
    return create_study(name=f"S {part}", benchmark=benchmark, stages=plans, by="test", part=part, **given)


def keys(study) -> list[str]:
    return sorted(set(study.stages.get().tasks.values_list("item__key", flat=True)))


@pytest.mark.parametrize("part, has", [
    ({}, "012345"),
    ({"types": ["swap"]}, "024"),
    ({"types": ["swap/att", "add/obj"]}, "135"),
    ({"roles": {"images.scene": "1"}}, "012"),
    ({"roles": {"images.scene": "0"}}, "345"),
    ({"roles": {"images.scene": "1..", "texts.negative": "1"}, "types": ["swap"]}, "02"),
    ({"attributes": {"model": ["m1", "m2"]}}, "14"),
    ({"attributes": {"model": ["m1"], "step": ["3"]}, "types": ["add"]}, "1"),
    ({"keys": ["k5", "k0"]}, "05"),
])  # fmt: skip
def test_only_items_of_the_part_are_asked_about(benchmark, part, has):
    made = study(benchmark, part)
    assert keys(made) == [f"k{one}" for one in has]
    assert funnel(made)["imported"] == len(has)


@pytest.mark.parametrize("part, says", [
    ({"types": ["replace"]}, "The part of the benchmark has no items."),
    ({"keys": ["k1", "gone"]}, "does not have gone"),
])  # fmt: skip
def test_a_part_without_items_is_refused(benchmark, part, says):
    with pytest.raises(CannotCreate, match=says):
        study(benchmark, part)


def test_a_sample_is_drawn_by_the_seed_from_what_the_filters_let_through(benchmark):
    one, same, other = (
        keys(study(benchmark, {"types": ["swap"], "sample": 2, "n": n}, seed=seed)) for n, seed in enumerate((1, 1, 5))
    )
    assert one == same and len(one) == 2 and set(one) < {"k0", "k2", "k4"}
    every = {tuple(keys(study(benchmark, {"sample": 2, "m": seed}, seed=seed))) for seed in range(6)}
    assert len(every) > 1 and len(other) == 2


def test_later_items_follow_the_filter_and_a_sample_stays(benchmark):
    filtered, sample = study(benchmark, {"types": ["swap"]}), study(benchmark, {"sample": 3})
    before = keys(sample)
    for number, kind in ((6, "swap"), (7, "add")):
        item = Item.objects.create(benchmark=benchmark, key=f"k{number}", position=100 + number, type=kind)
        Caption.objects.create(item=item, role="positive", text="A cup.")
        ItemImage.objects.create(item=item, image=studies.image(), role="positive", source_name="n")
    assert (take_in(filtered), take_in(sample)) == (1, 0)
    assert keys(filtered) == ["k0", "k2", "k4", "k6"] and keys(sample) == before
    assert funnel(sample)["imported"] == 3
    assert items_in(benchmark.items.all(), sample.part).count() == 3


@pytest.mark.django_db(transaction=True)
def test_an_export_has_the_part_and_counts_its_items(benchmark, tmp_path):
    made = study(benchmark, {"types": ["swap"], "sample": 2}, seed=9)
    export_split(study=made, out=tmp_path / "out", by="test", embed_images=False)
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["study"]["part"] == {"types": ["swap"], "sample": 2, "seed": 9, "until": made.part["until"]}
    assert manifest["counts"]["imported"] == sum(row["imported"] for row in manifest["items_by_type"]) == 2
    words = "items of the type swapped; 2 of them, drawn with seed 9"
    assert words in (tmp_path / "out/README.md").read_text()
