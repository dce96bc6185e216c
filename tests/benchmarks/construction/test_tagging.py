"""The tagger that is installed, on captions of ours; the tags of both kinds."""

import pytest

from benchmarks.construction.tagging import ADJECTIVE, ADVERB, DETERMINER, NOUN, OTHER, VERB, claws, penn, tagger

SHORT = {NOUN: "n", ADJECTIVE: "a"}


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
    assert "".join(SHORT.get(tag, "-") for tag in tagger().tags(caption.split())) == expected


def test_every_word_gets_a_tag():
    odd = ["", "😀", "고양이", "1/2", "x" * 20_000]
    assert len(tagger().tags(odd)) == len(odd)
    assert list(tagger().tags([])) == []


def test_it_says_its_version():
    assert tagger().name.startswith(("HanTa 1.", "spaCy "))


@pytest.mark.parametrize(
    ("sort", "of_penn", "of_claws"),
    [
        (NOUN, "NN NNPS", "NN1 NP0 UNC"),
        (ADJECTIVE, "JJ JJR", "AJ0 AJS"),
        (ADVERB, "RB RBR", "AV0"),
        (VERB, "VBG MD", "VVG VBZ VM0"),
        (DETERMINER, "DT PDT PRP$ CD", "AT0 DT0 DPS CRD"),
        (OTHER, "IN PRP WRB CC", "PRP AVP CJC PNQ"),
    ],
)
def test_tag_sets(sort, of_penn, of_claws):
    assert {*map(penn, of_penn.split()), *map(claws, of_claws.split())} == {sort}
    assert penn("") == claws("") == OTHER
