"""Whether a caption holds of an image, by literals."""

import re
from pathlib import Path

import pytest

from annotation.protocols.base import TaskSpec, UnsuitableItem
from annotation.protocols.registry import PROTOCOLS
from tests.annotation.protocols.items import BOTH, item

PROTOCOL = PROTOCOLS["verify"]
POSITIVE = TaskSpec(("positive-0", "caption-positive-0"), (), "positive")
KEYS = Path(__file__).resolve().parents[3] / "static" / "js" / "judging" / "keys.js"


def test_a_pair_is_one_question():
    assert PROTOCOL.tasks(item(captions=["positive"], images=["positive"]), {}) == [POSITIVE]


@pytest.mark.parametrize(
    ("images", "carried", "image"),
    [(BOTH, {}, "negative-0"), (["positive"], {"negative": "candidate-1"}, "candidate-1")],
)
def test_with_a_negative_image_there_are_two(images, carried, image):
    negative = TaskSpec((image, "caption-negative-0"), (), "negative")
    assert PROTOCOL.tasks(item(images=images), carried) == [POSITIVE, negative]


def test_a_negative_image_without_a_caption_is_not_asked_about():
    assert PROTOCOL.tasks(item(captions=["positive"], images=BOTH), {}) == [POSITIVE]


def test_candidates_that_nobody_chose_are_not_asked_about():
    assert PROTOCOL.tasks(item(), {}) == [POSITIVE]


def test_an_item_without_its_positive_pair_is_named():
    with pytest.raises(UnsuitableItem, match="item 7 has no positive image"):
        PROTOCOL.tasks(item(images=["negative"]), {})
    with pytest.raises(UnsuitableItem, match="item 7 has no positive caption"):
        PROTOCOL.tasks(item(captions=["negative"]), {})


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("yes", ""), ("no", "does_not_hold"), ("cannot_tell", "cannot_tell"), ("cannot_judge", "cannot_judge")],
)
def test_only_yes_keeps_the_item(answer, reason):
    assert PROTOCOL.reason(answer) == reason


def test_agreement_is_looked_at_on_whether_it_holds():
    project = PROTOCOL.projections["holds or not"]
    answers = ("yes", "no", "cannot_tell", "cannot_judge")
    assert [project(one) for one in answers] == ["holds", "not", "not", "cannot_judge"]


def test_its_keys_are_none_of_the_pages():
    """U, F, H and whatever else judging/keys.js gives a meaning of its own."""
    taken = set(re.findall(r"\b([a-z]): \"", KEYS.read_text())) | {"z", "?", "s"}
    keys = [key for choice in PROTOCOL.fixed for key in choice.keys]
    assert taken >= {"u", "f", "h"} and not taken & set(keys) and len(set(keys)) == len(keys) == 6
