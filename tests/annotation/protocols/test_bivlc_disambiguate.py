"""BiVLC §3.1 step 4, by literals."""

import pytest

from annotation.protocols.base import TaskSpec, UnsuitableItem
from annotation.protocols.registry import PROTOCOLS
from tests.annotation.protocols.items import BOTH, item

PROTOCOL = PROTOCOLS["bivlc-disambiguate"]
SHOWS = ("caption-positive-0",)


def test_the_original_stands_against_the_chosen_image():
    assert PROTOCOL.tasks(item(), {"negative": "candidate-2"}) == [TaskSpec(SHOWS, ("positive-0", "candidate-2"))]


def test_without_a_choice_it_stands_against_the_items_own_negative_image():
    assert PROTOCOL.tasks(item(images=BOTH), {}) == [TaskSpec(SHOWS, ("positive-0", "negative-0"))]


def test_what_a_stage_chose_goes_before_what_the_item_brought():
    assert PROTOCOL.tasks(item(images=BOTH), {"negative": "candidate-1"})[0].options[1] == "candidate-1"


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        (item(captions=["negative"], images=BOTH), "item 7 has no positive caption"),
        (item(images=["negative"]), "item 7 has no positive image"),
        (item(), "item 7 has no negative image, and no earlier stage has chosen one"),
    ],
)
def test_an_item_that_lacks_something_is_named_with_what_it_lacks(lacking, words):
    with pytest.raises(UnsuitableItem, match=words):
        PROTOCOL.tasks(lacking, {})


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("positive-0", ""),
        ("candidate-2", "ambiguous_generated"),
        ("negative-0", "ambiguous_generated"),
        ("both", "ambiguous_both"),
        ("cannot_judge", "cannot_judge"),
    ],
)
def test_only_the_original_keeps_the_item(answer, reason):
    assert PROTOCOL.reason(answer) == reason


def test_agreement_is_looked_at_on_what_keeps_the_item():
    project = PROTOCOL.projections["original or not"]
    assert [project(one) for one in ("positive-0", "candidate-2", "both")] == ["original", "not", "not"]
    assert project("cannot_judge") == "cannot_judge"


def test_both_has_the_key_b_and_who_chose_does_not_disambiguate():
    assert [(one.identity, one.keys) for one in PROTOCOL.fixed] == [("both", ("b",))]
    assert PROTOCOL.leaks == {"bivlc-choose"}
