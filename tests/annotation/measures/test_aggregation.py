"""One label out of several: the published example, made-up crowds, ties and repeated readings."""

import random

import pytest

from annotation.measures import aggregation
from tests.annotation.measures.test_agreement import rated

VOTES = [("1", "x", "a"), ("1", "y", "a"), ("1", "z", "b"), ("2", "x", "b"), ("2", "y", "a")]


@pytest.mark.real
def test_the_shares_of_dawid_and_skenes_patients_are_the_published_ones(real):
    rows = [(row["item"], row["rater"], row["rating"]) for row in rated(real, "anesthesia.csv")]
    found = aggregation.dawid_skene(rows)  # observer 1 read each patient three times: three readings
    assert list(found.class_shares.values()) == pytest.approx([0.3999, 0.4216, 0.1118, 0.0667], abs=1e-4)
    assert found.converged and len(found.labels) == 45


def test_a_majority_has_its_shares_and_names_what_is_level():
    found = aggregation.majority(VOTES)
    assert found.labels == {"1": "a", "2": None} and found.ties == {"2": ["b", "a"]}
    assert found.posteriors["1"] == {"a": 2 / 3, "b": 1 / 3}
    assert found.class_shares == pytest.approx({"a": (2 / 3 + 1 / 2) / 2, "b": (1 / 3 + 1 / 2) / 2})
    assert aggregation.majority(VOTES, aggregation.FIRST_LABEL).labels["2"] == "b"


def test_a_tie_is_wrong_or_shared():
    found = aggregation.majority(VOTES)
    assert aggregation.accuracy(found, {"1": "a", "2": "a", "9": "b"}) == aggregation.Accuracy(0.5, 0.75, 2)
    assert aggregation.accuracy(aggregation.majority(VOTES, aggregation.FIRST_LABEL), {"2": "b"}).value == 0
    assert aggregation.accuracy(found, {}).value is None


def crowd(items=300, seed=1):
    """The truth, and the ratings of two who are right 19 times of 20 and of five who guess."""
    dice = random.Random(seed)
    truth = {str(item): dice.choice("ab") for item in range(items)}
    other = {"a": "b", "b": "a"}
    rows = []
    for item, label in truth.items():
        rows += [(item, f"good {n}", label if dice.random() < 0.95 else other[label]) for n in range(2)]
        rows += [(item, f"guesses {n}", dice.choice("ab")) for n in range(5)]
    return truth, rows


def test_dawid_and_skene_find_out_whom_to_trust():
    truth, rows = crowd()
    trusting, counting = (how(rows) for how in (aggregation.dawid_skene, aggregation.majority))
    assert aggregation.accuracy(trusting, truth).value > aggregation.accuracy(counting, truth).value + 0.1


def test_a_confusion_says_how_an_annotator_errs():
    rows = [
        (str(i), p, "b" if p == "flips" and i % 2 == 0 else "a" if i % 2 == 0 else "b")
        for i in range(40)
        for p in ("one", "two", "flips")
    ]
    found = aggregation.dawid_skene(rows)
    assert found.confusion["one"]["a"]["a"] == pytest.approx(1)
    assert found.confusion["flips"]["a"]["b"] == pytest.approx(1)
    assert all(sum(row.values()) == pytest.approx(1) for person in found.confusion.values() for row in person.values())


def test_the_order_of_the_rows_changes_no_posterior():
    _, rows = crowd(60)
    one, two = aggregation.dawid_skene(rows), aggregation.dawid_skene(rows[::-1])
    for item, shares in one.posteriors.items():
        assert two.posteriors[item] == pytest.approx(shares, abs=1e-6)


def test_no_rows_are_no_labels():
    assert aggregation.dawid_skene([]).labels == aggregation.majority([]).labels == {}
