"""How a model answers, and by how much, from columns of scores and choices."""

import numpy as np
import pytest

from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE, SUGARCREPE, VISLA
from benchmarks.runs.margins import answers, of_scores, spearman


def column(**scores):
    """`i4=0.5`: of item 4."""
    items = sorted(scores, key=lambda one: int(one[1:]))
    return np.array([int(one[1:]) for one in items]), np.array([scores[one] for one in items], float)


def test_the_margin_is_the_right_score_minus_the_other_and_a_tie_is_not_right():
    columns = {"s(c0,i0)": column(i4=0.5, i5=0.2, i6=0.3), "s(c1,i0)": column(i4=0.25, i5=0.2, i7=0.1)}
    found = answers(BIVLC, columns, {}, ["i_pos2t"])
    assert found.items.tolist() == [4, 5]  # the others lack a score
    assert found.right.tolist() == [True, False] and found.margin.tolist() == [0.25, 0]


def test_of_several_others_the_nearest_counts():
    columns = {"s(p1,p2)": column(i1=0.9), "s(p1,n)": column(i1=0.5), "s(p2,n)": column(i1=0.8)}
    assert answers(VISLA, columns, {}, ["t2t"]).margin.tolist() == pytest.approx([0.1])


def test_of_several_questions_all_must_be_right():
    columns = {"s(c)": column(i1=3, i2=3), "s(cp)": column(i1=2, i2=0), "s(cn)": column(i1=1, i2=1)}
    found = answers(HARD_POSITIVE, columns, {}, ["original", "hard_positive"])
    assert found.right.tolist() == [True, False] and found.margin.tolist() == [1, -1]


def test_a_choice_has_no_margin():
    found = answers(SUGARCREPE, {}, {"caption": {2: "negative", 1: "positive", 3: "right"}}, ["caption"])
    assert found.items.tolist() == [1, 2, 3] and found.right.tolist() == [True, False, True]
    assert np.isnan(found.margin).all()


def test_about_other_items_it_says_nothing():
    columns = {"s(positive)": column(i4=2), "s(negative)": column(i4=1)}
    right, margin = answers(SUGARCREPE, columns, {}, ["caption"]).about(np.array([3, 4, 5]))
    assert right.tolist() == [-1, 1, -1] and np.isnan(margin).tolist() == [True, False, True]
    right, margin = of_scores({}, (("s(positive)", "s(negative)"),)).about(np.array([4]))
    assert right.tolist() == [-1] and np.isnan(margin[0])


def test_scaled_margins_of_two_scales_are_the_same():
    one = {"s(positive)": column(i1=2, i2=1), "s(negative)": column(i1=1, i2=3)}
    ten = {name: (items, 10 * scores) for name, (items, scores) in one.items()}
    first, second = (answers(SUGARCREPE, of, {}, ["caption"]).scaled.margin for of in (one, ten))
    assert first.tolist() == pytest.approx(second.tolist()) and np.mean(first**2) == pytest.approx(1)


def test_spearman_shares_places_among_ties():
    found = spearman(np.array([1, 2, 2, 4, 5.0]), np.array([2, 1, 3, 3, 9.0]))
    assert found[0] == pytest.approx(0.7631578947368421)  # 7.25/9.5, by hand
    assert found[1] < found[0] < found[2]
    assert spearman(np.array([1, 1, 1, 1]), np.array([1, 2, 3, 4])) is None


@pytest.mark.parametrize("n", [4, 30])
def test_two_orders_that_are_the_same_or_reversed_have_an_interval_with_width(n):
    order = np.arange(n)
    for rho, other in ((1, order), (-1, order[::-1])):
        found = spearman(order, other)
        assert found[0] == rho and -1 <= found[1] <= rho <= found[2] <= 1 and found[2] - found[1] > 0.001
