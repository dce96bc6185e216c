"""Which item an answer is about, and the report of what did not match."""

import pytest

from benchmarks.formats.base import ProblemLog
from benchmarks.predictions.base import Answer, Reference
from benchmarks.predictions.collecting import collect
from benchmarks.predictions.matching import NO_CAPTIONS, NO_ID, NO_IMAGE, OTHER, SEVERAL, TAKEN, match
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin

CUPS = (("positive", "A red cup."), ("negative", "A blue cup."))


def item(key: str, captions=CUPS, image: str = "1.jpg") -> ItemRecord:
    texts = tuple(CaptionRecord(role, text) for role, text in captions)
    return ItemRecord(key, "swap", "att", texts, (ImageRecord("positive", image),))


def matched(references: list[Reference], items: list[ItemRecord]):
    answers = [Answer(one, "caption", choice="right", origin=Origin("x", row)) for row, one in enumerate(references, 1)]
    return match(collect(answers, ProblemLog()), items)


def keys(found) -> list[str]:
    return [about.record.key for about in found.matched]


def test_the_item_says_what_it_is():
    found = matched([Reference("7")], [item("7")])
    assert [(about.type, about.subtype) for about in found.matched] == [("swap", "att")]


@pytest.mark.parametrize("text", ["A red cup.", "a Red  cup. ", "A red cup"])
def test_capitals_spaces_and_the_full_stop_are_not_looked_at(text):
    assert keys(matched([Reference("", (("positive", text), CUPS[1]))], [item("7")])) == ["7"]


def test_one_caption_may_be_enough():
    assert keys(matched([Reference("", CUPS[:1])], [item("7")])) == ["7"]


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (Reference("8"), NO_ID),
        (Reference("7", (("positive", "A dog."),)), OTHER),
        (Reference("", (("positive", "A dog."),)), NO_CAPTIONS),
        (Reference("", (*CUPS, ("second_positive", "A cup."))), NO_CAPTIONS),
        (Reference("", CUPS, "2.jpg"), NO_IMAGE),
    ],
)
def test_what_is_not_there_is_told_with_its_reason(reference, reason):
    told = matched([reference], [item("7")]).as_json()
    assert (told["matched"], told["unanswered_first"]) == (0, ["7"])
    assert told["unmatched_first"] == [{"file": "x", "row": 1, "item": str(reference), "reason": reason}]


def test_the_report_is_short_whatever_an_item_is_called():
    assert len(matched([Reference("x" * 1_000_000)], [item("7")]).as_json()["unmatched_first"][0]["item"]) == 400


def test_an_item_without_images_is_not_refused_for_its_image():
    texts = tuple(CaptionRecord(role, text) for role, text in CUPS)
    assert keys(matched([Reference("", CUPS, "2.jpg")], [ItemRecord("7", "swap", "att", texts, ())])) == ["7"]


TWINS = [item("7", image="1.jpg"), item("8", image="2.jpg")]


def test_the_image_tells_items_with_the_same_captions_apart():
    assert keys(matched([Reference("", CUPS, "2.jpg")], TWINS)) == ["8"]


def test_as_many_answers_as_items_are_taken_in_their_order():
    assert keys(matched([Reference("", CUPS, nth=0), Reference("", CUPS, nth=1)], TWINS)) == ["7", "8"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_is_written_the_same_to_the_letter_is_the_item(order):
    ways = [(("positive", "A red cup."),), (("positive", "a red cup"),)]
    items = [item(key, way) for key, way in zip("78", ways, strict=True)]
    assert keys(matched([Reference("", ways[one]) for one in order], items)) == ["78"[one] for one in order]
    loud = [Reference("", (("positive", text),)) for text in ("A RED CUP", "A Red Cup")]
    assert keys(matched(loud, items)) == ["7", "8"]


def test_fewer_or_more_are_not_matched():
    for count in (1, 3):
        found = matched([Reference("", CUPS, nth=nth) for nth in range(count)], TWINS)
        assert {reason for _, reason in found.unmatched} == {SEVERAL} and len(found.unmatched) == count


def test_an_item_is_answered_once():
    found = matched([Reference("7"), Reference("", CUPS)], [item("7")])
    assert [reason for _, reason in found.unmatched] == [TAKEN]
