"""What adaptive overlap spends and leaves, against a fixed overlap: in made-up crowds of known clarity."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from annotation.measures import adaptive_overlap as measured
from annotation.protocols.certainty import wants_more


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


def wrong(votes: Sequence[bool]) -> float:
    """Whether the majority is wrong; a tie is half an error."""
    counts = Counter(votes)
    return 0.5 if counts[True] == counts[False] else float(counts[False] > counts[True])


def votes_of(share: float, dice: Random) -> list[bool]:
    """Of one task, until a certainty of 0.8, two judgments at least and seven at most."""
    votes = [dice.random() < share for _ in range(2)]
    while wants_more(votes, 0.8, 7):
        votes.append(dice.random() < share)
    return votes


@pytest.mark.parametrize("clarity", [{1.0: 0.9}, {0.8: 0.97, 0.2: 0.6}], ids=["alike", "hard tail"])
def test_the_estimate_is_near_the_error_in_simulation(clarity):
    """`clarity`: shares of items, and in each the share of annotators who give the majority's answer."""
    dice = Random(1)
    shares = dice.choices(list(clarity.values()), list(clarity), k=2000)
    votes = [votes_of(share, dice) for share in shares]
    error = sum(map(wrong, votes)) / len(votes)
    assert measured.figures(votes, votes)["estimated_error"] == pytest.approx(error, abs=0.02)
    fixed = sum(wrong([dice.random() < share for _ in range(3)]) for share in shares) / len(shares)
    assert sum(map(len, votes)) / len(votes) < 3 and error < fixed
