"""Edit distance and word overlap against literals, and the paper's finding on the shipped file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics.edit_distance import distance
from benchmarks.metrics.lexical import STARTS, Likeness, compare, overlap, words

CAT = ("The backpack contains the cat.", "The cat is in the backpack.", "The backpack contains the cap.")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("kitten", "sitting", Likeness(3, 1, 0.0)),
        ("A cat.", "A cat.", Likeness(0, 0, 1.0)),
        ("A cat.", "a CAT", Likeness(5, 0, 1.0)),
        ("a dog left of a cat", "a cat left of a dog", Likeness(6, 2, 1.0)),
        ("The cup is red", "The cup is not red", Likeness(4, 1, 4 / 5)),
        ("", "one two", Likeness(7, 2, 0.0)),
        ("?", "!!", Likeness(2, 0, 1.0)),
    ],
)
def test_of_two_captions(one, other, expected):
    assert compare(one, other) == expected


def test_words():
    assert words("Don’t stop: the T-shirt's 2 «ÉTÉ» snake_case — ok.") == [
        "don’t", "stop", "the", "t-shirt's", "2", "été", "snake", "case", "ok",
    ]  # fmt: skip


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(texts, texts, texts)
def test_edit_distance_is_a_distance(a, b, c):
    ab, ba, bc, ac = compare(a, b), compare(b, a), compare(b, c), compare(a, c)
    assert ab == ba and (ab.characters == 0) == (a == b) and 0 <= ab.overlap <= 1
    assert ac.characters <= ab.characters + bc.characters and ac.words <= ab.words + bc.words


@given(st.text("abc ", max_size=100), st.text("abc ", max_size=100), texts, texts)
def test_edit_distance_in_measures_of_models_is_rapidfuzz_s(a, b, c, d):
    for one, other in ((a, b), (c, d), (a, c), (d, b)):
        assert distance(one, other) == compare(one, other).characters


def test_of_many_items():
    found = overlap([CAT, ("one two", "two one", "one two")])
    assert list(found) == ["P1-P2", "P1-N", "P2-N"] and json.loads(json.dumps(found)) == found
    assert (found["P1-N"]["n"], found["P1-N"]["characters"]["mean"], found["P1-N"]["words"]["median"]) == (2, 0.5, 0.5)
    assert found["P1-N"]["overlap"]["mean"] == (3 / 5 + 1) / 2
    counts = {(bin["from"], bin["to"]): bin["count"] for bin in found["P1-N"]["characters"]["bins"] if bin["count"]}
    assert counts == {(0, 1): 1, (1, 5): 1}


@given(st.lists(st.tuples(*[st.text("ab ", max_size=140)] * 3), max_size=5))
def test_every_value_is_in_one_bin_and_the_bins_stay(items):
    for pair in overlap(items).values():
        for measure, starts in STARTS.items():
            assert tuple(bin["from"] for bin in pair[measure]["bins"]) == starts
            assert sum(bin["count"] for bin in pair[measure]["bins"]) == pair["n"] == len(items)


def test_the_ends_of_the_bins():
    far = overlap([("", "x" * 500, "x" * 5)])
    ends = {pair: [bin["from"] for bin in of["characters"]["bins"] if bin["count"]] for pair, of in far.items()}
    assert ends == {"P1-P2": [100], "P1-N": [5], "P2-N": [100]}
    assert overlap([CAT])["P1-N"]["overlap"]["bins"][6]["count"] == 1  # 3 of 5 words: not lost to rounding


def test_of_no_items():
    assert overlap([])["P1-P2"]["n"] == 0 and overlap([])["P1-P2"]["words"]["mean"] is None


def spatial(folder):
    """(P1, P2, N) of every row that has all three."""
    rows = (folder / "data/visla/Spatial_VISLA.tsv").read_text(encoding="utf-8").splitlines()[1:]
    cells = [[cell.strip() for cell in row.split("\t")] for row in rows]
    return [tuple(row[1:4]) for row in cells if len(row) >= 4 and all(row[1:4])]


@pytest.mark.real
def test_the_positives_of_spatial_visla_lie_further_apart_than_either_from_the_negative(real):
    items = spatial(real)
    found = overlap(items)
    assert len(items) == 640
    for measure in ("characters", "words"):
        mean = {pair: of[measure]["mean"] for pair, of in found.items()}
        assert mean["P1-P2"] > mean["P1-N"] and mean["P1-P2"] > mean["P2-N"]
