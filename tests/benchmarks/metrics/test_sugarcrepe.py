"""SugarCrepe's measures on items made by hand, and what must hold of any scores."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics.inputs import BadInput
from benchmarks.metrics.sugarcrepe import FAMILY, Answered, answered, by_type

ITEMS = [Answered(True, "swap", "obj")] * 3 + [Answered(False, "add", "att"), Answered(None, "add", "obj")]


def right(scores) -> int:
    return FAMILY.accuracy(answered(scores), "accuracy").right


def test_types_come_with_their_subtypes():
    assert [(g.type, g.subtype, g.items) for g in by_type(ITEMS)] == [
        ("add", None, 2), ("add", "att", 1), ("add", "obj", 1), ("swap", None, 3), ("swap", "obj", 3),
    ]  # fmt: skip


def test_a_tie_is_not_right():
    assert [item.caption for item in answered([[2, 1], [1, 1], [1, 2]])] == [True, False, False]


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=30))
def test_order_alone_matters_and_changed_roles_turn_it_round(rows):
    scores = np.array(rows, dtype=float)
    found = right(scores)
    assert right(scores**3 - 7) == found
    ties = sum(one == other for one, other in rows)
    assert right(scores[:, ::-1]) == len(rows) - found - ties


@pytest.mark.parametrize(
    ("scores", "given", "says"),
    [
        ([[1, 2, 3]], {}, "shape (n, 2)"),
        ([[1, float("nan")]], {}, "s(negative) is NaN"),
        ({"s(positive)": [1]}, {}, "s(negative) is missing"),
        ([[1, 2]] * 2, {"keys": ["a", "a"]}, "'a' appears twice"),
    ],
)
def test_what_cannot_be_computed_on_is_refused_in_a_sentence(scores, given, says):
    with pytest.raises(BadInput, match=re.escape(says)):
        answered(scores, **given)
