"""Which questions suit a benchmark, and under which names for roles."""

import pytest

from annotation.designs.fit import coverage, fitted, mapped_by_hand, role_choices
from annotation.designs.presets import PRESETS, stages_in_order
from annotation.protocols.roles import split
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord


def item(**parts: int) -> ItemRecord:
    """`images_scene=1, caption=2`: that many of each."""
    captions = [CaptionRecord(role, f"{role} {n}") for role, count in parts.items() for n in range(count)
                if not role.startswith("images_")]  # fmt: skip
    images = [ImageRecord(role.removeprefix("images_"), f"{role}{n}.jpg") for role, count in parts.items()
              for n in range(count) if role.startswith("images_")]  # fmt: skip
    return ItemRecord("one", "", "", tuple(captions), tuple(images))


@pytest.mark.parametrize("protocol, parts, roles", [
    ("image-caption-foil", {"images_positive": 1, "positive": 1, "negative": 1}, {}),
    ("image-caption-foil", {"images_scene": 1, "caption": 1, "foil": 1},
     {"images.positive": "scene", "captions.positive": "caption", "captions.negative": "foil"}),
    ("prompt-fit", {"images_scene": 1, "caption": 1}, {"images.picture": "scene", "texts.prompt": "caption"}),
    ("verify", {"images_left": 1, "words": 1}, {"images.positive": "left", "captions.positive": "words"}),
])  # fmt: skip
def test_roles_are_guessed_by_name_kind_and_count(protocol, parts, roles):
    (stage,) = fitted(stages_in_order([protocol]).stages, item(**parts))
    assert split(stage.protocol) == (protocol, roles) and stage.stage_name == protocol


@pytest.mark.parametrize("protocol, parts", [
    ("image-caption-foil", {"images_scene": 1, "caption": 1}),  # no foil
    ("image-caption-foil", {"images_scene": 1, "caption": 1, "foil": 4}),  # too many
    ("visla-triplet", {"images_scene": 1, "caption": 1, "foil": 1}),  # has fixed roles
    ("count-objects", {"images_positive": 1, "positive": 1, "negative": 1}),  # a negative is no first object
    ("image-questions", {"images_picture": 1, "caption": 1}),  # nor a caption a question
    ("bivlc-disambiguate", {"images_left": 1, "images_right": 1, "prompt": 1}),  # either could be the positive
])  # fmt: skip
def test_what_an_item_lacks_is_not_made_up(protocol, parts):
    assert fitted(stages_in_order([protocol]).stages, item(**parts)) is None


@pytest.mark.parametrize("protocol, parts, roles", [
    ("prompt-fit", {"images_scene": 1, "alpha": 1, "beta": 1}, {"images.picture": "scene", "texts.prompt": "alpha"}),
    ("image-questions", {"images_picture": 1, "caption": 1, "foil": 1},
     {"lists.question": "caption"}),  # but never a foil
    ("image-questions", {"images_picture": 1, "foil": 1}, {}),
    ("prompt-fit", {"images_scene": 1}, {}),  # no choice would help
])  # fmt: skip
def test_where_names_leave_it_open_a_part_is_proposed(protocol, parts, roles):
    (stage,) = stages_in_order([protocol]).stages
    assert mapped_by_hand(stage, item(**parts)) == roles


def test_a_stage_that_takes_an_earlier_ones_results_is_asked_about_with_it():
    """Alone, it names a source that is not there."""
    describe, revise = fitted(stages_in_order(["describe", "revise"]).stages, item(images_photo=1))
    assert mapped_by_hand(revise, item(images_photo=1), [describe]) == {"images.picture": "photo"}


def test_what_an_earlier_stage_writes_needs_no_mapping():
    stages = fitted(stages_in_order(["describe", "revise"]).stages, item(images_photo=1))
    assert [split(one.protocol)[1] for one in stages] == [{"images.picture": "photo"}] * 2
    assert [(one.stage_name, one.source) for one in stages] == [("describe", ""), ("revise", "describe")]


def test_a_choice_has_what_the_item_offers():
    (stage,) = stages_in_order(["prompt-fit"]).stages
    choices = role_choices(stage, [stage], item(images_scene=1, images_mask=3, prompt=1))
    assert [(one.role, one.name, one.there) for one in choices] == [
        ("images.picture", "scene", (("mask", 3), ("scene", 1))),
    ]  # fmt: skip


def test_the_question_that_shows_most_of_an_item_is_known():
    foil = item(images_positive=1, positive=1, negative=1)
    shares = {name: coverage(stages_in_order([name]).stages, foil) for name in ("verify", "image-caption-foil")}
    assert shares == {"verify": pytest.approx(2 / 3), "image-caption-foil": 1}
    candidates = item(images_positive=1, images_candidate=4, positive=1, negative=1)
    assert coverage(PRESETS["bivlc"].stages, candidates) == 1
