"""ARO's measures against the paper's Table 2, and what must hold of any scores."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics.aro import (
    ATTRIBUTION,
    ORDER,
    RELATION,
    SPATIAL,
    VERBS,
    Answered,
    answered,
    groups,
    macro,
    ordered,
    overall,
    split,
)
from benchmarks.metrics.inputs import BadInput

# Table 2, CLIP: accuracy in percent, by relation.
SPATIAL_CLIP = {
    "above": 48, "at": 59, "behind": 56, "below": 56, "beneath": 80, "in": 63, "in front of": 54, "inside": 50,
    "on": 52, "on top of": 43, "to the left of": 49, "to the right of": 49, "under": 64,
}  # fmt: skip
VERBS_CLIP = {
    "carrying": 33, "covered by": 47, "covered in": 79, "covered with": 56, "covering": 39, "cutting": 75,
    "eating": 57, "feeding": 90, "grazing on": 10, "hanging on": 79, "holding": 58, "leaning on": 67,
    "looking at": 84, "lying in": 47, "lying on": 60, "parked on": 67, "reflected in": 64, "resting on": 38,
    "riding": 71, "sitting at": 62, "sitting in": 57, "sitting on": 58, "sitting on top of": 50, "standing by": 67,
    "standing in": 73, "standing on": 60, "surrounded by": 64, "using": 84, "walking in": 70, "walking on": 79,
    "watching": 45, "wearing": 47,
}  # fmt: skip


def relations(percents: dict[str, int]) -> list[Answered]:
    return [
        Answered(caption=place < percent, type=RELATION, subtype=name)
        for name, percent in percents.items()
        for place in range(100)
    ]


def test_clips_rows_of_table_2_give_the_papers_means():
    assert (SPATIAL_CLIP.keys(), VERBS_CLIP.keys()) == (SPATIAL, VERBS)
    items = relations(SPATIAL_CLIP | VERBS_CLIP)
    found = split(items)
    assert (round(found["spatial"].share, 2), round(found["verbs"].share, 2)) == (0.56, 0.61)
    assert round(macro(items, RELATION).share, 2) == 0.59
    assert (found["spatial"].groups, found["verbs"].groups, macro(items, RELATION).groups) == (13, 32, 45)


def test_a_relation_that_the_paper_does_not_name_is_in_neither_half():
    items = relations({"above": 100, "wearing": 100, "juggling": 0})
    assert [part.share for part in split(items).values()] == [1, 1]
    assert macro(items, RELATION).share == pytest.approx(2 / 3)


def test_macro_and_overall_differ_where_sizes_do():
    items = answered([[2, 1]] * 9 + [[1, 2]], [ATTRIBUTION] * 10, ["black vs white"] * 9 + ["old vs open"])
    assert (overall(items, ATTRIBUTION).share, macro(items, ATTRIBUTION).share) == (0.9, 0.5)
    assert [(name, found.n) for name, found in groups(items, ATTRIBUTION).items()] == [
        ("black vs white", 9),
        ("old vs open", 1),
    ]
    assert overall(items, RELATION).share is None


def test_order_is_one_of_five_and_a_tie_with_any_is_not_right():
    items = ordered([[5, 1, 2, 3, 4], [5, 5, 1, 1, 1], [1, 2, 3, 4, 5]], ["coco"] * 2 + ["flickr30k"])
    assert [item.order for item in items] == [True, False, False]
    assert overall(items, ORDER).chance == 0.2
    assert {name: found.right for name, found in groups(items, ORDER).items()} == {"coco": 1, "flickr30k": 0}


def test_chance_is_what_random_scores_come_to():
    items = ordered(np.random.default_rng(5).random((40_000, 5)))
    assert overall(items, ORDER).share == pytest.approx(0.2, abs=0.01)


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=1, max_size=20),
    st.permutations(range(1, 5)),
)
def test_only_the_order_of_scores_matters_not_that_of_the_permutations(rows, places):
    scores = np.array(rows, dtype=float)
    items = ordered(scores)
    assert ordered(scores**3 * 2) == items == ordered(scores[:, [0, *places]])


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ([[1, 2, 3, 4]], "shape (n, 5)"),
        ([[1, 2, 3, 4, float("nan")]], "s(negative-3) is NaN"),
        ({"s(positive)": [1]}, "s(negative-0) is missing"),
    ],
)
def test_order_tasks_are_refused_in_a_sentence(scores, says):
    with pytest.raises(BadInput, match=re.escape(says)):
        ordered(scores)


def test_relations_are_refused_in_a_sentence():
    with pytest.raises(BadInput, match="'a' appears twice"):
        answered([[1, 2]] * 2, keys=["a", "a"])
