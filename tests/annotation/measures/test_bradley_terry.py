"""Strengths from comparisons in pairs, against an independent library, and by simulation."""

import choix
import numpy as np
import pytest

from annotation.measures.bradley_terry import Compared, NoStrengths, bradley_terry


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
    for _, one, other, score in compared:
        wins[int(one[1:]), int(other[1:])] += score
        wins[int(other[1:]), int(one[1:])] += 1 - score
    theirs = centred(choix.ilsr_pairwise_dense(wins, tol=1e-13, max_iter=1000))
    ours = {one.name: one.value for one in bradley_terry(compared)}
    assert [ours[f"m{number}"] for number in range(size)] == pytest.approx(list(theirs), abs=1e-6)


def test_an_interval_without_width_is_a_number_too():
    """One item says the opposite of the other: what rounding leaves of the variance may be less than zero."""
    pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    found = bradley_terry([Compared(item, *pair, score) for item, score in enumerate((0, 1)) for pair in pairs])
    assert np.isfinite([(one.low, one.high) for one in found]).all()


def test_strongest_first_and_each_comparison_counts_for_both():
    found = bradley_terry([Compared(n, "a", "b", score) for n, score in enumerate([1, 1, 1, 0, 0.5])])
    assert [(one.name, one.n) for one in found] == [("a", 5), ("b", 5)]
    assert found[0].value == pytest.approx(np.log(3.5 / 1.5) / 2) and found[0].value == -found[1].value
    assert found[0].low < found[0].value < found[0].high


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
        found = {one.name: one for one in bradley_terry(table(rng, strengths, comparisons, ties))}
        hits += [found[f"m{place}"].low <= true <= found[f"m{place}"].high for place, true in enumerate(truth)]
    assert 0.93 <= np.mean(hits) <= 0.97
