"""Means of shares and their interval, against Wilson's and against simulated truth."""

import numpy as np
import pytest

from benchmarks.metrics.base import Figure, figure, mean, wilson


def share(right: int, n: int) -> Figure:
    return figure([True] * right + [False] * (n - right), 0.5)


def test_what_was_not_answered_is_left_out():
    found = figure([True, None, False, None], 0.25)
    assert (found.right, found.n, found.share, found.chance) == (1, 2, 0.5, 0.25)


def test_no_answers_no_share_and_a_reason():
    found = figure([None], 0.5)
    assert (found.n, found.share, found.low, found.high) == (0, None, None, None) and found.reason


def test_each_group_counts_the_same_and_one_without_items_not_at_all():
    found = mean([share(9, 10), share(100, 1000), share(0, 0)], 0.5)
    assert (found.share, found.groups, found.n) == (pytest.approx(0.5), 2, 1010)


def test_of_one_group_the_interval_is_wilsons():
    found = mean([share(7, 9)], 0.5)
    assert (found.low, found.high) == pytest.approx(wilson(7, 9), abs=1e-12)


def test_four_groups_of_a_kind_halve_the_width():
    one, four = share(30, 100), mean([share(30, 100)] * 4, 0.5)
    assert four.share - four.low == pytest.approx((one.share - one.low) / 2)
    assert four.high - four.share == pytest.approx((one.high - one.share) / 2)


def test_groups_that_are_all_right_still_leave_a_width():
    found = mean([share(10, 10), share(12, 12)], 0.5)
    assert found.share == found.high == 1 and 0.7 < found.low < 0.95


def test_no_group_no_mean():
    assert mean([share(0, 0)], 0.5).share is None and mean([], 0.5).reason


def test_the_interval_of_a_mean_covers_the_truth_about_95_times_in_100():
    """600 simulated benchmarks of 12 groups, of 10 to 500 items, with accuracies from 0.3 to 1: a share of 600 has a
    standard error of 0.9 points, so 92 to 98% are three of them."""
    rng = np.random.default_rng(20260712)
    sizes, truths = rng.integers(10, 500, 12), np.linspace(0.3, 1, 12)
    covered = 0
    for _ in range(600):
        found = mean(
            [share(int(right), int(n)) for right, n in zip(rng.binomial(sizes, truths), sizes, strict=True)], 0.5
        )
        covered += found.low <= truths.mean() <= found.high
    assert 0.92 <= covered / 600 <= 0.98
