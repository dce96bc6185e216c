"""Every agreement measure against published values and libraries, and where it is not defined."""

from pathlib import Path

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.measures import coefficients
from annotation.measures.agreement import RatingTable
from annotation.measures.agreement_measures import (
    MEASURES,
    NO_NUMBERS,
    NO_ORDER,
    RESTS_ON,
    RESTS_ON_AGREED,
    UNEVEN,
    rests_on,
)
from annotation.measures.breakdowns import agreement_by
from annotation.measures.counts import agreement_figures
from annotation.measures.label_scale import label_scale
from annotation.measures.pairwise_kappa import THIN_NOTE
from annotation.measures.reliability import reliability
from bench.coverage import agreement as made_up
from tests.annotation.measures.test_agreement import rated, some_rows

DOCUMENTED = Path(__file__).resolve().parents[3] / "docs/reference/measures.md"


def long(rows, raters):
    """A wide table, a column for each rater, as a long one; empty cells are gaps."""
    return RatingTable((i, rater, row[rater]) for i, row in enumerate(rows) for rater in raters if row[rater])


def values(found: dict) -> dict:
    return {key: one["value"] for key, one in found["measures"].items()}


@pytest.mark.real
def test_fleiss_of_the_diagnoses_is_the_published_one(real):
    rows = rated(real, "diagnoses.csv")
    assert values(reliability(long(rows, rows[0])))["fleiss"] == pytest.approx(0.430245, abs=5e-7)


@pytest.mark.real
def test_alpha_and_ac1_with_gaps_are_the_published_ones(real):
    rows = rated(real, "raw_4raters.csv")
    figures = reliability(long(rows, ["Rater1", "Rater2", "Rater3", "Rater4"]))
    found = values(figures)
    assert found["alpha_nominal"] == pytest.approx(0.743421, abs=5e-7)
    assert found["alpha_ordinal"] == pytest.approx(0.815388, abs=5e-7)
    assert found["alpha_interval"] == pytest.approx(0.849107, abs=5e-7)
    assert found["ac1"] == pytest.approx(0.77544, abs=5e-6)
    assert found["fleiss"] is None and figures["measures"]["fleiss"]["note"] == UNEVEN


@pytest.mark.parametrize(
    ("order", "ac1", "q", "are"),
    [("", 0.68, 2, "given"), ("12", 0.68, 2, "offered"), ("12345", 0.735537, 5, "offered")],
)
def test_ac1_counts_the_labels_that_could_be_given(order, ac1, q, are):
    """By hand: p_a = 3/4, π = 7/8 and 1/8, chance = 2 · 7/64 / (q − 1) (Gwet 2008)."""
    table = RatingTable([(item, who, "2" if (item, who) == (0, "x") else "1") for item in range(4) for who in "xy"])
    found = reliability(table, order)
    of = found["measures"]["ac1"]
    assert of["value"] == pytest.approx(ac1, abs=5e-7) and found["categories"] == {"n": q, "are": are}
    assert of["low"] < ac1 < of["high"]
    whole = agreement_by(table, {}, lambda done, total: None, offered=set(order) or None)["whole"]["measures"]["ac1"]
    assert whole["value"] == pytest.approx(ac1, abs=5e-7)


@pytest.mark.parametrize(
    ("others", "order", "note"),
    [
        (1, "", "rests on 1 item with an answer other than the most frequent; AC1 is 0.990"),
        (3, "", "rests on 3 items with an answer other than the most frequent; AC1 is 0.969"),
        (3, "12345", "rests on 3 items with an answer other than the most frequent; AC1 is 0.970"),
        (9, "", "rests on 9 items with an answer other than the most frequent; AC1 is 0.902"),
        (10, "", "rests on 0 items with two judgments for an answer other than the most frequent; AC1 is 0.890"),
    ],
)
def test_coefficients_say_if_they_rest_on_few_items_with_another_answer(others, order, note):
    """Of 100 items judged twice, one annotator differs on some. By hand: p_a = 1 − k / 100, π = k / 200, AC1 as above.
    Intervals of such coefficients cover the truth far too seldom (`python -m bench.coverage rare`).
    """
    rows = [(item, who, "2" if who == "x" and item < others else "1") for item in range(100) for who in "xy"]
    table = RatingTable(rows)
    found = reliability(table, order)["measures"]
    assert {found[name]["note"] for name in ("cohen_mean", "fleiss", "alpha_nominal", "alpha_interval")} == {note}
    assert found["percent"]["note"] == found["ac1"]["note"] == ""
    if note:
        assert f"{found['ac1']['value']:.3f}" == note[-5:]
    overview = agreement_figures("answer", table, set(order) or None)["measures"]
    assert overview["alpha_nominal"]["note"] == overview["cohen_mean"]["note"] == note


@pytest.mark.real
def test_weighted_kappas_of_the_vision_table_are_the_published_ones(real):
    rows = rated(real, "vision.csv")
    table = long(rows, ["r.eye", "l.eye"])
    (pair,) = reliability(table, order=table.labels)["pairs"]
    assert pair["kappa"] == pytest.approx(0.595389, abs=5e-7)
    assert pair["linear"] == pytest.approx(0.652380, abs=5e-7)
    assert pair["quadratic"] == pytest.approx(0.702334, abs=5e-7)
    assert np.sum(pair["confusion"]) == len(rows) == pair["n"]


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_the_librarys_on_ten_labels_in_another_order(level):
    table = RatingTable((i, p, {"a": "10", "b": "9", "c": "2", "d": "-1"}[label]) for i, p, label in some_rows(5))
    by_value = np.argsort([float(label) for label in table.labels])
    theirs = krippendorff.alpha(
        value_counts=table.counts[:, by_value],
        level_of_measurement=level,
        value_domain=sorted(float(label) for label in table.labels),
    )
    assert values(reliability(table))[f"alpha_{level}"] == pytest.approx(theirs, abs=1e-12)


