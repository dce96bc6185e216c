"""A mapping makes items of rows: roles, lists, groups of columns, rows that belong together."""

import pytest

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own.mapping import ColumnMapping, NotAMapping, Part, item, items, missing
from benchmarks.records import Origin


def made(mapping: dict, *rows: dict, log: ProblemLog | None = None) -> list:
    numbered = ((Origin("rows.csv", number), row) for number, row in enumerate(rows, 1))
    return list(items(numbered, ColumnMapping.from_json({"winnow": "mapping/1", **mapping}), log or ProblemLog()))


def texts(item) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in item.captions]


@pytest.mark.parametrize(
    ("place", "row", "found"),
    [
        ("caption", {"caption": "A cup."}, ["A cup."]),
        (["a", "b", "c"], {"a": "One", "b": " ", "c": "Three"}, ["One", "Three"]),
        ("all", {"all": ["One", "", None, "Two"]}, ["One", "Two"]),
        ("all", {"all": '["One", "Two"]'}, ["One", "Two"]),
        ("all", {"all": "['One', \"Two's\"]"}, ["One", "Two's"]),
        ("all", {"all": "[not a list"}, ["[not a list"]),
        ("all.POS", {"all": {"POS": ["One"], "NEG": ["Two"]}}, ["One"]),
        ("Input.text", {"Input.text": "One"}, ["One"]),
        ("{a} and {b}", {"a": "One", "b": 2}, ["One and 2"]),
        ("{a} and {b}", {"a": "One", "b": ""}, []),
        ("{id[:-2]}-img{n[-1:]}.png", {"id": "dev-850-0-0", "n": "01"}, ["dev-850-0-img1.png"]),
    ],
)
def test_a_place_gives_members(place, row, found):
    (only,) = made({"texts": {"text": place}}, row)
    assert texts(only) == [("text", one) for one in found]


def test_a_cell_of_a_formats_own_column_is_taken_as_it_stands():
    how = ColumnMapping({"positive": Part(("caption",))}, {"positive": Part(("image",))}, type="kind", literal=True)
    row = {"caption": '["A cup."]', "image": "http://x.org/1.jpg", "kind": "cup", "more": "1"}
    made = item([(Origin("rows.csv", 1), row)], how, "one")
    assert (made.key, made.type, made.caption("positive"), made.images[0].name) == (
        "one",
        "cup",
        *list(row.values())[:2],
    )
    assert made.meta == {"more": "1"}


def test_an_item_has_what_the_mapping_names_and_the_rest_as_meta():
    mapping = {
        "id": "{set}-{n}", "type": "kind", "subtype": "part", "texts": {"positive": "caption", "negative": "foil"},
        "images": {"picture": {"from": ["a", "b"], "attributes": {"model": "models", "seed": "seed"}}},
    }  # fmt: skip
    row = {"set": "s", "n": 3, "kind": "swap", "part": "att", "caption": "A red cup.", "foil": "A blue cup.",
           "a": "a.png", "b": "https://example.org/x/b%20b.png?size=1", 
           "models": ["one", "two"], "seed": 4, "label": 0}  # fmt: skip
    (item,) = made(mapping, row)
    assert (item.key, item.type, item.subtype, item.meta) == ("s-3", "swap", "att", {"label": 0})
    assert texts(item) == [("positive", "A red cup."), ("negative", "A blue cup.")]
    assert [(one.name, one.attributes) for one in item.images] == [
        ("a.png", {"model": "one", "seed": 4}),
        ("b b.png", {"model": "two", "seed": 4}),
    ]


def test_two_addresses_that_end_in_the_same_name_are_noted():
    urls = ["http://a.org/photo.jpg", "http://b.org/photo.jpg", "http://a.org/photo.jpg?w=9", "http://a.org/2.jpg"]
    log = ProblemLog()
    made({"images": {"picture": "url"}}, *({"url": url} for url in [*urls, urls[0]]), log=log)
    assert [(one.code, one.file) for one in log.notes] == [("SAME_NAME", "photo.jpg")]
    assert f"{urls[0]} and {urls[1]}" in log.notes[0].advice


def test_rows_that_belong_together_are_one_item():
    mapping = {
        "id": "item",
        "together": ["item"],
        "texts": {"prompt": "text", "question": {"from": "ask", "attributes": {"parents": "of"}}},
    }
    rows = [
        {"item": "1", "text": "A cup.", "ask": "Is it?", "of": "0", "word": "cup"},
        {"item": "1", "text": "A cup.", "ask": "Is it red?", "of": "1", "word": "red"},
        {"item": "2", "text": "A hat.", "ask": "Is it?", "of": "0", "word": "hat"},
    ]
    log = ProblemLog()
    first, second = made(mapping, *rows, log=log)
    assert texts(first) == [("prompt", "A cup."), ("question", "Is it?"), ("question", "Is it red?")]
    assert [one.attributes for one in first.captions] == [{}, {"parents": "0"}, {"parents": "1"}]
    assert (first.meta, second.meta, log.count) == ({"word": ["cup", "red"]}, {"word": "hat"}, 0)
    made(mapping, *rows, rows[0], log=log)
    assert [(one.code, one.row) for one in log.problems] == [("WRONG_VALUE", 4)]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "as an object"),
        ({"texts": {"a": "b"}}, 'Begin the mapping with "winnow": "mapping/1"'),
        ({"winnow": "mapping/1"}, "at least one column"),
        ({"winnow": "mapping/1", "text": {"a": "b"}}, "Did you mean “texts”?"),
        ({"winnow": "mapping/1", "texts": {"A b": "c"}}, "lower-case letters"),
        ({"winnow": "mapping/1", "texts": {"a": 3}}, "Write texts, a as the name of a column"),
        ({"winnow": "mapping/1", "texts": {"a": {"from": "b", "attribute": {}}}}, "Did you mean “attributes”?"),
        ({"winnow": "mapping/1", "texts": {"a": ["b"] * 51}}, "at most 50"),
    ],
)
def test_a_wrong_mapping_says_what_to_write(given, says):
    with pytest.raises(NotAMapping, match=None) as refused:
        ColumnMapping.from_json(given)
    assert says in str(refused.value)


def test_a_mapping_is_the_same_after_writing_and_names_what_is_missing():
    given = {
        "winnow": "mapping/1", "id": "{a}-{b}", "type": "kind", "together": ["a"],
        "texts": {"question": {"from": ["q", "r"], "attributes": {"model": "m"}}}, "images": {"picture": "file"},
    }  # fmt: skip
    mapping = ColumnMapping.from_json(given)
    assert mapping.as_json() == given
    assert missing(mapping, ["a", "b", "kind", "q", "r", "m", "files"]) == {"file": "Did you mean “files”?"}
