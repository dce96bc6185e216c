"""Recall on tables made by hand, against sorting, and what must hold of any scores."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks.metrics.retrieval import BadInput, by_type, queries, recalls

# Two images, three captions; the first image has two of them.
OWN = [0, 0, 1]
SQUARES = arrays(float, (7, 7), elements=st.integers(0, 4).map(float))


def shares(scores, own) -> dict:
    return {name: found.share for name, found in recalls(queries(scores, own)).items()}


def test_one_of_its_captions_in_the_first_place_is_enough():
    found = recalls(queries([[0.1, 0.9, 0.8], [0.3, 0.2, 0.4]], OWN))
    assert {name: (of.right, of.n) for name, of in found.items()} == {
        "i2t_r1": (2, 2), "i2t_r5": (2, 2), "t2i_r1": (1, 3), "t2i_r5": (3, 3),
    }  # fmt: skip


def test_own_captions_do_not_stand_in_one_anothers_way_and_wrong_ones_that_are_level_do():
    assert [query.before for query in queries([[0.9, 0.9, 0.1], [0.5, 0.1, 0.5]], OWN)] == [0, 1, 0, 0, 0]


def test_chance_is_what_random_scores_come_to():
    rng = np.random.default_rng(3)
    own = np.repeat(np.arange(20), 3)
    pooled = [query for _ in range(300) for query in queries(rng.random((20, 60)), own)]
    for found in recalls(pooled).values():
        assert found.share == pytest.approx(found.chance, abs=0.015)


def test_types_are_those_of_the_image():
    found = by_type(queries(np.eye(2)[:, OWN], OWN, ["indoor", "outdoor"]))
    assert [(g.type, g.subtype, g.items) for g in found] == [
        ("indoor", None, 3), ("indoor", "", 3), ("outdoor", None, 2), ("outdoor", "", 2),
    ]  # fmt: skip


@given(SQUARES, st.lists(st.integers(0, 6), min_size=0, max_size=4))
def test_it_is_what_a_sorted_list_says(square, more):
    """Wrong candidates first where scores are level: the list that is worst for the model."""
    own = np.array([*range(7), *more])
    scores = square[:, [*range(7), *more]]
    for query, image in zip(queries(scores, own)[:7], range(7), strict=True):
        listed = sorted(range(len(own)), key=lambda caption: (-scores[image, caption], own[caption] == image))
        wrong = [own[caption] != image for caption in listed]
        assert query.before == wrong.index(False)


@given(SQUARES, st.permutations(range(7)))
def test_order_of_scores_alone_matters_and_not_that_of_rows_and_columns(scores, places):
    own, places = np.arange(7), list(places)
    found = shares(scores, own)
    assert shares(scores**3 - 1, own) == found == shares(scores[places][:, places], own)
    turned = shares(scores.T, own)
    assert [turned[name] for name in ("t2i_r1", "t2i_r5", "i2t_r1", "i2t_r5")] == list(found.values())


def test_blocks_leave_no_seam(monkeypatch):
    scores = np.random.default_rng(1).random((11, 11))
    whole = queries(scores, range(11))
    monkeypatch.setattr("benchmarks.metrics.retrieval.BLOCK", 4)
    assert queries(scores, range(11)) == whole


@pytest.mark.parametrize(
    ("scores", "own", "says"),
    [
        ([0.1, 0.2], [0, 0], "images by captions"),
        ([[0.1, float("nan")]], [0, 0], "NaN at place 0, 1"),
        ([[0.1, 0.2]], [0], "for each of the 2 captions"),
        ([[0.1, 0.2]], [0, 1], "a place without an image"),
        ([[0.1, 0.2], [0.1, 0.2]], [0, 0], "image at place 1 has no caption"),
        ([[0.1, 0.2]], [0.0, 0.0], "a whole number"),
    ],
)
def test_what_cannot_be_computed_on_is_refused_in_a_sentence(scores, own, says):
    with pytest.raises(BadInput, match=re.escape(says)):
        queries(scores, own)
