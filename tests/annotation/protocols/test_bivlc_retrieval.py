"""BiVLC §4 and App. D, by literals: image to text and text to image, two questions each of an item."""

import pytest

from annotation.protocols.base import TaskSpec, UnsuitableItem
from annotation.protocols.registry import PROTOCOLS
from tests.annotation.protocols.items import BOTH, item

I2T, T2I = PROTOCOLS["bivlc-i2t"], PROTOCOLS["bivlc-t2i"]
CAPTIONS = ("caption-positive-0", "caption-negative-0")
CHOSEN = {"negative": "candidate-3"}


def test_image_to_text_shows_each_image_with_both_captions():
    assert I2T.tasks(item(), CHOSEN) == [
        TaskSpec(("positive-0",), CAPTIONS, "positive"),
        TaskSpec(("candidate-3",), CAPTIONS, "negative"),
    ]


def test_text_to_image_shows_each_caption_with_both_images():
    images = ("positive-0", "candidate-3")
    assert T2I.tasks(item(), CHOSEN) == [
        TaskSpec(("caption-positive-0",), images, "positive"),
        TaskSpec(("caption-negative-0",), images, "negative"),
    ]


def test_a_benchmark_with_both_images_needs_no_stage_before():
    assert I2T.tasks(item(images=BOTH), {})[1].shows == ("negative-0",)
    assert T2I.tasks(item(images=BOTH), {})[0].options == ("positive-0", "negative-0")


@pytest.mark.parametrize("options", [CAPTIONS, CAPTIONS[::-1]])
def test_the_caption_of_the_image_is_right(options):
    assert I2T.right_answer("positive", options) == "caption-positive-0"
    assert I2T.right_answer("negative", options) == "caption-negative-0"


@pytest.mark.parametrize("options", [("positive-0", "candidate-3"), ("negative-0", "positive-0")])
def test_the_image_of_the_caption_is_right(options):
    assert T2I.right_answer("positive", options) == "positive-0"
    assert T2I.right_answer("negative", options) in {"candidate-3", "negative-0"}


@pytest.mark.parametrize("protocol", [I2T, T2I], ids=lambda one: one.name)
def test_every_question_has_one_right_answer_among_its_options(protocol):
    asks = protocol.tasks(item(), CHOSEN)
    rights = [protocol.right_answer(ask.question, ask.options) for ask in asks]
    assert len(set(rights)) == 2 and all(right in ask.options for right, ask in zip(rights, asks, strict=True))


@pytest.mark.parametrize("protocol", [I2T, T2I], ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        (item(captions=["positive"], images=BOTH), "item 7 has no negative caption"),
        (item(captions=["negative"], images=BOTH), "item 7 has no positive caption"),
        (item(images=["negative"]), "item 7 has no positive image"),
        (item(), "item 7 has no negative image"),
    ],
)
def test_an_item_that_lacks_something_is_named_with_what_it_lacks(protocol, lacking, words):
    with pytest.raises(UnsuitableItem, match=words):
        protocol.tasks(lacking, {})


@pytest.mark.parametrize("protocol", [I2T, T2I], ids=lambda one: one.name)
def test_answers_are_measured_and_drop_nothing(protocol):
    assert protocol.measures and not protocol.fixed
    assert {protocol.reason(one) for one in ("caption-negative-0", "positive-0", "cannot_judge")} == {""}
    assert protocol.leaks == {"bivlc-choose", "bivlc-disambiguate"}
