"""An audit's result without annotators' errors: by hand, by other formulas, and in simulation."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from annotation.designs.plan import found_wrong
from annotation.measures.audits import sentence
from annotation.measures.audits.judges import NO_RATES, Corrected, corrected, verdict
from bench.coverage import judges

REASONS = {"no": "does_not_hold", "cannot_judge": "cannot_judge"}
WRONG = ["does_not_hold"]


def found(items, known=(), size=10**9):
    return corrected(items, known, lambda answer: REASONS.get(answer, ""), WRONG, size)


def of_counts(hits, misses, alarms, right):
    """Judgments of wrong and of right items with a known answer."""
    return (
        [(["no"], "no")] * hits + [(["no"], "yes")] * misses + [(["yes"], "no")] * alarms + [(["yes"], "yes")] * right
    )


@pytest.mark.parametrize("known", [(90, 10, 5, 95), (40, 10, 8, 92)])
def test_with_one_judgment_and_known_answers_it_is_rogan_and_gladen_s(known):
    hits, misses, alarms, right = known
    apparent, sensitivity, specificity = 0.2, hits / (hits + misses), right / (right + alarms)
    one = found([["no"]] * 40 + [["yes"]] * 160, of_counts(*known))
    assert one.estimate == pytest.approx((apparent + specificity - 1) / (sensitivity + specificity - 1), abs=1e-6)
    assert (one.missed, one.false_alarms) == pytest.approx((1 - sensitivity, 1 - specificity), abs=1e-6)
    assert (one.gold, one.overlapping, one.reason) == (sum(known), 0, "")
    assert one.low < one.estimate < one.high


def likelihood(share, missed, alarms, counts, known):
    """The log-likelihood, item by item."""
    hits, misses, false, right = known
    of = [
        share * (1 - missed) ** a * missed**b + (1 - share) * alarms**a * (1 - alarms) ** b
        for (a, b), n in counts.items()
        for _ in range(n)
    ]
    rates = hits * np.log(1 - missed) + misses * np.log(missed) + false * np.log(alarms) + right * np.log(1 - alarms)
    return np.log(of).sum() + rates


@pytest.mark.parametrize("known", [(0, 0, 0, 0), (18, 2, 1, 39)])
def test_estimate_and_interval_are_those_of_the_profile_likelihood(known):
    counts = {(3, 0): 30, (2, 1): 18, (1, 2): 25, (0, 3): 127}
    items = [["no"] * a + ["yes"] * b for (a, b), n in counts.items() for _ in range(n)]
    one = found(items, of_counts(*known))

    def profile(share):
        rates = minimize(
            lambda rates: -likelihood(share, *rates, counts, known), [0.1, 0.05], bounds=[(1e-6, 0.5)] * 2, tol=1e-12
        )
        return -rates.fun

    best = minimize_scalar(lambda share: -profile(share), bounds=(0.05, 0.5), method="bounded", options={"xatol": 1e-6})
    assert one.estimate == pytest.approx(best.x, abs=1e-4)
    for end in (one.low, one.high):
        assert profile(end) == pytest.approx(-best.fun - 1.9207, abs=0.02)


def test_ties_and_cannot_judge_say_nothing_and_without_rates_there_is_no_estimate():
    assert [verdict(REASONS.get(one, ""), WRONG) for one in ("no", "yes", "cannot_judge")] == [True, False, None]
    assert found([["no", "yes"]] * 9 + [["cannot_judge"]] * 3).reason == NO_RATES
    assert found([["no"]] * 9, of_counts(9, 1, 0, 0)).reason == NO_RATES  # of right items nothing is known
    assert found([["no"]] * 9, [(None, "no")] * 4).gold == 4  # not public


def test_once_all_items_are_judged_only_the_rates_are_uncertain():
    items = [["no"] * 3] * 20 + [["yes"] * 3] * 180
    all_, few = found(items, size=200), found(items, size=20_000)
    assert all_.low == pytest.approx(all_.estimate, abs=0.01) and few.high - few.low > 3 * (all_.high - all_.low)


def test_one_and_two_judgments_find_what_the_page_warns_of():
    """Really 3% wrong, of right items 5% taken for wrong, of wrong ones 10% missed."""
    assert [found_wrong(n) for n in (1, 2, 3)] == pytest.approx([0.0755, 0.026725, 0.036193], abs=1e-5)


@pytest.mark.parametrize("cell", [judges.CELLS[0], judges.CELLS[3]], ids=str)
def test_it_covers_the_truth_where_the_raw_share_does_not(cell):
    held, raw, *_ = judges.coverage(cell, 60)
    assert held >= 0.85 > 0.5 > raw or cell.judgments == 3


@pytest.mark.parametrize(("share", "misses"), [(0.0, False), (0.1, True)])
def test_a_sentence_gives_the_rate_of_misses_only_if_items_are_wrong(share, misses):
    told = sentence.corrected_in_words(Corrected(share, 0.0, 0.2, 0.01, 0.05, 0, 38))
    assert ("misses 1.0% of wrong items" in told) is misses and "takes 5.0% of right items for wrong" in told
