"""ARO's order tasks, and what must hold of any scores; its other figures: predictions/test_evaluators.py."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics.aro import ORDER, answered, groups, ordered, overall
from benchmarks.metrics.inputs import BadInput


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
