"""Columns for whatever the items of a split have: no text and no image is left out."""

import json

import pytest

from annotation.exports.item_parts import columns_of, part_of, parts_of, texts_beside, votes_of, written_texts
from annotation.protocols import library
from benchmarks.formats.base import SPLIT, further_columns, further_part
from benchmarks.formats.registry import FORMATS


def line(captions: dict[str, list[str]], images: dict[str, int], chosen: str | None = None, **more) -> dict:
    return {
        "captions": [{"role": role, "text": text} for role, texts in captions.items() for text in texts],
        "images": [
            {"key": f"{role}-{n}", "sha256": f"{role}{n}"} for role, count in images.items() for n in range(count)
        ],
        "negative_image": chosen,
        **more,
    }


FIVE = line({"positive": ["A", "B"], "negative": ["C", "D"], "second_positive": ["E"]}, {"positive": 1})
CHOSEN = line({}, {"positive": 2, "negative": 1, "candidate": 3}, "candidate-1")
OWN = line({"prompt": ["P"]}, {"scene": 1, "positive": 0}, texts={"why": ["red", "blue"]})


@pytest.mark.parametrize(
    ("lines", "split", "expected"),
    [
        ([FIVE], SPLIT, {
            "negative_caption_2": "caption:negative-1", "positive_caption_2": "caption:positive-1",
            "second_positive_caption": "caption:second_positive",
        }),
        ([FIVE], FORMATS["sugarcrepe-compare"].split, {
            "positive_caption_2": "caption:positive-1", "second_positive_caption": "caption:second_positive",
        }),
        ([CHOSEN], FORMATS["sugarcrepe"].split, {
            "positive_image_2": "image:positive-1", "negative_image": "image:negative",
            "negative_image_2": "image:negative-1", "candidate_image": "image:candidate",
            "candidate_image_2": "image:candidate-1",
        }),
        ([CHOSEN, OWN], {}, {
            "prompt_caption": "caption:prompt", "scene_image": "image:scene", "why_text": "text:why",
            "why_text_2": "text:why-1", "positive_image": "image:positive", "positive_image_2": "image:positive-1",
            "negative_image": "image:negative", "negative_image_2": "image:negative-1",
            "candidate_image": "image:candidate", "candidate_image_2": "image:candidate-1",
        }),
        ([], SPLIT, {}),
    ],
)  # fmt: skip
def test_whatever_an_item_has_is_a_column(lines, split, expected):
    columns = columns_of(split, lines)
    assert {name: part for name, part in columns.items() if name not in split} == expected
    for one in lines:
        parts = parts_of(one)
        cells = [part_of(parts, part) for part in columns.values()]
        texts = [caption["text"] for caption in one["captions"]] + one.get("texts", {}).get("why", [])
        assert sorted(filter(lambda cell: isinstance(cell, str), cells)) == sorted(texts)
        assert sorted(cell["key"] for cell in cells if isinstance(cell, dict)) == sorted(
            image["key"] for image in one["images"]
        )
    for name, part in expected.items():  # by its name alone, where the role has a meaning
        assert further_part(name, split) == (part if part.split(":")[1].split("-")[0] in ROLES else "")


ROLES = ("positive", "negative", "second_positive", "candidate")


def test_columns_of_one_name_are_told_apart():
    assert further_columns({"image:a": 2, "image:a_image": 1}, {"a_image": "meta:a_image"}) == {
        "a_image_": "image:a",
        "a_image_2": "image:a-1",
        "a_image_image": "image:a_image",
    }


def test_what_annotators_wrote_stands_beside_the_captions():
    row = {"item": "1", "kind": "judge", "live": True, "counted": True, "role": "description"}
    others = [{**row, name: value} for name, value in (("kind", "check"), ("live", False), ("counted", False))]
    written = written_texts(
        [{**row, "text": "Long."}, *({**one, "text": "No."} for one in others), {**row, "text": "A"}]
    )
    assert written == {"1": {"description": ["Long.", "A"]}}
    captions = [{"role": "description", "text": "A"}, {"role": "positive", "text": "Long."}]
    assert texts_beside(captions, written["1"]) == {"description": ["Long."]}


@pytest.mark.parametrize(
    ("votes", "declared", "expected"),
    [
        ({"candidate-0": 3, "none": 1}, "", {"": {"candidate-0": 0.75, "none": 0.25}}),
        ({"caption-positive-0": 3, "both": 1}, "image-caption-foil", {"fit": {"both": 0.25, "positive": 0.75}}),
        (
            {"5/1": 2, "0.5/": 1, "cannot_judge": 1},
            "two-scores",
            {"content": {"0.5": 0.25, "5": 0.5, "cannot_judge": 0.25}, "quality": {"1": 2 / 3, "cannot_judge": 1 / 3}},
        ),
        ({}, "image-caption-foil", {"fit": {}}),
    ],
)
def test_votes_are_counted_for_each_answer_to_a_screen(votes, declared, expected):
    decision = {"stage": "1", "question": "", "round": 0, "votes": votes}
    files = {"1": library.shipped(declared)} if declared else {}
    found = json.loads(votes_of({"decisions": [decision]}, files))
    assert {one["answer"]: one["shares"] for one in found} == expected
    assert columns_of({"votes": "meta:votes"}, [line({}, {}, decisions=[decision])])["votes_"] == "votes"
