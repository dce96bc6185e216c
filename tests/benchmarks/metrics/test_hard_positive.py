"""The measures of the Hard Positive Truth on all orders of three captions, and what must hold of any scores."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics.hard_positive import FAMILY, MEASURES, SCORES, Answered, accuracies, means_of_subtypes
from benchmarks.predictions.kinds import HARD_POSITIVE
from tests.benchmarks.metrics.records import records_of

ROWS = st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=20)


def answered(rows) -> list:
    return records_of(HARD_POSITIVE, SCORES, rows)


def shares(items) -> dict:
    return {name: found.share for name, found in accuracies(items).items()}


def test_the_six_orders_come_to_chance():
    items = answered(list(itertools.permutations([1.0, 2.0, 3.0])))
    assert shares(items) == {"original": 0.5, "augmented": pytest.approx(1 / 3), "brittleness": pytest.approx(1 / 3)}
    assert shares(items) == pytest.approx({name: measure.chance for name, measure in MEASURES.items()})


@pytest.mark.parametrize(
    ("c", "cp", "cn", "original", "augmented", "brittle"),
    [
        (3, 2, 1, True, True, False),
        (2, 3, 1, True, True, False),
        (3, 1, 2, True, False, True),
        (1, 3, 2, False, False, True),
        (1, 2, 3, False, False, False),
        (2, 2, 1, True, True, False),  # a tie of the two positives is asked by nothing
        (1, 1, 1, False, False, False),
        (2, 1, 1, True, False, False),  # the hard positive is level with the negative: neither above nor below it
        (1, 2, 1, False, False, False),
        (1, 1, 2, False, False, False),
    ],
)
def test_one_item(c, cp, cn, original, augmented, brittle):
    assert shares(answered([[c, cp, cn]])) == {"original": original, "augmented": augmented, "brittleness": brittle}


@given(ROWS)
def test_the_two_positives_change_places_without_a_trace_but_in_the_original(rows):
    scores = np.array(rows, dtype=float)
    one, other = shares(answered(scores)), shares(answered(scores[:, [1, 0, 2]]))
    assert (one["augmented"], one["brittleness"]) == (other["augmented"], other["brittleness"])
    one_above = np.mean((scores[:, 0] > scores[:, 2]) != (scores[:, 1] > scores[:, 2]))
    assert one["original"] + other["original"] == pytest.approx(2 * one["augmented"] + one_above)
    assert one["brittleness"] == np.mean(np.prod(np.sign(scores[:, :2] - scores[:, 2:]), axis=1) == -1)


def test_replace_is_the_mean_of_its_two_sets():
    items = [Answered(True, True, "replace", "att")] * 3 + [Answered(False, True, "replace", "rel")]
    assert FAMILY.by_type(items)[0].measures["original"].share == 0.75
    found = means_of_subtypes(FAMILY.by_type(items))["replace"]
    assert (found["original"].share, found["augmented"].share, found["brittleness"].share) == (0.5, 0.5, 0.5)
    assert (found["original"].groups, found["original"].n) == (2, 4)
