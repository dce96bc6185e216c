"""The corrected table: shares on audited and valid items, paired differences, and the order that changes."""

import pytest

from annotation.measures.audits.corrected import Model, corrected
from benchmarks.metrics.base import wilson

# Of 40 audited items the last 10 are wrong. A is right about 20 valid items and all wrong ones, B about 26 and none.
WRONG = {item: item >= 30 for item in range(40)}
A = Model("A", 0.75, {item: item < 20 or item >= 30 for item in range(40)})
B = Model("B", 0.65, {item: 4 <= item < 30 for item in range(40)})


def test_shares_ranks_and_the_pair_whose_order_changed():
    found = corrected([A, B], WRONG)
    assert (found.audited, found.valid) == (40, 30)
    first, second = found.rows
    assert (first.name, first.rank, first.valid_rank, second.name, second.rank, second.valid_rank) == (
        "B", 2, 1, "A", 1, 2,
    )  # fmt: skip
    assert (second.audited.share, first.audited.share) == (30 / 40, 26 / 40)
    assert (first.valid.share, first.valid.low, first.valid.high) == (26 / 30, *wilson(26, 30))
    [change] = found.differences
    assert (change.first, change.second, change.changed) == ("B", "A", True)
    assert change.value == pytest.approx(0.2) and change.low < 0.2 < change.high and 0.9 < change.sure < 1


def test_the_paired_interval_by_hand():
    """10 items that only B has right and 4 that only A has: 6 / 32 ± 1.96 √(15 − 36 / 32) / 32."""
    [change] = corrected([A, B], WRONG).differences
    assert (change.low, change.high) == pytest.approx((0.1875 - 0.22813, 0.1875 + 0.22813), abs=1e-4)


def test_only_items_that_every_model_answers_count():
    found = corrected([A, Model("B", 0.65, dict.fromkeys(range(5), True))], WRONG)
    assert (found.audited, found.valid) == (5, 5)


def test_where_less_is_better_the_ranking_is_the_other_way():
    found = corrected([A, B], WRONG, lower=True)
    assert [(row.name, row.rank, row.valid_rank) for row in found.rows] == [("A", 2, 1), ("B", 1, 2)]
    assert found.differences[0].sure > 0.9


def test_neighbours_are_compared_and_equal_models_share_a_rank():
    same = Model("C", 0.75, A.right)
    found = corrected([A, B, same], WRONG)
    assert [(row.name, row.rank, row.valid_rank) for row in found.rows] == [("B", 3, 1), ("A", 1, 2), ("C", 1, 2)]
    assert [(one.first, one.second, one.changed) for one in found.differences] == [
        ("B", "A", True),
        ("B", "C", True),
        ("A", "C", False),
    ]
    assert found.differences[-1].sure == 0.5


def test_models_asked_in_both_orders_are_ranked_apart():
    twice = [Model(f"twice {one.name}", one.everywhere, one.right, True) for one in (A, B)]
    found = corrected([*twice, A, B], WRONG)
    ranks = [(row.name, row.rank, row.valid_rank) for row in found.rows]
    assert ranks == [("B", 2, 1), ("A", 1, 2), ("twice B", 2, 1), ("twice A", 1, 2)]
    assert [(one.first, one.second) for one in found.differences] == [("B", "A"), ("twice B", "twice A")]


@pytest.mark.parametrize(("models", "wrong"), [([], WRONG), ([A], {}), ([A], {31: True})])
def test_without_models_or_valid_items_nothing_is_compared(models, wrong):
    found = corrected(models, wrong)
    assert found.valid == 0 and found.differences == []
