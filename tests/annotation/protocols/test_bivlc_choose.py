"""BiVLC §3.1 step 3, by literals."""

import pytest

from annotation.protocols.base import TaskSpec, UnsuitableItem
from annotation.protocols.registry import PROTOCOLS
from tests.annotation.protocols.items import item

PROTOCOL = PROTOCOLS["bivlc-choose"]


def test_it_shows_the_negative_caption_and_the_candidates():
    four = tuple(f"candidate-{n}" for n in range(4))
    assert PROTOCOL.tasks(item(), {}) == [TaskSpec(("caption-negative-0",), four)]


def test_of_several_rounds_the_last_is_asked():
    later = item(images=["positive", *["candidate"] * 5], rounds=[1, 1, 1, 1, 2, 2])
    assert PROTOCOL.tasks(later, {})[0].options == ("candidate-3", "candidate-4")


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        (item(images=["positive", "candidate"]), "item 7 has 1 candidate image;"),
        (item(images=["candidate"] * 10), "item 7 has 10 candidate images"),
        (item(captions=["positive"]), "item 7 has no negative caption"),
    ],
)
def test_an_item_that_lacks_something_is_named_with_what_it_lacks(lacking, words):
    with pytest.raises(UnsuitableItem, match=words):
        PROTOCOL.tasks(lacking, {})


def test_none_and_cannot_judge_drop_the_item_and_an_image_keeps_it():
    reasons = {answer: PROTOCOL.reason(answer) for answer in ("none", "cannot_judge", "candidate-3")}
    assert reasons == {"none": "no_image_fits", "cannot_judge": "cannot_judge", "candidate-3": ""}


def test_agreement_is_looked_at_on_any_image_or_none():
    project = PROTOCOL.projections["any or none"]
    assert [project(one) for one in ("candidate-0", "candidate-3", "none")] == ["any", "any", "none"]
    assert project("cannot_judge") == "cannot_judge"
