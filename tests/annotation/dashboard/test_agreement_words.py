"""Agreement in a sentence: who is named as the one who disagrees, and how common the commonest answer is."""

import pytest
from django.utils.html import strip_tags

from annotation.dashboard.agreement_words import scale_of, use_of, who_disagrees
from annotation.measures.agreement_measures import BY_KEY, MEASURES
from annotation.templatetags.figures import between, decimals, span


def pairs(*rows):
    return [
        {"first": first, "second": second, "measures": {"percent": {"value": value, "n": n}}}
        for first, second, value, n in rows
    ]


@pytest.mark.parametrize(
    "shares, named",
    [
        ((0.92, 0.75, 0.74), "A-03"),  # pairs without A-03 agree at least 10 points more
        ((0.92, 0.84, 0.83), ""),
        ((0.70, 0.71, 0.90), "A-01"),
    ],
)
def test_the_one_without_whom_pairs_agree_ten_points_more_is_named(shares, named):
    one, two, three = shares
    found = who_disagrees(pairs(("A-01", "A-02", one, 40), ("A-01", "A-03", two, 40), ("A-02", "A-03", three, 40)))
    assert (
        found.startswith(f"Most of the disagreement is {named}’s: pairs without {named} agree on")
        if named
        else not found
    )


@pytest.mark.parametrize("n", [0, 4])
def test_nobody_is_named_for_few_shared_tasks_or_in_a_pair(n):
    few = pairs(("A-01", "A-02", 1.0, n), ("A-01", "A-03", 0.1, 50), ("A-02", "A-03", 0.1, 50))
    assert who_disagrees(few) == who_disagrees(pairs(("A-01", "A-02", 0.2, 500))) == ""


def test_the_chief_measure_says_how_to_read_it_and_that_a_common_answer_makes_it_high():
    alpha, ac1, share = (BY_KEY[key] for key in ("alpha_nominal", "ac1", "percent"))
    assert (
        use_of(alpha, (0.7, 0.3))
        != use_of(alpha, (0.9, 0.1))
        == "agreement beyond chance, near 0 whenever one answer is this common"
    )
    assert use_of(ac1, (0.9, 0.1)).endswith("high whenever one answer is this common")
    assert scale_of(alpha) == scale_of(ac1) != scale_of(share) == ""
    assert all(use_of(one, (0.7, 0.3)) for one in MEASURES)


@pytest.mark.parametrize(("low", "high", "written"), [
    (-0.14, -0.02, "−0.14 to −0.02"), (-0.02, 0.3, "−0.02 to 0.30"), (0.1, 0.3, "0.10 – 0.30"),
    (-0.001, 0.3, "0.00 to 0.30"),
])  # fmt: skip
def test_an_interval_from_below_zero_has_a_word_between_its_ends(low, high, written):
    """A dash would be read as one more minus, and zero has none."""
    assert strip_tags(span({"low": low, "high": high})) == written == between(low, high, decimals)
