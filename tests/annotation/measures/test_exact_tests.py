"""The distributions that signs rest on: against published values, and against scipy."""

import numpy as np
import pytest
from scipy import stats

from annotation.measures import exact_tests


def test_the_lady_tasting_tea():
    """Fisher 1935: four cups of each kind, three of four named rightly: 17 of 70 ways and better, one-sided."""
    assert exact_tests.hypergeometric_distribution(4, 4, 8)[3:].sum() == pytest.approx(17 / 70)
    assert exact_tests.two_sided(exact_tests.hypergeometric_distribution(4, 4, 8), 3) == pytest.approx(34 / 70)


def test_de_moivre_run_of_three_heads_in_ten():
    """The Doctrine of Chances, problem LXXIV: 65 / 128."""
    assert exact_tests.probability_of_run(3, 10, 0.5) == pytest.approx(65 / 128)


def test_a_run_of_six_in_two_hundred_tosses():
    """Schilling 1990: heads or tails, six in a row or more, come up in 96.53% of 200 tosses."""
    assert exact_tests.probability_of_run(5, 199, 0.5) == pytest.approx(0.9653, abs=5e-5)


@pytest.mark.parametrize(("length", "n", "expected"), [(0, 5, 1), (3, 3, 0.125), (7, 6, 0), (1, 4, 15 / 16)])
def test_runs_at_the_edges(length, n, expected):
    assert exact_tests.probability_of_run(length, n, 0.5) == pytest.approx(expected)


@pytest.mark.parametrize("n", [1, 30, 3000])
def test_binomial(n):
    for p in (0, 0.001, 0.25, 0.5, 0.999, 1):
        k = np.arange(n + 1)
        np.testing.assert_allclose(
            exact_tests.binomial_distribution(n, p), stats.binom.pmf(k, n, p), rtol=0, atol=1e-11
        )
        expected = stats.binom.cdf(n // 3, n, p)
        assert exact_tests.binomial_at_most(n // 3, n, p) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("n", "good", "total"), [(5, 3, 20), (40, 300, 1000), (10, 0, 30), (10, 30, 30), (50, 900, 905)]
)
def test_hypergeometric(n, good, total):
    expected = stats.hypergeom.pmf(range(n + 1), total, good, n)
    assert exact_tests.hypergeometric_distribution(n, good, total) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(("n", "good", "total", "odds"), [(10, 4, 30, 3.0), (40, 300, 1000, 0.2), (400, 5, 2000, 10.0)])
def test_noncentral_hypergeometric(n, good, total, odds):
    expected = stats.nchypergeom_fisher.pmf(range(n + 1), total, good, n, odds)
    assert exact_tests.hypergeometric_distribution(n, good, total, odds) == pytest.approx(expected, abs=1e-11)


def test_fisher_of_large_tables_is_quick_and_right():
    _, expected = stats.fisher_exact([[900, 1100], [400_000, 500_000]], alternative="greater")
    distribution = exact_tests.hypergeometric_distribution(2000, 400_900, 902_000)
    assert exact_tests.two_sided(distribution, 900) == pytest.approx(2 * expected, rel=1e-6)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 20])
def test_chi_square(freedom):
    points = [0, 0.1, 3.84, 16.27, 300]
    found = [exact_tests.chi_square_above(x, freedom) for x in points]
    assert found == pytest.approx(stats.chi2.sf(points, freedom), rel=1e-10)


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 499])
def test_student(freedom):
    assert exact_tests.student_t_95(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-11)


def test_chi_square_of_the_tables():
    """The 5 and 0.1% points of any table: 3.841 and 10.828 with 1 degree of freedom, 7.815 and 16.266 with 3."""
    points = [(3.841, 1, 0.05), (10.828, 1, 0.001), (7.815, 3, 0.05), (16.266, 3, 0.001)]
    for x, freedom, level in points:
        assert exact_tests.chi_square_above(x, freedom) == pytest.approx(level, rel=2e-3)
