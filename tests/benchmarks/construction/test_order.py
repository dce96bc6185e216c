"""ARO's four perturbations: what each keeps, and the paper's own example."""

from collections import Counter
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.construction.batch import Dropped
from benchmarks.construction.order import (
    PERTURBATIONS,
    SHUFFLES,
    all_splits,
    joined,
    perturbed,
    shuffle_all,
    shuffle_nouns_adjectives,
    shuffle_others,
    shuffle_trigrams,
    shuffle_within_trigrams,
    shuffled,
    words_of,
)
from benchmarks.construction.tagging import ADJECTIVE, NOUN, OTHER

EXAMPLE = ["remarkable", "scene", "with", "a", "blue", "ball", "behind", "a", "green", "chair"]
TAGS = [ADJECTIVE, NOUN, OTHER, OTHER, ADJECTIVE, NOUN, OTHER, OTHER, ADJECTIVE, NOUN]
OUTPUTS = {  # ARO, Table 1
    "nouns and adjectives": "green ball with a remarkable chair behind a blue scene",
    "all but nouns and adjectives": "remarkable scene behind a blue ball with a green chair",
    "trigrams": "a green chair remarkable scene with a blue ball behind",
    "within trigrams": "scene with remarkable a ball blue a green behind chair",
}
TAGGED = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from([NOUN, ADJECTIVE, OTHER])), max_size=14)


def made(name: str, tagged: list[tuple[str, str]], seed: int) -> tuple[list[str], list[str], list[str]] | None:
    """(words, tags, words in their new order); None where nothing would change."""
    words, tags = [word for word, _ in tagged], [tag for _, tag in tagged]
    try:
        return words, tags, SHUFFLES[name](words, tags, Random(seed))
    except Dropped as dropped:
        assert dropped.reason == "nothing would change"
        return None


@pytest.mark.parametrize("name", list(SHUFFLES))
@given(TAGGED, st.integers())
def test_the_words_stay_the_same_and_their_order_does_not(name, tagged, seed):
    if found := made(name, tagged, seed):
        words, _, changed = found
        assert Counter(changed) == Counter(words)
        assert changed != words
        assert made(name, tagged, seed)[2] == changed


@given(TAGGED, st.integers())
def test_nouns_stand_where_nouns_stood(tagged, seed):
    if found := made("nouns and adjectives", tagged, seed):
        _, tags, _ = found
        for kind in (NOUN, ADJECTIVE):
            before, after = ([word for word, tag in zip(one, tags, strict=True) if tag == kind] for one in found[::2])
            assert Counter(before) == Counter(after)


@pytest.mark.parametrize(
    ("name", "stay"), [("nouns and adjectives", {OTHER}), ("all but nouns and adjectives", {NOUN, ADJECTIVE})]
)
@given(TAGGED, st.integers())
def test_what_is_not_meant_stays(name, stay, tagged, seed):
    if found := made(name, tagged, seed):
        words, tags, changed = found
        assert all(changed[place] == words[place] for place, tag in enumerate(tags) if tag in stay)


@given(st.integers(4, 14), st.integers())
def test_trigrams_stay_whole(count, seed):
    words = [f"w{number}" for number in range(count)]
    changed = shuffle_trigrams(words, [], Random(seed))
    assert any(changed in (joined(list(order)) for order in permutations(chunks)) for chunks in all_splits(words)), (
        changed
    )
    assert all(sorted(map(len, chunks))[1:] == [3] * (len(chunks) - 1) for chunks in all_splits(words))


@given(TAGGED, st.integers())
def test_words_stay_within_their_trigram(tagged, seed):
    if found := made("within trigrams", tagged, seed):
        words, _, changed = found
        for start in range(0, len(words), 3):
            assert Counter(words[start : start + 3]) == Counter(changed[start : start + 3])


def reachable(name: str) -> set[str]:
    """Every order of the example that the perturbation can give, written down without its code."""
    places = {
        "nouns and adjectives": [[0, 4, 8], [1, 5, 9]],
        "all but nouns and adjectives": [[2, 3, 6, 7]],
        "within trigrams": [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]],
    }
    if name == "trigrams":
        return {" ".join(joined(list(order))) for chunks in all_splits(EXAMPLE) for order in permutations(chunks)}
    found = set()
    for orders in product(*(permutations(group) for group in places[name])):
        words = list(EXAMPLE)
        for group, order in zip(places[name], orders, strict=True):
            for place, source in zip(group, order, strict=True):
                words[place] = EXAMPLE[source]
        found.add(" ".join(words))
    return found


