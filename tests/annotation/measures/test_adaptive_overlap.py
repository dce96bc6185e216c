"""What adaptive overlap spends and leaves, against a fixed overlap: in made-up crowds of known clarity."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import exp, prod
from random import Random

import numpy as np
import pytest

from annotation.measures import adaptive_overlap as measured
from annotation.protocols.certainty import wants_more

STOPS = measured.Stops(2, 0.8, 7)


def at(**shares: float) -> np.ndarray:
    """`at(q90=1)`: every item has 90% for its majority's answer."""
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


def test_the_error_of_an_item_is_that_of_all_ways_to_vote_until_the_rule_ends_it():
    """Two of two agree: 7/8 certain. One more after 1 : 1 makes 11/16, and 3 : 1 makes 13/16; at five it is over."""
    q = measured.CLARITY
    errors = measured.errors_by_clarity(measured.Stops(2, 0.8, 5))
    after_tie = sum(
        prod((1 - q) if vote else q for vote in votes) for votes in product((True, False), repeat=3) if sum(votes) >= 2
    )
    assert errors == pytest.approx((1 - q) ** 2 + 2 * q * (1 - q) * after_tie, abs=1e-15)
    assert measured.errors_by_clarity(measured.Stops(2, 0.8, 2)) == pytest.approx((1 - q) ** 2 + q * (1 - q))


def test_without_disagreement_nothing_is_wrong_and_one_judgment_would_do():
    agreed = [["a", "a"]] * 40
    found = measured.figures(agreed, agreed, STOPS)
    assert found["estimated_error"] < 1e-6 and found["same_error"]["overlap"] <= 2
    assert measured.figures(agreed[:19], agreed[:19], STOPS)["estimated_error"] is None


def test_the_interval_ends_where_the_likelihood_has_fallen_by_half_of_chi_square():
    """Of 2 : 0 alone: a share w of items with q = 1/2 makes it (1 - w/2)^40 as likely; half of these are wrong."""
    agreed = [["a", "a"]] * 40
    found = measured.figures(agreed, agreed, measured.Stops(2, 0.8, 2))
    share = 2 * (1 - exp(-(1.959963984540054**2) / 2 / 40))
    assert found["error_low"] == pytest.approx(0, abs=1e-9)
    assert found["error_high"] == pytest.approx(share / 2, abs=1e-9)


@pytest.mark.parametrize("share, many, few", [(1, 0.9, 0.9), (0.8, 0.97, 0.6), (0.95, 0.99, 0.7)])
def test_the_interval_has_the_error_that_the_crowd_leaves(share, many, few):
    """Of `share` of the items, `many` of 100 annotators give the majority's answer, of the rest `few`."""
    errors, dice = measured.errors_by_clarity(STOPS), Random(3)
    true = share * np.interp(many, measured.CLARITY, errors) + (1 - share) * np.interp(few, measured.CLARITY, errors)
    held = []
    for _ in range(40):
        votes = [votes_of(many if dice.random() < share else few, dice) for _ in range(100)]
        found = measured.figures(votes, votes, STOPS)
        held.append(found["error_low"] <= true <= found["error_high"])
    assert sum(held) >= 36


def wrong(votes: Sequence[bool]) -> float:
    """Whether the majority is wrong; a tie is half an error."""
    counts = Counter(votes)
    return 0.5 if counts[True] == counts[False] else float(counts[False] > counts[True])


def votes_of(share: float, dice: Random) -> list[bool]:
    """Of one task, until a certainty of 0.8, two judgments at least and seven at most."""
    votes = [dice.random() < share for _ in range(2)]
    while wants_more(votes, STOPS.certainty, STOPS.cap):
        votes.append(dice.random() < share)
    return votes


@pytest.mark.parametrize("clarity", [{1.0: 0.9}, {0.8: 0.97, 0.2: 0.6}], ids=["alike", "hard tail"])
def test_the_estimate_is_near_the_error_in_simulation(clarity):
    """`clarity`: shares of items, and in each the share of annotators who give the majority's answer."""
    dice = Random(1)
    shares = dice.choices(list(clarity.values()), list(clarity), k=2000)
    votes = [votes_of(share, dice) for share in shares]
    error = sum(map(wrong, votes)) / len(votes)
    assert measured.figures(votes, votes, STOPS)["estimated_error"] == pytest.approx(error, abs=0.02)
    fixed = sum(wrong([dice.random() < share for _ in range(3)]) for share in shares) / len(shares)
    assert sum(map(len, votes)) / len(votes) < 3 and error < fixed
