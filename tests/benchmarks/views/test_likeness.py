"""Where the marks of the plot of likeness stand."""

import pytest

from benchmarks.metrics import lexical
from benchmarks.views import likeness

ITEMS = [("A cat sits on a mat.", "On a mat there is a cat.", "A mat sits on a cat."), ("A dog.", "A hound.", "A cat.")]


def panel(measure: str, items=ITEMS) -> dict:
    return next(one for one in likeness.panels(lexical.overlap(items)) if one["measure"] == measure)


def test_no_items_no_plot():
    assert likeness.panels(lexical.overlap([])) == []


@pytest.mark.parametrize("measure", likeness.TITLES)
def test_every_item_stands_in_the_table_and_nothing_beyond_the_axis(measure):
    found = panel(measure)
    assert [sum(row["counts"][pair] for row in found["table"]) for pair in range(3)] == [2, 2, 2]
    for row in found["rows"]:
        assert 0 <= row["at"] <= 100
        assert all(bar["x"] + bar["width"] <= 100 and 0 <= bar["y"] < likeness.HIGH for bar in row["bars"])


def test_the_axis_ends_with_the_last_bin_that_holds_something():
    assert panel("words")["table"][-1]["counts"] != [0, 0, 0]
    assert [row["label"] for row in panel("words", [("A cat.", "A cat.", "A dog.")])["table"]] == [
        "0",
        "1",
        "2",
        "3",
        "4",
    ]
    assert panel("overlap")["table"][-1]["label"] == "1"


def test_marks_are_round_numbers():
    long = "word " * 30
    assert [mark["value"] for mark in panel("words", [(long, "A cat.", long)])["marks"]] == ["0", "5", "10", "15", "20"]
    assert [mark["value"] for mark in panel("overlap")["marks"]] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        ({"from": 0, "to": 1}, "0"), ({"from": 5, "to": 10}, "5 to 9"), ({"from": 100, "to": None}, "100 or more"),
        ({"from": 0.2, "to": 0.3}, "0.2 to 0.3"), ({"from": 1.0, "to": None}, "1"),
    ],
)  # fmt: skip
def test_bins_in_words(one, said):
    assert likeness._label(one) == said


def test_the_mean_stands_within_its_bin_by_its_share():
    bins = [{"from": 0, "to": 1}, {"from": 1, "to": 5}, {"from": 5, "to": None}]
    assert [likeness._place_of(value, bins) for value in (0, 3, 7)] == [0, 1.5, 2.5]
