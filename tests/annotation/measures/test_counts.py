"""When a rate per hour is given: from literals."""

import pytest

from annotation.measures import counts


@pytest.mark.parametrize(
    ("judgments", "minutes", "rate"),
    [(7, 1, None), (774, 1, None), (9, 60, None), (10, 9.9, None), (10, 10, 60), (30, 60, 30), (0, 0, None)],
)
def test_a_rate_needs_ten_minutes_and_ten_judgments(judgments, minutes, rate):
    assert counts.hourly_rate(judgments, minutes / 60) == (rate if rate is None else pytest.approx(rate))
