"""ARO's templates on the paper's own captions, and what they leave out."""

import pytest

from benchmarks.construction.batch import Dropped, construct
from benchmarks.construction.templates import Pair, attribution_captions, relation_captions


def test_the_papers_captions():
    assert relation_captions("horse", "eating", "grass") == Pair(
        "the horse is eating the grass", "the grass is eating the horse"
    )
    assert relation_captions("dog", "is behind", "tree").positive == "the dog is behind the tree"
    assert attribution_captions("crouched", "cat", "open", "door") == Pair(
        "the crouched cat and the open door", "the open cat and the crouched door"
    )


def test_white_space_and_capitals_make_no_difference():
    assert relation_captions(" Horse", "Sitting  On ", "grass").positive == "the horse is sitting on the grass"


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (("dog", "behind", "Dog"), "both objects are of one kind"),
        (("dog", "next to", "tree"), "symmetric relation: next to"),
        (("dog", "near", "tree"), "symmetric relation: near"),
        (("dog", " ", "tree"), "a part of the template is empty"),
    ],
)
def test_relations_that_make_no_pair(parts, reason):
    with pytest.raises(Dropped, match=reason):
        relation_captions(*parts)


def test_attributes_that_make_no_pair():
    with pytest.raises(Dropped, match="both objects"):
        attribution_captions("red", "cup", "blue", "cup")
    with pytest.raises(Dropped, match="both attributes"):
        attribution_captions("red", "cup", "Red", "door")


def test_a_batch_says_what_it_made_and_what_it_dropped():
    rows = [(3, ("dog", "near", "tree")), (4, ("dog", "behind", "tree")), (9, ("cat", "near", "cat"))]
    batch = construct(rows, lambda parts: relation_captions(*parts))
    assert [pair.positive for pair in batch.made] == ["the dog is behind the tree"]
    assert batch.dropped == [(3, "symmetric relation: near"), (9, "both objects are of one kind")]
    assert batch.read == 3
