"""The words that set two captions apart, as pages mark them."""

import pytest

from benchmarks.differences import marked_apart


@pytest.mark.parametrize(
    ("texts", "marked"),
    [
        (
            ["a stop sign on a pole", "A ball and a stop sign on a pole."],
            ["a stop sign on a pole", "<mark>A ball and</mark> a stop sign on a pole."],
        ),
        (["A red jacket", "A <green> jacket."], ["A <mark>red</mark> jacket", "A &lt;<mark>green</mark>&gt; jacket."]),
        (
            ["a stop sign put upside down on a metal pole", "A stop sign taken off from a metal pole."],
            [
                "a stop sign <mark>put upside down on</mark> a metal pole",
                "A stop sign <mark>taken off from</mark> a metal pole.",
            ],
        ),
        (["a cat", "A cat sits."], ["a cat", "A cat <mark>sits</mark>."]),
        (["a cat", "A cat"], ["<mark>a</mark> cat", "<mark>A</mark> cat"]),
        (["A cat", "A cat."], ["A cat", "A cat<mark>.</mark>"]),
        (["one", "quite another text"], ["one", "quite another text"]),
    ],
)
def test_case_and_punctuation_are_marked_only_where_nothing_else_differs(texts, marked):
    assert marked_apart(texts) == marked
