"""The agreement measures against published values, scikit-learn, the krippendorff library and sums done by hand."""

import csv
import itertools
import random

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.measures import agreement, coefficients, pairwise_kappa
from annotation.measures.agreement import RatingTable
from annotation.measures.agreement_measures import BY_KEY, Compared
from annotation.measures.label_scale import label_scale
from annotation.measures.types import Figures

AAB = [(1, "x", "a"), (1, "y", "a"), (2, "x", "a"), (2, "y", "b"), (3, "x", "b"), (3, "y", "b"), (4, "x", "a")]


def rated(real, name: str) -> list[dict]:
    path = real / "data" / "agreement" / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the project (../shared/data/agreement)")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def some_rows(seed: int, items: int = 60, people: int = 5, labels: str = "abcd", share: float = 0.6) -> list:
    dice = random.Random(seed)
    places = itertools.product(range(items), range(people))
    return [(i, p, dice.choice(labels[: 2 + i % 3])) for i, p in places if dice.random() < share]


def figure(key: str, table: RatingTable) -> Figures:
    return BY_KEY[key].compute(Compared(table), label_scale(table.labels))


def test_the_most_common_label_has_the_first_share():
    assert RatingTable(AAB).shares == [4 / 7, 3 / 7] and RatingTable([]).shares == []


def alpha(table: RatingTable) -> Figures:
    return figure("alpha_nominal", table)


def test_percent_counts_pairs_of_judgments():
    three = [(1, "x", "a"), (1, "y", "a"), (1, "z", "b")]
    for rows, share in ((AAB, 2 / 3), (three, 1 / 3)):
        found = figure("percent", RatingTable(rows))
        assert (found["value"], found["n"]) == (pytest.approx(share), 3)


def test_kappa_by_hand():
    (pair,) = pairwise_kappa.cohen_kappas(RatingTable(AAB))  # x: a a b, y: a b b; observed 2/3, chance (2·1 + 1·2)/9
    assert (pair.first, pair.second, pair.n) == ("x", "y", 3)
    assert pair.value == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))


@pytest.mark.parametrize("seed", range(5))
def test_kappas_are_scikit_learns(seed):
    rows = some_rows(seed)
    given = {(item, person): label for item, person, label in rows}
    for pair in pairwise_kappa.cohen_kappas(RatingTable(rows)):
        both = [i for i in range(60) if (i, pair.first) in given and (i, pair.second) in given]
        ours, theirs = ([given[i, person] for i in both] for person in (pair.first, pair.second))
        assert pair.n == len(both)
        assert pair.value == pytest.approx(cohen_kappa_score(ours, theirs), abs=1e-12)


def test_a_kappa_that_is_not_defined_is_explained_and_left_out_of_the_mean():
    rows = [*AAB, (9, "x", "a"), (9, "z", "a")]
    pairs = pairwise_kappa.cohen_kappas(RatingTable(rows))
    assert [(pair.first, pair.second, pair.reason) for pair in pairs] == [
        ("x", "y", ""),
        ("x", "z", agreement.ONE_LABEL),
    ]
    mean = figure("cohen_mean", RatingTable(rows))
    assert (mean["value"], mean["n"], mean["left_out"]) == (pytest.approx(0.4), 1, 1)


def test_nothing_to_compare_is_said_in_words():
    for rows in ([], [(1, "x", "a"), (2, "y", "a")]):
        table = RatingTable(rows)
        nothing = {"value": None, "low": None, "high": None, "n": 0}
        for key in ("percent", "alpha_nominal"):
            assert figure(key, table) == {**nothing, "note": agreement.NO_PAIRS}
        assert figure("cohen_mean", table) == {**nothing, "note": agreement.NO_SHARED_ITEMS, "left_out": 0}


def test_one_label_alone_has_a_percentage_and_no_more():
    table = RatingTable([(1, "x", "a"), (1, "y", "a"), (2, "x", "a"), (2, "y", "a"), (3, "x", "b")])
    assert alpha(table) == {"value": None, "low": None, "high": None, "n": 2, "note": agreement.ONE_LABEL}
    alike = table.for_items({1, 2})
    values = [figure(key, alike)["value"] for key in ("percent", "ac1", "fleiss", "alpha_nominal")]
    assert values == [1, None, None, None]


def test_the_interval_is_the_same_in_any_order_of_the_rows():
    assert alpha(RatingTable(some_rows(1))) == alpha(RatingTable(reversed(some_rows(1))))


def test_alpha_over_patterns_is_the_librarys():
    patterns, times = RatingTable(some_rows(3)).patterns()
    several = patterns.sum(axis=1) > 1
    patterns, times = patterns[several], times[several]
    items = times.sum()
    drawn = np.random.default_rng(7).multinomial(items, times / items, 20)
    units = [np.repeat(patterns, row, axis=0) for row in drawn]
    theirs = [krippendorff.alpha(value_counts=unit, level_of_measurement="nominal") for unit in units]
    ours = coefficients.alpha_nominal
    assert ours.of(drawn @ ours.parts(patterns)) == pytest.approx(theirs, abs=1e-12)


def test_a_view_and_a_part_are_tables_of_their_own():
    rows = some_rows(4)
    whole, upper = RatingTable(rows), str.upper
    assert alpha(whole.projected(upper)) == alpha(whole)
    merged = RatingTable((item, person, "any" if label < "c" else label) for item, person, label in rows)
    assert (whole.projected(lambda label: "any" if label < "c" else label).counts == merged.counts).all()
    part = RatingTable(row for row in rows if row[0] < 20)
    assert pairwise_kappa.cohen_kappas(whole.for_items(set(range(20)))) == pairwise_kappa.cohen_kappas(part)
    assert alpha(whole.for_items(set(range(20))))["value"] == pytest.approx(alpha(part)["value"])


def test_with_the_majority_of_the_others():
    votes = {1: "aab", 2: "aaa", 3: "abc"}  # on item 3 the others are always level
    table = RatingTable(
        (item, "xyz"[place], label) for item, labels in votes.items() for place, label in enumerate(labels)
    )
    found = agreement.agreement_with_majority(table)
    assert found["z"] == (1, 2)  # item 1 no, item 2 yes
    assert found["x"] == found["y"] == (1, 1)  # on item 1 the others say a and b: level
    assert agreement.count_disagreements(table) == 2


def test_judging_an_item_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        RatingTable([(1, "x", "a"), (1, "x", "b")])
