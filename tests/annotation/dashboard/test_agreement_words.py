"""Agreement in a sentence: how to read the measures, and how intervals are written."""

import pytest
from django.utils.html import strip_tags

from annotation.dashboard.agreement_words import lower_than_ac1, scale_of, use_of
from annotation.measures.agreement_measures import BY_KEY, MEASURES
from annotation.templatetags.figures import between, decimals, span


def test_the_chief_measure_says_how_to_read_it_and_why_others_are_lower_if_one_answer_is_common():
    alpha, ac1, share = (BY_KEY[key] for key in ("alpha_nominal", "ac1", "percent"))
    found = {"alpha_nominal": {"value": -0.031}}
    assert lower_than_ac1(found, (0.9, 0.1)) == (
        "κ and α (−0.03) are lower than AC1: they expect 82% to match by chance, because 90.0% of the answers are the "
        "same; AC1 expects far fewer."
    )
    assert lower_than_ac1(found, (0.7, 0.3)) == "" == scale_of(share) != scale_of(alpha) == scale_of(ac1)
    assert all(map(use_of, MEASURES))


@pytest.mark.parametrize(("low", "high", "written"), [
    (-0.14, -0.02, "−0.14 to −0.02"), (-0.02, 0.3, "−0.02 to 0.30"), (0.1, 0.3, "0.10 – 0.30"),
    (-0.001, 0.3, "0.00 to 0.30"),
])  # fmt: skip
def test_an_interval_from_below_zero_has_a_word_between_its_ends(low, high, written):
    """A dash would be read as one more minus, and zero has none."""
    assert strip_tags(span({"low": low, "high": high})) == written == between(low, high, decimals)
