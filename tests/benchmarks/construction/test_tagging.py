"""The tagger that is installed, on captions of ours; the tags of both kinds."""

import pytest

from benchmarks.construction.tagging import ADJECTIVE, NOUN, OTHER, claws, penn, tagger

SHORT = {NOUN: "n", ADJECTIVE: "a", OTHER: "-"}


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("remarkable scene with a blue ball behind a green chair", "an--an--an"),
        ("two dogs are running through the wet grass", "-n----an"),
        ("a man riding a big wave on a surfboard", "-n--an--n"),
        ("the crouched cat and the open door", "-an--an"),
        ("several people sit at a round wooden table", "-n---aan"),
    ],
)
def test_captions(caption, expected):
    assert "".join(SHORT[tag] for tag in tagger().tags(caption.split())) == expected


def test_every_word_gets_a_tag():
    odd = ["", "😀", "고양이", "1/2", "x" * 20_000]
    assert len(tagger().tags(odd)) == len(odd)
    assert list(tagger().tags([])) == []


def test_it_says_its_version():
    assert tagger().name.startswith(("HanTa 1.", "spaCy "))


def test_tag_sets():
    assert [penn(tag) for tag in ("NN", "NNPS", "JJR", "VBG", "")] == [NOUN, NOUN, ADJECTIVE, OTHER, OTHER]
    assert [claws(tag) for tag in ("NN1", "NP0", "UNC", "AJS", "VVG")] == [NOUN, NOUN, NOUN, ADJECTIVE, OTHER]
