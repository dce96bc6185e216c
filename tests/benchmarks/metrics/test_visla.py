"""VISLA's measures on items made by hand, and what must hold of any scores."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics.inputs import BadInput
from benchmarks.metrics.visla import IMAGES, MEASURES, TEXTS, Answered, accuracies, answered, by_type

SIX = st.lists(st.integers(-3, 3), min_size=6, max_size=6)


def shares(items) -> dict:
    return {name: found.share for name, found in accuracies(items).items()}


def test_the_negative_must_come_last():
    texts = [[0.9, 0.5, 0.6], [0.7, 0.8, 0.6], [0.7, 0.6, 0.8], [0.4, 0.5, 0.6]]
    images = [[0.9, 0.8, 0.1], [0.9, 0.1, 0.5], [0.1, 0.9, 0.5], [0.1, 0.2, 0.5]]
    items = answered(texts, images)
    assert [item.t2t for item in items] == [True, False, False, False]
    assert shares(items) == {
        "t2t": 0.25, "t2t_p1_n": None, "t2t_p2_n": None, "i2t": 0.25, "p1_n": 0.5, "p2_n": 0.5,
    }  # fmt: skip


CUP, BOOKS, NEGATIVE = "A cup on two books.", "Two books under a cup.", "A cup on three books."


@pytest.mark.parametrize(
    ("captions", "texts", "halves"),
    [
        ((CUP, BOOKS, NEGATIVE), [0.6, 0.8, 0.1], (True, False)),  # given BOOKS, CUP is above N; given CUP, N is first
        ((BOOKS, CUP, NEGATIVE), [0.6, 0.1, 0.8], (True, False)),  # the same, the positives in the other order
        ((BOOKS, CUP, NEGATIVE), [0.6, 0.8, 0.1], (False, True)),
        ((CUP, CUP, NEGATIVE), [0.6, 0.8, 0.1], (True, False)),  # equally far: as they come
        ((CUP, BOOKS, NEGATIVE), [0.6, 0.6, 0.1], (True, False)),  # a tie is not right
    ],
)
def test_halves_of_t2t_begin_with_the_positive_that_is_written_like_the_negative(captions, texts, halves):
    (item,) = answered([texts], captions=[captions])
    assert (item.t2t_p1_n, item.t2t_p2_n) == halves
    assert item.t2t is all(halves)


def test_ties_are_not_right():
    assert answered([[0.5, 0.5, 0.1]], [[0.5, 0.9, 0.5]]) == [Answered(False, False, True)]


def test_a_text_encoder_alone_has_no_figures_of_images():
    found = accuracies(answered([[0.9, 0.5, 0.6]]))
    assert found["t2t"].share == 1 and found["i2t"].share is None and found["p1_n"].reason


def test_types_come_apart():
    items = answered([[0.9, 0.1, 0.1], [0.1, 0.9, 0.1]], types=["generic", "spatial"])
    assert [(g.type, g.subtype, g.measures["t2t"].share) for g in by_type(items)] == [
        ("generic", None, 1), ("generic", "", 1), ("spatial", None, 0), ("spatial", "", 0),
    ]  # fmt: skip


def test_chance_is_what_random_scores_come_to():
    rng = np.random.default_rng(5)
    captions = [(CUP, BOOKS, NEGATIVE)] * 10_000
    found = accuracies(answered(rng.random((10_000, 3)), rng.random((10_000, 3)), captions=captions))
    for name, measure in MEASURES.items():
        assert found[name].share == pytest.approx(measure.chance, abs=0.015)


@given(st.lists(SIX, min_size=1, max_size=20))
def test_only_the_order_of_scores_matters_and_the_two_positives_are_alike(rows):
    scores = np.array(rows, dtype=float)
    texts, images = scores[:, :3], scores[:, 3:]
    items = answered(texts, images)
    assert answered(texts**3 * 2 + 1, images**3 * 2 + 1) == items
    found, other = shares(items), shares(answered(texts[:, [0, 2, 1]], images[:, [1, 0, 2]]))
    assert (found["t2t"], found["i2t"]) == (other["t2t"], other["i2t"])
    assert (found["p1_n"], found["p2_n"]) == (other["p2_n"], other["p1_n"])


@given(st.lists(SIX, min_size=1, max_size=20))
def test_both_positives_are_right_no_more_often_than_either(rows):
    scores = np.array(rows, dtype=float)
    found = shares(answered(scores[:, :3], scores[:, 3:]))
    assert found["p1_n"] + found["p2_n"] - 1 - 1e-9 <= found["i2t"] <= min(found["p1_n"], found["p2_n"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"texts": [[0.1, 0.2]]}, "shape (n, 3)"),
        ({"texts": [[0.1, 0.2, float("nan")]]}, "s(p2,n) is NaN"),
        ({"images": {name: [1] for name in IMAGES[:2]}}, "s(i,n) is missing"),
        ({"texts": {name: [1] for name in TEXTS}, "images": [[1, 2, 3], [1, 2, 3]]}, "the lengths differ"),
        ({"texts": [[1, 2, 3]] * 2, "keys": ["a", "a"]}, "'a' appears twice"),
        ({"texts": [[1, 2, 3]] * 2, "captions": [("a", "b", "c")]}, "1 captions for 2 items"),
    ],
)
def test_what_cannot_be_computed_on_is_refused_in_a_sentence(given, says):
    with pytest.raises(BadInput, match=re.escape(says)):
        answered(**given)
