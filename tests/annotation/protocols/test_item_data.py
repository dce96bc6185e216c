"""The right answer of an item, as its own data have it."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from annotation.measures.declared import decided
from annotation.protocols.base import RIGHT, UnsuitableItem
from annotation.protocols.item_data import attributes_of
from annotation.protocols.ratings import Rated
from annotation.protocols.tasks import tasks_of
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own.format import FORMAT
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord
from tests.annotation.protocols.files import changed, problems, read

FOREIGN = Path(__file__).resolve().parents[4] / "shared" / "data" / "foreign"
YES_NO = {"name": "holds", "kind": "pick", "fixed": {"yes": "It is true", "no": "It is false"}}
BY_ITEM = changed(
    ("item", {"images": {"picture": "0..1"}, "captions": {"caption": 1}}),
    ("screen", [{"picture": "picture"}, {"sentence": "caption"}]),
    ("answers", [YES_NO]), ("judgments", 2),
    ("decide", [{"answer": "holds", "rule": "at_least", "of": "right", "m": "2/3", "drop": {"else": "label_doubted"}}]),
    ("right", {"from": "label"}),
)  # fmt: skip
OPTIONS = changed(
    ("item", {"images": {"picture": 1}, "texts": {"question": 1}, "lists": {"option": "2..9"}}),
    ("screen", [{"picture": "picture"}, {"sentence": "question"}]),
    ("answers", [{"name": "which", "kind": "pick", "of": ["lists.option"], "fixed": {"none": "None of these"}}]),
    ("decide", []), ("right", {"from": "answer"}),
)  # fmt: skip
SURE = changed(
    ("answers", [{"name": "sure", "kind": "scale", "points": [0, 1, 2], "anchors": {"2": "Surely"}}]),
    ("decide", []), ("right", {"from": "label", "values": {"?": 1}}), of=BY_ITEM,
)  # fmt: skip
TABLE = changed(("right", {"holds": {"from": "label", "values": {"2": "yes", "entailed": "yes"}}}), of=BY_ITEM)


def item(meta: dict, *more: CaptionRecord) -> ItemRecord:
    texts = [CaptionRecord("caption", "A cup."), CaptionRecord("question", "Which cup?"), *more]
    texts += [CaptionRecord("option", text) for text in ("red", "B", "a blue one")]
    return ItemRecord("7", "", "", tuple(texts), (ImageRecord("picture", "7.jpg"),), meta=meta)


@pytest.mark.parametrize(
    ("data", "meta", "right"),
    [
        *((BY_ITEM, {"label": value}, "yes") for value in (1, "1", True, "True", "yes", " Yes. ", "it is true", ["1"])),
        *((BY_ITEM, {"label": value}, "no") for value in (0, "0", False, "FALSE", "no", "It is false")),
        (TABLE, {"label": 2}, "yes"),
        (TABLE, {"label": "entailed"}, "yes"),
        (TABLE, {"label": "no"}, "no"),
        *((OPTIONS, {"answer": value}, "option-2") for value in ("option-2", "A blue one", "C", "(c)", "C.")),
        (OPTIONS, {"answer": "B"}, "option-1"),
        (OPTIONS, {"answer": "b"}, "option-1"),
        (OPTIONS, {"answer": "None of these"}, "none"),
        *((SURE, {"label": value}, "2") for value in (2, "2", "surely")),
        (SURE, {"label": 1}, "1"),
        (SURE, {"label": "?"}, "1"),
        (changed(("right", {"from": "gt.value"}), of=BY_ITEM), {"gt": {"value": "no"}}, "no"),
    ],
)
def test_what_the_data_say_is_a_value_of_the_answer(data, meta, right):
    file = read(data)
    assert list(attributes_of(file, item(meta))[RIGHT].values()) == [right]
    assert tasks_of(file, item(meta), {})


def test_a_text_under_a_role_that_the_file_does_not_show_can_have_it():
    assert attributes_of(read(BY_ITEM), item({}, CaptionRecord("label", "no")))[RIGHT] == {"holds": "no"}


def test_what_is_drawn_on_the_picture_cannot_have_it():
    drawn = changed(
        ("screen.0.boxes", "label"), ("item.attributes", ["label"]), ("right", {"holds": {"from": "label"}}), of=BY_ITEM
    )
    [found] = problems(drawn)
    assert (found.code, found.column) == ("NOT_BLIND", "right.holds.from")
    assert "label is drawn on picture for annotators" in found.advice


@pytest.mark.parametrize(("name", "said"), [("type", "own"), ("subtype", "column"), ("id", "7")])
def test_a_column_called_like_a_field_of_winnows_stands_where_the_item_has_none(name, said):
    """The same for right answers and for questions of some items only."""
    data = changed(
        ("answers.0.when", {"item": {name: [said]}}), ("decide", []),
        ("right", {"holds": {"from": name, "values": {said: "yes"}}}), of=BY_ITEM,
    )  # fmt: skip
    record = replace(item(dict.fromkeys(("type", "subtype", "id"), "column")), type="own")
    assert attributes_of(read(data), record)[RIGHT] == {"holds": "yes"}
    assert tasks_of(read(data), record, {})


@pytest.mark.parametrize(
    ("data", "meta", "words"),
    [
        (BY_ITEM, {}, "item 7 has no label, which the right answer to holds is taken from; fill in"),
        (BY_ITEM, {"label": " "}, "item 7 has no label"),
        (
            BY_ITEM,
            {"label": "maybe"},
            "'maybe' in label, which is not an answer to holds; correct it, or say which of yes, no",
        ),
        (BY_ITEM, {"label": 2}, "{from: label, values: {'2': yes}}"),
        (OPTIONS, {"answer": "D"}, "option-0, option-1, option-2"),
        (OPTIONS, {"answer": 1}, "'1' in answer"),  # from 0 or from 1: the file has to say
        (SURE, {"label": 3}, "'3' in label"),
    ],
)
def test_an_item_without_an_answer_that_can_be_given_is_refused(data, meta, words):
    with pytest.raises(UnsuitableItem) as refused:
        tasks_of(read(data), item(meta), {})
    assert words in str(refused.value)


@pytest.mark.real
def test_the_votes_on_vsr_keep_as_many_statements_as_its_paper():
    """Liu, Emerson and Collier 2023: at least 2/3 of a statement's votes equal its own label."""
    assert problems(BY_ITEM) == []
    file, log, votes, of_item = read(BY_ITEM), ProblemLog(), [], {}
    mapping = {"winnow": "mapping/1", "texts": {"caption": "caption"}, "images": {"picture": "image"}}
    for record in FORMAT.read(FOREIGN / "all_vsr_raw_data.jsonl", log, mapping=json.dumps(mapping)):
        of_item[record.key] = attributes_of(file, record)
        for said, column in (("yes", "vote_true_validator_id"), ("no", "vote_false_validator_id")):
            votes += [Rated(record.key, str(who), said) for who in record.meta[column]]
    found = decided(file, votes, attributes=of_item)
    assert log.problems == []
    assert Counter((one.state, one.reason) for one in found.values()) == {
        ("kept", ""): 10_972, ("dropped", "label_doubted"): 1_837,
    }  # fmt: skip
