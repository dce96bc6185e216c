"""Questions that only some items are asked: on what an item has, or says of itself."""

from random import Random

import pytest

from annotation.protocols import answers, base, values, walk
from annotation.protocols.simulated import simulate
from annotation.protocols.tasks import file_about, tasks_of
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord
from tests.annotation.protocols.files import changed, problems, read

COUNT = {"name": "count", "ask": "How many are there of the second?", "kind": "scale", "points": 3}
THEN = {"name": "then", "ask": "Is that right?", "kind": "pick", "fixed": {"yes": "Yes", "no": "No"}}


def file(item: dict, first: dict | None = None):
    """A question of every item, one with the condition, and one that waits for that one."""
    data = changed(
        ("item.captions", {"object": "1..2"}), ("decide", []),
        ("answers", [{**THEN, "name": "fit", **(first or {})}, {**COUNT, "when": {"item": item}},
                     {**THEN, "when": {"count": ["2", "3"]}}]),
    )  # fmt: skip
    assert problems(data) == []
    return read(data)


def an_item(objects: int = 2, model: str = "x", **meta) -> ItemRecord:
    texts = tuple(CaptionRecord("object", f"object {place}", {"model": model}) for place in range(objects))
    return ItemRecord("7", "counting", "", texts, (ImageRecord("scene", "a.png"),), meta)


@pytest.mark.parametrize(
    ("condition", "met", "not_met"),
    [
        ({"captions.object": "2.."}, an_item(2), an_item(1)),
        ({"captions.object": 1}, an_item(1), an_item(2)),
        ({"captions.object.model": ["x", "y"]}, an_item(1), an_item(model="z")),
        ({"type": "counting", "captions.object": 2}, an_item(2), an_item(1)),
        ({"level": 3}, an_item(level=3), an_item(level="4")),
        ({"level": [1, 2]}, an_item(level=[2, 5]), an_item()),
    ],
)
def test_only_items_that_meet_the_condition_are_asked(condition, met, not_met):
    of = file(condition)
    sent = {"fit": "yes", "count": "2", "then": "no"}
    for item, label in ((met, "yes/2/no"), (not_met, "yes//")):
        own, texts = file_about(of, item, {}), walk.texts_of(item)
        assert answers.parse(own, sent, (), texts).label == label
        assert bool(simulate(own, Random(1), (), texts).get("count")) == ("2" in label)
        every, whole = walk.every_answer(own, walk.Screen((), texts, ""), Random(1))
        assert whole and len(every) == (2 * (1 + 2 * 2) if "2" in label else 2)
    with pytest.raises(base.InvalidAnswer, match="question"):
        answers.parse(file_about(of, met, {}), {"fit": "yes"}, (), {})
    assert answers.parse(of, {"fit": "yes"}, (), {}).label == "yes//", "where the item is not known, either will do"


def test_an_item_that_is_asked_nothing_does_not_suit():
    of = file({"type": "counting"}, {"when": {"item": {"captions.object": 2}}})
    assert len(tasks_of(of, an_item(1), {})) == 1
    of = of.model_copy(update={"answers": [of.answers[0]]})
    with pytest.raises(base.UnsuitableItem, match="item 7 is not asked any of the questions in fits"):
        tasks_of(of, an_item(1), {})


def test_a_condition_on_items_stands_beside_those_on_answers():
    data = changed(("answers.1.when", {"fit": "both", "item": {"images.scene": 1}}))
    when = read(data).answers[1].when
    assert (when.all, when.item) == ({"fit": ["both"]}, {"images.scene": ["1"]})
    assert read(changed(("answers.1.when", {"all": {"fit": "both"}, "item": {"type": "a"}}))).answers[1].when.item
    called_item = changed(("answers.0.name", "item"), ("answers.1.when", {"item": "both"}), ("decide", []))
    assert read(called_item).answers[1].when.all == {"item": ["both"]}, "a question may be called so"
    assert values.table_values(read(called_item), "item")