@pytest.mark.parametrize("name", list(OUTPUTS))
def test_the_papers_example_is_among_what_can_come_out(name):
    possible = reachable(name)
    assert OUTPUTS[name] in possible
    drawn = {" ".join(PERTURBATIONS[name](EXAMPLE, TAGS, Random(seed))) for seed in range(3000)}
    assert drawn <= possible - {" ".join(EXAMPLE)}
    assert OUTPUTS[name] in drawn


@pytest.mark.parametrize(
    ("perturbation", "words", "tags"),
    [
        (shuffle_nouns_adjectives, ["a", "red", "cup"], [OTHER, ADJECTIVE, NOUN]),
        (shuffle_nouns_adjectives, ["dog", "by", "dog"], [NOUN, OTHER, NOUN]),
        (shuffle_others, ["a", "cup", "a", "cup"], [OTHER, NOUN, OTHER, NOUN]),
        (shuffle_trigrams, ["a", "red", "cup"], []),
        (shuffle_trigrams, ["a"] * 7, []),
        (shuffle_within_trigrams, ["cup"], []),
        (shuffle_within_trigrams, [], []),
    ],
)
def test_where_nothing_can_move_it_says_so(perturbation, words, tags):
    with pytest.raises(Dropped, match="nothing would change"):
        perturbation(words, tags, Random(1))


def test_a_caption_is_brought_into_one_form_first():
    assert words_of('A man\'s T-shirt, at 7:30 - "new"!') == ["a", "man's", "t-shirt", "at", "7:30", "new"]
    text, wrong = perturbed("Remarkable scene with a blue ball, behind a green chair.", lambda words: TAGS, 3)
    assert text == " ".join(EXAMPLE)
    assert list(wrong) == list(PERTURBATIONS)
    assert perturbed(text, lambda words: TAGS, 3) == (text, wrong)
    assert perturbed(text, lambda words: TAGS, 4)[1] != wrong


def test_a_dropped_caption_names_the_perturbation():
    with pytest.raises(Dropped, match="nouns and adjectives: nothing would change"):
        perturbed("A red cup.", lambda words: [OTHER, ADJECTIVE, NOUN], 0)


@pytest.mark.parametrize("caption", ["cat dog sat by", "big cat small dog in out", "cat sat on mat by dog"])
def test_no_two_orders_of_a_caption_read_the_same(caption):
    """Chance is one in five only where the four negatives are four: of 200 draws each, 38, 7 and 3 had two alike."""
    kinds = {"red": ADJECTIVE, "big": ADJECTIVE, "small": ADJECTIVE, "cat": NOUN, "mat": NOUN, "dog": NOUN}
    for seed in range(200):
        text, orders = perturbed(caption, lambda words: [kinds.get(word, OTHER) for word in words], seed)
        assert len({text, *orders.values()}) == 5


def test_orders_that_can_only_read_the_same_drop_the_caption():
    with pytest.raises(Dropped, match=r"identical to another order|nothing would change"):
        perturbed("cat dog in", lambda words: [NOUN, NOUN, OTHER], 1)


def test_a_tagger_that_loses_words_is_an_error():
    with pytest.raises(ValueError, match="1 tags for 3 words"):
        perturbed("A red cup.", lambda words: [NOUN], 0)


# All words, and captions for retrieval


def test_any_word_takes_any_place():
    drawn = {tuple(shuffle_all(["a", "b", "c"], ["", "", ""], Random(seed))) for seed in range(200)}
    assert drawn == {*permutations("abc")} - {("a", "b", "c")}


@pytest.mark.parametrize("name", list(SHUFFLES))
def test_a_caption_is_shuffled_by_its_seed_and_stays_if_it_cannot_change(name):
    drawn = {shuffled(name, EXAMPLE, TAGS, seed) for seed in range(100)}
    assert " ".join(EXAMPLE) not in drawn and len(drawn) > 3
    assert shuffled(name, EXAMPLE, TAGS, 7) == shuffled(name, EXAMPLE, TAGS, 7)
    assert (shuffled(name, ["dog"], [NOUN], 1), shuffled(name, [], [], 1)) == ("dog", "")