def test_weighted_kappa_is_scikit_learns():
    table = RatingTable((i, p, str("abcd".index(label))) for i, p, label in some_rows(6, people=2, share=0.9))
    (pair,) = reliability(table)["pairs"]
    said = {(i, p): label for i, p, label in zip(table.item, table.annotator, table.label, strict=True)}
    both = [(said[i, 0], said[i, 1]) for i in range(len(table.items)) if (i, 0) in said and (i, 1) in said]
    for weights in ("linear", "quadratic"):
        assert pair[weights] == pytest.approx(cohen_kappa_score(*zip(*both, strict=True), weights=weights), abs=1e-12)


def test_words_have_no_order_unless_it_is_said():
    table = RatingTable([(1, "x", "low"), (1, "y", "high"), (2, "x", "low"), (2, "y", "low")])
    notes = {key: one["note"] for key, one in reliability(table)["measures"].items() if one["note"]}
    few = RESTS_ON.format("1 item", "0.200")  # (1/2 − 3/8) / (1 − 3/8)
    undefined = {"alpha_interval": NO_NUMBERS, "alpha_ordinal": NO_ORDER}
    assert notes == undefined | {"cohen_mean": f"{THIN_NOTE}; {few}", "fleiss": few, "alpha_nominal": few}
    assert values(reliability(table, order=["low", "high"]))["alpha_ordinal"] is not None


@pytest.mark.parametrize("agreed, noted", [(6, True), (7, False)])
def test_a_rare_label_that_few_items_agree_on_is_noted_though_many_have_it(agreed, noted):
    """Of 200 items, 20 have one judgment of b that nobody shares."""
    given = ["aa"] * (180 - agreed) + ["ab"] * 20 + ["bb"] * agreed
    table = RatingTable((item, rater, label) for item, both in enumerate(given) for rater, label in enumerate(both))
    note = reliability(table)["measures"]["alpha_nominal"]["note"]
    assert note.startswith(RESTS_ON_AGREED.partition("{}")[0] + f"{agreed} items with two judgments") == noted


def test_labels_beside_the_scale_are_not_other_answers_of_it():
    labels = ["1", "2", "3", "cannot judge"]
    patterns = np.array([[2, 0, 0, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 2]])
    times = np.array([20, 5, 3, 9])
    assert rests_on(patterns, times, label_scale(labels, aside=["cannot judge"], choices=3)).startswith(
        "rests on 3 items"
    )


def test_nothing_is_defined_where_nobody_shares_an_item():
    found = reliability(RatingTable([(1, "x", "a"), (2, "y", "b")]))
    assert all(one["value"] is None and one["note"] for one in found["measures"].values())
    assert reliability(RatingTable([]))["n_items"] == 0


def test_intervals_hold_the_value_and_none_is_given_without_one_nor_of_one_item():
    one_item = reliability(RatingTable([(1, "x", "a"), (1, "y", "b")]))
    assert {one["low"] for one in one_item["measures"].values()} == {None}
    table = RatingTable((i, p, str("abcd".index(label))) for i, p, label in some_rows(1))
    for one in reliability(table)["measures"].values():
        assert (one["low"] is None) == (one["high"] is None) == (one["value"] is None)
        assert one["value"] is None or one["low"] < one["value"] < one["high"]


def test_the_study_page_has_the_same_figures():
    """Of an item with one rating too, which alpha leaves out."""
    table = RatingTable([*some_rows(1), (1000, 1, "a")])
    found, page = reliability(table)["measures"], agreement_figures("answer", table)["measures"]
    assert list(page) == ["percent", "cohen_mean", "alpha_nominal"]
    assert page == {key: found[key] for key in page}


def test_perfect_agreement_of_few_items_is_not_certain():
    """Two annotators alike on 50 items: Wilson's with t on 49 degrees of freedom, by hand; kappa's De is 1/2."""
    figures = reliability(RatingTable((i, who, "ab"[i % 2]) for i in range(50) for who in "xy"))["measures"]
    found = {key: [one["low"], one["high"]] for key, one in figures.items()}
    assert found["percent"] == [pytest.approx(50 / (50 + 2.009575**2), abs=1e-6), 1]
    for name in ("cohen_mean", "alpha_nominal", "fleiss", "ac1"):
        assert found[name] == [pytest.approx(2 * found["percent"][0] - 1, abs=0.004), 1]


def test_without_its_only_other_label_a_coefficient_is_not_defined():
    """Not even by what is left of sums of thirds: the item that has the other label then makes no difference."""
    counts = np.array([[3, 0]] * 4 + [[1, 2]])
    for measure in (coefficients.fleiss, coefficients.ac1(), coefficients.alpha_nominal):
        parts = measure.parts(counts)
        assert np.isnan(measure.of(parts.sum(axis=0) - parts)[-1])


@pytest.mark.parametrize("cell", made_up.CELLS[::41], ids=str)
@pytest.mark.parametrize(
    ("studies", "least"), [(60, 0.85), pytest.param(400, 0.9, marks=pytest.mark.nightly)], ids=["short", "long"]
)
def test_the_intervals_cover_the_truth(cell, studies, least):
    """In made-up studies whose agreement is known. `python -m bench.coverage` has 1,000 studies of every cell."""
    found = made_up.coverage(cell, studies)
    assert {name: share for name, share in found.items() if share is not None and share < least} == {}


def test_the_documentation_has_every_measure():
    missing = [one.key for one in MEASURES if f"`{one.key}`" not in DOCUMENTED.read_text()]
    assert missing == [], "docs/reference/measures.md, Measures by their keys, lacks a row"
