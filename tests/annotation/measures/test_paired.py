"""Two models item by item, against scipy, published values and a simulation."""

import numpy as np
import pytest
from scipy.stats import binomtest

from annotation.measures import paired
from annotation.measures.paired import compare, mcnemar


def models(both: int, first: int, second: int, neither: int) -> list[dict[int, bool]]:
    """So many items that both have right, only the first, only the second, and neither."""
    said = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
    return [{item: bool(one[side]) for item, one in enumerate(said)} for side in (0, 1)]


@pytest.mark.parametrize(("more", "less"), [(0, 0), (1, 0), (5, 0), (4, 16), (12, 12), (60, 41), (1200, 1100)])
def test_mcnemar_is_the_binomial_test(more, less):
    expected = binomtest(more, more + less).pvalue if more + less else 1
    assert mcnemar(more, less) == pytest.approx(expected, rel=1e-9)


def test_a_difference_is_paired_by_item():
    found = compare(*models(40, 12, 5, 43))
    assert (found.n, found.first, found.second, found.difference) == (100, 0.52, 0.45, pytest.approx(0.07))
    assert (found.only_first, found.only_second, found.exact) == (12, 5, True)
    # By hand: 7/102 ± 1.96 √(18 − 49/102) / 102.
    assert (found.low, found.high) == (pytest.approx(-0.0118, abs=5e-5), pytest.approx(0.1491, abs=5e-5))
    assert found.p == pytest.approx(binomtest(5, 17).pvalue)
    turned = compare(*models(40, 12, 5, 43)[::-1])
    assert (turned.difference, turned.low, turned.high) == (-found.difference, -found.high, -found.low)


def test_only_items_of_both_count():
    first, second = models(3, 2, 1, 4)
    del first[0], second[9]
    assert compare(first, second).n == 8
    assert compare({1: True}, {2: True}) is None
    assert compare({}, {}) is None


def test_a_mean_of_groups_gives_each_the_same_weight():
    first = {**{item: item % 2 == 0 for item in range(40)}, 100: True, 101: True}
    second = {**{item: item % 4 == 0 for item in range(40)}, 100: True, 101: False}
    groups = {item: item // 100 for item in first}
    found = compare(first, second, groups)
    assert (found.first, found.second, found.groups, found.exact) == (0.75, 0.375, 2, False)
    assert found.difference == pytest.approx((10 / 40 + 1 / 2) / 2)
    assert found.low < found.difference < found.high and found == compare(first, second, groups)
    alone = compare(first, second, dict.fromkeys(first, "all"))
    assert (alone.difference, alone.low, alone.p) == tuple(
        getattr(compare(first, second), name) for name in ("difference", "low", "p")
    )


def test_the_permutation_test_is_the_exact_one_where_groups_are_of_one_size():
    first, second = models(30, 14, 4, 32)
    found = compare(first, second, {item: item % 2 for item in first})
    assert found.p == pytest.approx(mcnemar(14, 4), abs=0.006)


def test_equal_models_differ_as_rarely_as_p_says(monkeypatch):
    """Of groups of unequal size: p is at most 0.05 in about 5% of pairs, and the interval contains 0 in about 95%."""
    monkeypatch.setattr(paired, "DRAWS", 400)
    dice, groups = np.random.default_rng(5), {item: int(item > 20) + int(item > 60) for item in range(200)}
    found = []
    for _ in range(300):
        easy = dice.random(200)
        found.append(compare(*(dict(enumerate((dice.random(200) < easy).tolist())) for _ in range(2)), groups))
    assert 0.01 < np.mean([one.p <= 0.05 for one in found]) < 0.09
    assert np.mean([one.low <= 0 <= one.high for one in found]) > 0.92
