"""VISLA's measures on items made by hand, and what must hold of any scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics.visla import FAMILY, IMAGES, ROLES, TEXTS
from benchmarks.predictions.kinds import VISLA
from tests.benchmarks.metrics.records import records_of

SIX = st.lists(st.integers(-3, 3), min_size=6, max_size=6)


def answered(texts, images=None, types=(), captions=()) -> list:
    """Records from similarities of texts and, if there are any, of images; `captions`: P1, P2 and N of every item."""
    names, rows = (TEXTS, texts) if images is None else ((*TEXTS, *IMAGES), np.hstack([texts, images]))
    return records_of(VISLA, names, rows, types, dict(zip(ROLES, captions, strict=False)))


def shares(items) -> dict:
    return {name: found.share for name, found in FAMILY.accuracies(items).items()}


def test_the_negative_must_come_last():
    texts = [[0.9, 0.5, 0.6], [0.7, 0.8, 0.6], [0.7, 0.6, 0.8], [0.4, 0.5, 0.6]]
    images = [[0.9, 0.8, 0.1], [0.9, 0.1, 0.5], [0.1, 0.9, 0.5], [0.1, 0.2, 0.5]]
    items = answered(texts, images)
    assert [item.t2t for item in items] == [True, False, False, False]
    assert shares(items) == {"t2t": 0.25, "t2t_p1_n": None, "t2t_p2_n": None, "i2t": 0.25, "p1_n": 0.5, "p2_n": 0.5}


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
    (item,) = answered([texts], captions=captions)
    assert (item.t2t_p1_n, item.t2t_p2_n) == halves
    assert item.t2t is all(halves)


def test_a_text_encoder_alone_has_no_figures_of_images():
    found = FAMILY.accuracies(answered([[0.9, 0.5, 0.6]]))
    assert found["t2t"].share == 1 and found["i2t"].share is None and found["p1_n"].reason


@given(st.lists(SIX, min_size=1, max_size=20))
def test_both_positives_are_right_no_more_often_than_either(rows):
    scores = np.array(rows, dtype=float)
    found = shares(answered(scores[:, :3], scores[:, 3:]))
    assert found["p1_n"] + found["p2_n"] - 1 - 1e-9 <= found["i2t"] <= min(found["p1_n"], found["p2_n"])
