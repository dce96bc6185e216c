"""Scene graphs as GQA writes them: which pairs are mined, the crop around both, and what a broken one says."""

import json

import pytest

from benchmarks.construction import kinds, scene_graphs
from benchmarks.construction.kinds import RowsToConstruct
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import Row

CAT = {"name": "cat", "x": 10, "y": 20, "w": 50, "h": 25, "attributes": ["black", "small"], "relations": []}
GRASS = {"name": "grass", "x": -5, "y": 40, "w": 210, "h": 60, "attributes": ["green", "small"], "relations": []}
BIRD = {"name": "bird", "x": 0, "y": 0, "w": 49, "h": 25, "attributes": ["red"], "relations": []}  # too narrow
CAT["relations"] = [{"name": name, "object": "2"} for name in ("eating", "near")] + [{"name": "by", "object": "3"}]
GRASS["relations"] = [{"name": "under", "object": "4"}, {"name": "under", "object": "1"}]
SCENE = {
    "image": "7.jpg",
    "width": 200,
    "height": 100,
    "objects": {"1": CAT, "2": GRASS, "3": BIRD, "4": GRASS | {"relations": []}},
}


def made(kind, scene: dict):
    log = ProblemLog()
    return kind(RowsToConstruct("scenes.jsonl", [Row(1, json.loads(json.dumps(scene)))], log)), log


def test_relations_between_large_objects_with_the_box_around_both():
    """ARO App. A.1: at least a quarter of both sides, other categories, nothing symmetric, the smallest box."""
    found, log = made(kinds.aro_relation, SCENE)
    texts = [[caption.text for caption in item.captions] for item in found.items]
    assert texts[0] == ["the cat is eating the grass", "the grass is eating the cat"]
    assert texts[1] == ["the grass is under the cat", "the cat is under the grass"] and len(texts) == 2
    assert [(item.key, item.subtype, item.images[0].crop) for item in found.items] == [
        ("7.jpg-1-eating-2", "eating", (0, 20, 200, 80)), ("7.jpg-2-under-1", "under", (0, 20, 200, 80))
    ]  # fmt: skip
    assert [reason for _, reason in found.dropped] == ["symmetric relation: near", "both objects are of one kind"]
    assert log.count == 0


def test_attributes_that_only_one_of_two_objects_has():
    scene = SCENE | {"objects": {"1": CAT, "2": GRASS, "3": BIRD}}
    found, _ = made(kinds.aro_attribution, scene)
    [item] = found.items  # both are small, and the bird is
    assert [one.text for one in item.captions] == [
        "the black cat and the green grass",
        "the green cat and the black grass",
    ]
    assert (item.subtype, item.meta) == ("black vs green", {"attributes": ["black", "green"]})


@pytest.mark.parametrize(("width", "kept"), [(50, True), (49, False)])
def test_an_object_of_exactly_a_quarter_is_large_enough(width, kept):
    objects = {"1": CAT | {"w": width}, "2": GRASS}
    assert bool(list(scene_graphs.attributions(SCENE | {"objects": objects}))) == kept


@pytest.mark.parametrize(
    ("wrong", "column"),
    [({"objects": []}, "objects"), ({"width": None}, "objects"), ({"objects": {"1": {"w": 99}}}, "objects"),
     ({"image": ""}, "image")],
)  # fmt: skip
def test_a_broken_scene_is_a_problem_with_its_row(wrong, column):
    _, log = made(kinds.aro_relation, SCENE | wrong)
    assert [(problem.row, problem.column) for problem in log.problems] == [(1, column)]
