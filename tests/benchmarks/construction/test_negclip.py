"""NegCLIP's negatives: the paper's example, what each sort swaps, and captions with nothing to swap."""

import pytest

from benchmarks.construction.batch import Dropped
from benchmarks.construction.negclip import SORTS, negatives
from benchmarks.construction.tagging import ADJECTIVE, ADVERB, DETERMINER, NOUN, OTHER, VERB, tagger

LETTERS = {"n": NOUN, "a": ADJECTIVE, "r": ADVERB, "v": VERB, "d": DETERMINER, "-": OTHER}


def made(caption: str, letters: str, seed: int = 0) -> dict[str, str]:
    return negatives(caption, lambda words: [LETTERS[one] for one in letters], seed)[1]


def test_the_papers_example():
    """ARO §4: nouns or verb phrases change places; no noun phrase has three words."""
    caption = "The horse is eating the grass and the zebra is drinking the water"
    found = [negatives(caption, tagger().tags, seed) for seed in range(60)]
    assert {text for text, _ in found} == {caption.lower()}
    assert all({*one} == {"nouns", "verb phrases"} for _, one in found)
    verbs = "the horse is drinking the grass and the zebra is eating the water"
    nouns = "the zebra is eating the grass and the horse is drinking the water"
    assert {one["verb phrases"] for _, one in found} == {verbs}
    assert nouns in {one["nouns"] for _, one in found} and len({one["nouns"] for _, one in found}) == 6


def test_one_negative_for_each_sort():
    caption = "A very big dog quickly chases the small old cat, which slowly runs"
    assert made(caption, "dranrvdaan-rv") == {
        "nouns": "a very big cat quickly chases the small old dog which slowly runs",
        "adjectives": made(caption, "dranrvdaan-rv")["adjectives"],
        "adverbs": made(caption, "dranrvdaan-rv")["adverbs"],
        "verb phrases": "a very big dog quickly runs the small old cat which slowly chases",
        "noun phrases": "the small old cat quickly chases a very big dog which slowly runs",
    }
    assert len({*made(caption, "dranrvdaan-rv").values()}) == len(SORTS) == 5


def test_a_noun_phrase_of_two_words_is_left_to_its_noun():
    assert [*made("a dog sees the cat", "dnvdn")] == ["nouns"]
    assert [*made("a big dog sees the old cat", "danvdan")] == ["nouns", "adjectives", "noun phrases"]


@pytest.mark.parametrize(("caption", "letters"), [("a red door", "dan"), ("dog and dog", "n-n"), ("", "")])
def test_nothing_to_swap(caption, letters):
    with pytest.raises(Dropped):
        made(caption, letters)
