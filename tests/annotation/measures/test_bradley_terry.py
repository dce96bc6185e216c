"""Strengths from comparisons in pairs, against an independent library, and by simulation."""

import choix
import numpy as np
import pytest

from annotation.measures.bradley_terry import ALL_ALIKE, FEW_ITEMS, Compared, NoStrengths, bradley_terry
from annotation.measures.scored import intervals
from bench.coverage import scores


def table(rng: np.random.Generator, strengths: np.ndarray, comparisons: int, ties: float) -> list[Compared]:
    found = []
    for number in range(comparisons):
        one, other = rng.choice(len(strengths), 2, replace=False)
        chance = 1 / (1 + np.exp(strengths[other] - strengths[one]))
        score = 0.5 if rng.random() < ties else float(rng.random() < chance)
        found.append(Compared(number, f"m{one}", f"m{other}", score))
    return found


def centred(strengths: np.ndarray) -> np.ndarray:
    return strengths - strengths.mean()


@pytest.mark.parametrize("ties", [0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_strengths_are_those_of_choix(seed, ties):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 9))
    compared = table(rng, rng.normal(size=size), 400, ties)
    wins = np.zeros((size, size))
    for _, one, other, score, _ in compared:
        wins[int(one[1:]), int(other[1:])] += score
        wins[int(other[1:]), int(one[1:])] += 1 - score
    theirs = centred(choix.ilsr_pairwise_dense(wins, tol=1e-13, max_iter=1000))
    ours = {one.name: one.value for one in bradley_terry(compared).rows}
    assert [ours[f"m{number}"] for number in range(size)] == pytest.approx(list(theirs), abs=1e-6)


def test_strongest_first_and_each_comparison_counts_for_both():
    found = bradley_terry([Compared(n, "a", "b", score) for n, score in enumerate([1, 1, 1, 0, 0.5] * 2)]).rows
    assert [(one.name, one.n) for one in found] == [("a", 10), ("b", 10)]
    assert found[0].value == pytest.approx(np.log(3.5 / 1.5) / 2) and found[0].value == -found[1].value
    # Each half of the difference d: the inverse of the information, 10 p (1 − p), and the sum of squared residuals.
    p, t = 0.7, 2.2621571627409915
    away = t * np.sqrt(10 / 9 * 2 * (3 * (1 - p) ** 2 + p**2 + (0.5 - p) ** 2)) / (10 * p * (1 - p)) / 2
    assert intervals(found[0].measured)[0][:2] == pytest.approx((found[0].value - away, found[0].value + away))
    assert found[0].reason == ""


@pytest.mark.parametrize(
    ("compared", "reason"),
    [
        ([(item, "a", "b", 0.5) for item in range(20)], ALL_ALIKE),
        ([(item, *pair, 1.0) for item in range(20) for pair in ("ab", "ba")], ALL_ALIKE),
        ([(0, "a", "b", 0.5)], FEW_ITEMS),
        ([(0, "a", "b", float(number % 2)) for number in range(30)], FEW_ITEMS),
        ([(item, "a", "b", float(item % 2)) for item in range(9)], FEW_ITEMS),
    ],
    ids=["only ties", "each item both ways", "one comparison", "one item", "nine items"],
)
def test_items_that_show_no_variance_give_no_interval_but_a_reason(compared, reason):
    found, apart = bradley_terry([Compared(*one) for one in compared])
    assert [(intervals(one.measured), one.reason) for one in found] == [([], reason)] * 2
    assert [intervals(one) for one in apart] in ([], [[]])


def test_what_was_compared_on_few_items_has_no_interval_beside_others_that_do():
    many = [Compared(item, "a", "b", float(item % 2)) for item in range(20)]
    found = bradley_terry([*many, *(Compared(item, "b", "c", float(item % 2)) for item in range(4))])
    assert {one.name: one.reason for one in found.rows} == {"a": "", "b": "", "c": FEW_ITEMS}


@pytest.mark.parametrize(("items", "each"), [(10, 3), (20, 1), (50, 1)])
def test_the_intervals_of_few_items_cover_the_truth(items, each):
    """`python -m bench.coverage scores` has 1,000 studies of every cell."""
    assert scores.strengths(items, each, 0.0, 300)[0] >= 0.93


@pytest.mark.parametrize(
    "scores",
    [[("a", "b", 1.0)], [("a", "b", 0.5), ("c", "d", 0.5)], [("a", "b", 1.0), ("b", "a", 1.0), ("c", "a", 1.0)]],
)
def test_without_a_chain_of_wins_from_each_to_each_there_is_no_estimate(scores):
    with pytest.raises(NoStrengths):
        bradley_terry([Compared(number, *one) for number, one in enumerate(scores)])


@pytest.mark.parametrize("ties", [0, 0.3])
@pytest.mark.parametrize(("comparisons", "runs"), [(200, 100), pytest.param(1000, 1000, marks=pytest.mark.nightly)])
def test_the_intervals_cover_the_truth(comparisons, runs, ties):
    """With ties, the truth is what the expected scores come to."""
    rng, strengths = np.random.default_rng(7), np.array([-0.8, -0.2, 0.3, 0.7])
    expected = ties / 2 + (1 - ties) / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    truth = centred(choix.ilsr_pairwise_dense(expected - np.diag(np.diag(expected)), tol=1e-13, max_iter=1000))
    hits = []
    for _ in range(runs):
        found = {one.name: one.measured for one in bradley_terry(table(rng, strengths, comparisons, ties)).rows}
        hits += [found[f"m{at}"]["low"] <= true <= found[f"m{at}"]["high"] for at, true in enumerate(truth)]
    assert 0.93 <= np.mean(hits) <= 0.97
