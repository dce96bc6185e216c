"""Parts of a benchmark, as they are written and as they are said."""

import pytest

from annotation.designs import setup_wording
from annotation.designs.part import WrongPart, as_text, in_short, in_words, part_of

WHOLE = {
    "types": ["replace/obj", "swap"],
    "roles": "images.scene=2.., texts.foil=1",
    "attributes": "model=sd-3|dall-e-3, style=oil",
    "keys": "a\n7",
    "sample": 5,
}


def test_what_is_written_is_kept_and_comes_back():
    part = part_of(**WHOLE)
    assert part["roles"] == {"images.scene": "2..", "texts.foil": "1"}
    assert part["attributes"] == {"model": ["sd-3", "dall-e-3"], "style": ["oil"]}
    assert (part["keys"], part["sample"]) == (["a", "7"], 5)
    assert as_text(part) == WHOLE
    assert part_of() == {} and part_of(keys="\ufeffa\r\n\na \n") == {"keys": ["a"]}


@pytest.mark.parametrize("name, text, says", [
    ("roles", "scene=2", "images. or texts."),
    ("roles", "images.scene=many", "2, 2..4"),
    ("roles", "images.scene=4..2", "2, 2..4"),
    ("roles", "images.scene", "a name and a value"),
    ("attributes", "model", "a name and a value"),
    ("attributes", "Model=x", "not the name"),
])  # fmt: skip
def test_what_cannot_be_read_says_what_to_write(name, text, says):
    with pytest.raises(WrongPart, match=says):
        part_of(**{name: text})


@pytest.mark.parametrize("part, words", [
    ({}, ""),
    ({"types": ["swap"]}, "items of the type swapped"),
    ({"types": ["swap", "add/obj"], "roles": {"images.scene": "2.."}},
     "items of the types swapped or added object, with 2 or more scene images"),
    ({"attributes": {"model": ["a", "b"]}, "keys": ["k"]}, "items whose model is a or b, in a list of 1 key (k)"),
    ({"sample": 1000, "seed": 7, "until": 9}, "the benchmark’s items; 1,000 of them, drawn with seed 7"),
])  # fmt: skip
def test_a_part_is_said_in_a_sentence(part, words):
    assert in_words(part) == words


def test_the_set_up_of_a_stage_says_which_part_it_asks_about():
    stage = {"source": None, "sample": 5, "sample_each": False, "stratify": False}
    assert setup_wording._items(stage, {}) == "the benchmark’s items; a random sample of 5"
    assert setup_wording._items(stage, {"types": ["swap"]}) == "items of the type swapped; a random sample of 5"


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({}, ""),
        ({"sample": 200, "seed": 7, "until": 332}, "a random 200 of 332 items"),
        ({"types": ["swap"], "sample": 200}, "a random 200 of the items of the type swapped"),
        ({"types": ["swap"]}, "items of the type swapped"),
    ],
)
def test_a_part_is_said_in_short(part, words):
    assert in_short(part, 332) == words
