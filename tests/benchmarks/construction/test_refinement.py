"""Adversarial refinement: borders, symmetry, and text-only models brought to chance."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.construction.refinement import TIED, UNMATCHED, accuracy, cell, refine

GAPS = st.lists(st.tuples(*[st.floats(-1, 1) | st.sampled_from([-1.0, -0.02, 0.0, 0.02, 1.0])] * 2), max_size=60)


def scores(right: float, count: int, seed: int) -> list[tuple[float, float]]:
    """Gaps of two models that agree more than chance and prefer the positive caption in that share of items."""
    rng = Random(seed)
    found = []
    for _ in range(count):
        common = rng.random()
        signs = [1 if (common if rng.random() < 0.5 else rng.random()) < right else -1 for _ in range(2)]
        found.append(tuple(sign * rng.betavariate(1, 12) for sign in signs))
    return found


@pytest.mark.parametrize("right", [0.60, 0.70, 0.80, 0.90, 0.95])
def test_models_that_need_no_image_are_brought_to_chance(right):
    gaps = scores(right, 8000, seed=7)
    found = refine(gaps, seed=1)
    assert found.before == pytest.approx((100 * right, 100 * right), abs=1.5)
    assert found.after == pytest.approx((50, 50), abs=1)
    assert len(found.kept) > 100
    assert len(found.kept) + len(found.dropped) == 8000
    assert found.reasons == {UNMATCHED: len(found.dropped)}


def test_a_seed_gives_one_set():
    gaps = scores(0.8, 3000, seed=2)
    assert refine(gaps, seed=5) == refine(gaps, seed=5)
    assert refine(gaps, seed=5).kept != refine(gaps, seed=6).kept
    assert len(refine(gaps, seed=5).kept) == len(refine(gaps, seed=6).kept)


@given(GAPS, st.integers())
def test_mirrored_cells_keep_the_same_number(gaps, seed):
    found = refine(gaps, seed)
    kept = Counter((cell(gaps[place][0]), cell(gaps[place][1])) for place in found.kept)
    had = Counter((cell(first), cell(second)) for first, second in gaps)
    for where in had:
        mirror = -where[0], -where[1]
        assert kept[where] == (0 if 0 in where else min(had[where], had[mirror]))
    assert accuracy([gaps[place] for place in found.kept]) == ((50, 50) if found.kept else (None, None))
    assert sorted([*found.kept, *(place for place, _ in found.dropped)]) == list(range(len(gaps)))


def test_borders_belong_to_the_cell_nearer_to_0():
    assert [cell(gap) for gap in (0.001, 0.02, 0.021, 0.04, 1)] == [1, 1, 2, 2, 50]
    assert [cell(gap) for gap in (-0.001, -0.02, -0.021, -1)] == [-1, -1, -2, -50]
    assert cell(0.0) == cell(-0.0) == 0


def test_gaps_of_decimal_scores_lie_where_their_decimals_say():
    """In binary, 0.50 - 0.48 is a little more than 0.02, and 0.1 + 0.2 - 0.3 is more than 0."""
    for first in range(101):
        for second in range(101):
            hundredths = first - second
            expected = (abs(hundredths) + 1) // 2 * (1 if hundredths > 0 else -1)
            assert cell(first / 100 - second / 100) == expected
    assert refine([(0.1 + 0.2 - 0.3, 0.5)], seed=1).reasons == {"a gap of exactly 0": 1}


def test_a_gap_of_0_has_no_mirror():
    found = refine([(0.0, 0.5), (0.0, -0.5), (0.1, 0.0), (0.3, 0.3), (-0.3, -0.3), (0.0, 0.0)], seed=0)
    assert found.kept == [3, 4]
    assert found.reasons == {TIED: 4}


def test_refused():
    with pytest.raises(ValueError, match="not between -1 and 1"):
        refine([(1.5, 0)], seed=0)
    with pytest.raises(ValueError, match="not between -1 and 1"):
        refine([(float("nan"), 0)], seed=0)


@pytest.mark.parametrize(
    ("gaps", "before", "note"),
    [
        ([], (None, None), "no rows were read"),
        ([(0.3, 0.3)], (100, 100), "no rows stay"),
        ([(0.0, 0.3)], (0, 100), "no rows stay"),
    ],
)
def test_the_accuracy_of_nothing_is_undefined(gaps, before, note):
    found = refine(gaps, seed=0)
    assert (found.before, found.after, found.note) == (before, (None, None), note)


def test_the_accuracy_of_something_needs_no_words():
    assert refine([(0.3, 0.3), (-0.3, -0.3)], seed=0).note == ""
