"""Swap hard positives: the paper's example, the way back, and captions of other shapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.construction.batch import Dropped
from benchmarks.construction.swaps import swapped_phrases

PHRASES = st.lists(st.sampled_from(["red", "small", "cat", "door", "wooden"]), min_size=2, max_size=4).map(" ".join)


def test_the_papers_example():
    assert swapped_phrases("the crouched cat and the open door") == "the open door and the crouched cat"
    assert swapped_phrases("The dark brown cat and the open door.") == "The open door and the dark brown cat."


@given(PHRASES, PHRASES, st.sampled_from(["", ".", "!"]))
def test_swapping_twice_gives_the_caption_back(first, second, end):
    caption = f"the {first} and the {second}{end}"
    if first == second:
        with pytest.raises(Dropped, match="both phrases are the same"):
            swapped_phrases(caption)
    else:
        assert swapped_phrases(caption) == f"the {second} and the {first}{end}"
        assert swapped_phrases(swapped_phrases(caption)) == caption


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("a crouched cat and an open door", "not “the … and the …”"),
        ("the horse is eating the grass", "not “the … and the …”"),
        ("the red cup and the blue cup and the plate", "appears more than once"),
        ("the cat and the open door", "a phrase has no attribute"),
        ("", "not “the … and the …”"),
    ],
)
def test_other_captions_are_dropped(caption, reason):
    with pytest.raises(Dropped, match=reason):
        swapped_phrases(caption)
