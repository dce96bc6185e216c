"""How certain the leading answer is, and when one more judgment is worth asking for."""

from itertools import product

import pytest
from scipy.stats import beta

from annotation.protocols.certainty import certainty, leading_counts, wants_more


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(0, 0, 0.5), (1, 0, 0.75), (2, 0, 0.875), (2, 1, 0.6875), (3, 3, 0.5), (9, 2, None)],
)
def test_it_is_the_upper_half_of_the_beta_posterior(first, second, expected):
    found = certainty(["yes"] * first + ["no"] * second)
    assert found == pytest.approx(beta.sf(0.5, first + 1, second + 1), abs=1e-12)
    assert expected is None or found == expected


def test_a_third_answer_changes_nothing():
    votes = ["yes", "no", "yes"]
    assert certainty([*votes, "cannot_judge"]) == certainty(votes)
    assert leading_counts([*votes, "cannot_judge"]) == (2, 1)


@pytest.mark.parametrize(
    ("votes", "least", "cap", "expected"),
    [
        ("a", 0.8, 5, True),  # 75% certain
        ("aa", 0.8, 5, False),
        ("aa", 0.9, 5, True),
        ("ab", 0.6, 5, True),
        ("aab", 0.6, 5, False),
        ("aa", 0.9, 3, False),  # the third cannot change it
        ("aa", 0.9, 4, True),  # a tie is possible
        ("ab", 0.9, 2, False),
        ("abb", 0.9, 3, False),
    ],
)
def test_more_is_wanted_while_it_is_unsure_and_could_change(votes, least, cap, expected):
    assert wants_more(votes, least, cap) == expected


def test_stopping_because_nothing_can_change_gives_the_outcome_of_the_whole_cap():
    for votes in product("abc", repeat=5):
        n = next(n for n in range(1, 6) if not wants_more(votes[:n], 1.0, 5))
        leaders = [one for one in "abc" if votes[:n].count(one) == leading_counts(votes[:n])[0]]
        assert leaders == [one for one in "abc" if votes.count(one) == leading_counts(votes)[0]]
