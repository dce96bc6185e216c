"""Spatial VISLA's candidates on the paper's example and around it; converses against the experts' own sentences."""

import re

import pytest

from benchmarks.construction.relations import CONVERSES, SYMMETRIC, converse, sentence
from benchmarks.construction.spatial import MADE, OWN, OWN_CONVERSE, SpatialCaption, candidates
from benchmarks.metrics import lexical


def cat(image: str, relation: str, row: int = 0, true: bool = True) -> SpatialCaption:
    return SpatialCaption(image, f"The cat is {relation} the basket.", "cat", relation, "basket", true, row)


def test_the_papers_example():
    found = candidates([cat("1", "in"), cat("2", "behind", 1), cat("3", "on", 2)])
    first = found.made[0]
    assert (first.second, first.origin) == ("The basket contains the cat.", MADE)
    assert first.negatives == ("The cat is behind the basket.", "The cat is on the basket.")
    assert [made.of.row for made in found.made] == [0, 1, 2]


def test_an_own_caption_goes_before_a_made_one():
    left = SpatialCaption("1", "The dog is left of the cat.", "dog", "left of", "cat")
    over = SpatialCaption("1", "The cat is larger than the dog.", "cat", "larger than", "dog", row=1)
    right = SpatialCaption("1", "There is a cat right of the dog.", "cat", "right of", "dog", row=2)
    other = SpatialCaption("2", "The dog is under the cat.", "dog", "under", "cat", row=3)
    assert [(one.second, one.origin) for one in candidates([left, over, other]).made[:1]] == [(over.caption, OWN)]
    assert candidates([left, over, right, other]).made[0].origin == OWN_CONVERSE


def test_a_false_caption_is_no_positive_but_may_be_a_negative_elsewhere():
    found = candidates([cat("1", "in"), cat("2", "under", 1, true=False)])
    assert found.dropped == [(1, "the caption does not hold for its image")]
    assert found.made[0].negatives == ("The cat is under the basket.",)


def test_a_false_caption_is_no_second_positive_of_its_own_image():
    false = SpatialCaption("1", "The basket is on the cat.", "basket", "on", "cat", False, 1)
    first = candidates([cat("1", "in"), false, cat("2", "behind", 2)]).made[0]
    assert (first.second, first.origin) == ("The basket contains the cat.", MADE)


def test_what_says_the_same_is_no_negative():
    same = SpatialCaption("2", "Look, the basket contains the cat", "basket", "contains", "cat", row=1)
    again = SpatialCaption("3", "the cat is in the basket", "cat", "is in", "basket", row=2)
    found = candidates([cat("1", "in"), same, again])
    assert found.made == []
    assert {reason for _, reason in found.dropped} == {"no other image has a different caption about the same things"}


def test_the_nearest_three_by_words_and_then_by_text():
    others = [
        cat(str(number), relation, number) for number, relation in enumerate(("near", "on", "left of", "behind"), 2)
    ]
    first = candidates([cat("1", "in"), *others]).made[0]
    assert first.negatives == (
        "The cat is behind the basket.",
        "The cat is near the basket.",
        "The cat is on the basket.",
    )
    assert candidates([cat("1", "in"), *others[::-1]]).made[0] == first


def test_dropped_with_the_relation_that_has_no_converse():
    found = candidates([cat("1", "facing"), cat("2", "in", 1), SpatialCaption("3", "x", "cat", "near", "cat", row=2)])
    assert found.dropped == [(0, "no converse of the relation: facing"), (2, "subject and object are the same")]


def test_converses():
    assert [converse(one) for one in ("left of", "Right of", "is above", "contains", "near", "inside")] == [
        "right of", "left of", "below", "in", "near", "contains",
    ]  # fmt: skip
    assert [converse(one) for one in ("facing", "between", "into", "at the edge of", "")] == [None] * 5
    assert all(converse(back) for back in CONVERSES.values())
    assert all(converse(one) == one for one in SYMMETRIC)


def test_sentences():
    assert sentence("basket", "contains", "cat") == "The basket contains the cat."
    assert sentence("skis", "contains", "cat") == "The skis contain the cat."
    assert sentence("cup and the fork", "below", "cake") == "The cup and the fork are below the cake."


@pytest.mark.real
def test_experts_often_wrote_the_very_converse(real):
    """Of 640 triplets 609 begin with a relation of the table; people chose the converse's own words in 313."""
    lines = (real / "data/visla/Spatial_VISLA.tsv").read_text(encoding="utf-8").splitlines()[1:]
    whole = [cells for cells in (line.split("\t") for line in lines) if len(cells) > 3 and all(cells[1:4])]
    longest_first = sorted(CONVERSES, key=len, reverse=True)
    form = re.compile(rf"The (.+?) (?:is |are )?({'|'.join(map(re.escape, longest_first))}) the (.+?)\.?")
    known = [(found.groups(), cells[2]) for cells in whole if (found := form.fullmatch(cells[1].strip()))]
    same = [
        lexical.words(sentence(object, converse(relation), subject)) == lexical.words(second)
        for (subject, relation, object), second in known
    ]
    assert (len(whole), len(known), sum(same)) == (640, 609, 313)
