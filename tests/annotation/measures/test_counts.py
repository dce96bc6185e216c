"""When a rate per hour is given, and which figure of agreement a page shows first: from literals."""

import pytest

from annotation.measures import counts
from annotation.measures.agreement import RatingTable


@pytest.mark.parametrize(
    ("judgments", "minutes", "rate"),
    [(7, 1, None), (774, 1, None), (9, 60, None), (10, 9.9, None), (10, 10, 60), (30, 60, 30), (0, 0, None)],
)
def test_a_rate_needs_ten_minutes_and_ten_judgments(judgments, minutes, rate):
    assert counts.hourly_rate(judgments, minutes / 60) == (rate if rate is None else pytest.approx(rate))


def table(shared: int, others: int = 0) -> RatingTable:
    """Annotators 1 and 2 judge `shared` items and differ on every fifth; 2 and 3 share `others` and differ on one."""
    rows = [(item, who, "none" if item % 2 or (who == 2 and item % 5 == 0) else "any")
            for item in range(shared) for who in (1, 2)]  # fmt: skip
    rows += [(100 + item, who, "none" if item % 2 or (who == 3 and not item) else "any")
             for item in range(others) for who in (2, 3)]  # fmt: skip
    return RatingTable(rows)


def headline(ratings: RatingTable) -> dict:
    return counts.headline_agreement(counts.agreement_figures("any or none", ratings))


def test_the_mean_kappa_comes_with_its_own_interval_and_n():
    found = headline(table(40, 20))
    assert (found["measure"], found["pairs"], found["n"]) == ("cohen_mean", 2, 60)
    assert (found["lowest"], found["highest"]) == (pytest.approx(0.8), pytest.approx(0.9))
    whole = counts.agreement_figures("any or none", table(40, 20))["measures"]["cohen_mean"]
    assert [found[end] for end in ("value", "low", "high")] == [whole[end] for end in ("value", "low", "high")]


@pytest.mark.parametrize(
    ("shared", "others", "measure", "n", "note"),
    [
        (20, 0, "cohen_mean", 20, ""),
        (20, 19, "alpha_nominal", 39, "some pairs share fewer than 20 items"),
        (9, 0, "percent", 9, "some pairs share fewer than 20 items"),
        (1, 0, "percent", 1, ""),
        (0, 0, "percent", 0, "no item has two judgments"),
    ],
)
def test_kappas_of_few_shared_items_are_not_averaged(shared, others, measure, n, note):
    found = headline(table(shared, others))
    assert (found["measure"], found["n"]) == (measure, n) and note in found["note"]
    if n > 1:
        assert found["low"] <= found["value"] <= found["high"]
