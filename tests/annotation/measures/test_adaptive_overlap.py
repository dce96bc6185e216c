"""What adaptive overlap spends and leaves, against a fixed overlap: in made-up crowds of known clarity."""

from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from annotation.measures import adaptive_overlap as measured
from bench.adaptive_overlap import simulated


def at(**shares: float) -> np.ndarray:
    """`at(q90=1)`: every item has 90 % for its majority's answer."""
    found = np.zeros(len(measured.CLARITY))
    for name, share in shares.items():
        found[int(name[1:]) // 2 - 25] = share
    return found


@pytest.mark.parametrize("overlap", [1, 2, 3, 4])
def test_the_error_of_a_fixed_overlap_is_the_sum_over_all_votes(overlap):
    shares, expected = at(q90=0.75, q60=0.25), 0.0
    for q, share in ((0.9, 0.75), (0.6, 0.25)):
        for votes in product((True, False), repeat=overlap):
            chance = prod(q if vote else 1 - q for vote in votes)
            expected += share * chance * (1 if sum(votes) * 2 < overlap else 0.5 if sum(votes) * 2 == overlap else 0)
    assert measured.fixed_error(overlap, shares) == pytest.approx(expected, abs=1e-12)


def test_the_error_of_a_task_is_the_posterior():
    assert measured.error_of(2, 0, at(q90=1)) == pytest.approx(0.01 / 0.82)
    assert measured.error_of(3, 3, at(q90=0.5, q60=0.5)) == pytest.approx(0.5)


def test_without_disagreement_nothing_is_wrong_and_one_judgment_would_do():
    found = measured.figures([["a", "a"]] * 40, [["a", "a"]] * 40)
    assert found["estimated_error"] < 1e-6 and found["same_error"]["overlap"] <= 2
    assert measured.figures([["a", "a"]] * 19, [["a", "a"]] * 19)["estimated_error"] is None


@pytest.mark.parametrize("clarity", ["alike", "hard_tail"])
def test_the_estimate_is_near_the_error_in_simulation(clarity):
    found = simulated(clarity, items=2000, overlap=2, least=0.8, cap=7, seed=1)
    assert found.estimated == pytest.approx(found.error, abs=0.02)
    assert found.mean < 3 and found.error < found.fixed[3]


def test_a_replay_stops_where_it_is_sure_or_at_the_cap():
    dice = Random(1)
    assert measured.replay(lambda: "a", 2, 0.8, 7) == ["a", "a"]
    assert all(2 <= len(measured.replay(lambda: dice.choice("ab"), 2, 0.9, 7)) <= 7 for _ in range(50))
