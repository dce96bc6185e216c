"""The words that set two captions apart, as pages mark them."""

from html import unescape

import pytest
from django.utils.html import strip_tags

from benchmarks.differences import marked_apart


@pytest.mark.parametrize(("first", "second"), [
    ("a stop sign on a pole", "<mark>A ball and</mark> a stop sign on a pole."),
    ("A <mark>red</mark> jacket", "A &lt;<mark>green</mark>&gt; jacket."),
    ("a sign <mark>put upside down on</mark> a metal pole", "A sign <mark>taken off from</mark> a metal pole."),
    ("a cat", "A cat <mark>sits</mark>."), ("<mark>a</mark> cat", "<mark>A</mark> cat"),
    ("A cat", "A cat<mark>.</mark>"), ("one", "quite another text"),
])  # fmt: skip
def test_case_and_punctuation_are_marked_only_where_nothing_else_differs(first, second):
    assert marked_apart([unescape(strip_tags(one)) for one in (first, second)]) == [first, second]
