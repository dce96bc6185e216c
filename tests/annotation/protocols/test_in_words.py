"""A protocol file in sentences."""

import pytest

from annotation.protocols import answers, in_words, library
from annotation.protocols.base import Answer

ANSWERS = {
    "prompt-fit": ["fit: a point: 1 (Not at all), 2 (A little), 3 (Partly), 4 (Almost completely), 5 (Completely)."],
    "bivlc-choose": ["image: one of the candidate images, “None of them”."],
    "image-questions": ["questions: yes or no to each of the question texts."],
    "preference": ["better: the better of the picture images, “Tie”, “Both bad”."],
    "count-objects": [
        "first_count: “How many things of the first kind are there?” a whole number from 0 to 50.",
        "second_count: “How many things of the second kind are there?” a whole number from 0 to 50; asked if the item "
        "has 1 text as “second”.",
        "place: “Where is the second kind, seen from the first?” one of “On the left”, “On the right”, “Above”, "
        "“Below”, “Somewhere else”; asked if the item has 1 text as “second”.",
        "quality: “How well does the picture show what the text says?” a point: 1 (Not at all), 2, 3, 4 (Perfectly).",
    ],
    "revise": ["description: the description text, changed or as it is."],
}
MEASURES = {
    "prompt-fit": ["Agreement is ordinal, by the order of the values; the score is the mean."],
    "image-caption-foil": ["Agreement is nominal, by equal values; also on the view “caption or not”; the score is the "
                           "share of right answers.", "The right answer is the caption."],
    "winoground-pairs": ["Agreement is nominal, by equal values; the score is the share of answers “Yes”.",
                         "Group text: right if more annotators gave yes when it is right than otherwise, among the "
                         "tasks with the same image."],
    "caption-scores": ["The score total is the sum of 0.5 × precision, 0.5 × recall and −1 × flaws."],
    "two-scores": ["The score overall is the geometric mean of content and quality."],
    "bivlc-t2i": ["The right answer is positive for positive, negative for negative.",
                  "Group t2i: right if all tasks of an item are."],
}  # fmt: skip


@pytest.mark.parametrize("name", library.names())
def test_every_protocol_says_what_is_asked(name):
    file = library.shipped(name)
    said = [*in_words.answers_in_words(file), *in_words.measures_in_words(file)]
    assert all(one.isprintable() and "None" not in one for one in said[1:])
    assert in_words.answers_in_words(file) == ANSWERS.get(name, in_words.answers_in_words(file))
    assert {*MEASURES.get(name, [])} <= {*in_words.measures_in_words(file)}


def test_a_question_that_depends_on_another_says_on_what():
    found = in_words.answers_in_words(library.shipped("visible-or-not"))
    assert found[1].endswith("1 (Certain); asked if label is visibly_true or visibly_false.")


def test_a_ranking_counts_options_from_one():
    said = answers.in_words(library.shipped("rank-images"), Answer("picture-1>picture-0=picture-2"))
    assert said == "picture 2, then picture 1 and picture 3"
