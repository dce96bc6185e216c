"""Names of types and roles as people read them."""

import pytest

from benchmarks.naming import kind_name, part_name


@pytest.mark.parametrize(
    ("kind", "subtype", "words"),
    [
        ("swap_att", "", "swapped attribute"),
        ("replace", "rel", "replaced relation"),
        ("add", None, "added"),
        ("counting-hard", "", "counting hard"),
        ("", "obj", "no type obj"),
        ("", "", "no type"),
    ],
)
def test_types_are_read_as_words(kind, subtype, words):
    assert kind_name(kind, subtype) == words


@pytest.mark.parametrize(
    ("kind", "role", "words"),
    [
        ("captions", "positive", "caption"),
        ("captions", "negative", "hard negative"),
        ("captions", "second_positive", "second positive"),
        ("images", "positive", "positive image"),
        ("lists", "question", "question text"),
    ],
)
def test_parts_have_one_name(kind, role, words):
    assert (part_name(kind, role), part_name(kind, role, several=True)) == (words, f"{words}s")
