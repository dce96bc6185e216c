"""Which questions of models are a stage's, and when people are right."""

import pytest

from annotation.comparison.question_map import SAME, asked_in, people_right
from annotation.protocols.registry import PROTOCOLS
from benchmarks.predictions.kinds import KINDS

PAIR = ("caption-positive-0", "caption-negative-0")
IMAGES = ("positive-0", "candidate-2")


def test_every_question_that_is_named_is_one_of_its_kind():
    for (protocol, _), asked in SAME.items():
        assert protocol in PROTOCOLS
        for kind, questions in asked.items():
            assert questions and {*questions} <= {*KINDS[kind].questions}


def test_what_no_model_is_asked_has_no_questions():
    assert asked_in("bivlc-choose") == asked_in("sugarcrepe-compare") == {}
    assert {*asked_in("bivlc-t2i")} == {"positive", "negative"}


@pytest.mark.parametrize(("protocol", "question", "options", "outcome", "right"), [
    ("bivlc-i2t", "positive", PAIR, "caption-positive-0", True),
    ("bivlc-i2t", "negative", PAIR, "caption-positive-0", False),
    ("bivlc-t2i", "negative", IMAGES, "candidate-2", True),
    ("bivlc-t2i", "positive", IMAGES, "cannot_judge", None),
    ("bivlc-t2i", "positive", IMAGES, "", None),
    ("bivlc-disambiguate", "", IMAGES, "positive-0", True),
    ("bivlc-disambiguate", "", IMAGES, "both", False),
    ("bivlc-disambiguate", "", IMAGES, "cannot_judge", None),
    ("hard-positive-rank", "", (), "second_positive>positive>negative", True),
    ("hard-positive-rank", "", (), "positive>second_positive=negative", False),
    ("hard-positive-rank", "", (), "cannot_judge", None),
    ("visla-triplet", "", (), "valid", True),
    ("visla-triplet", "", (), "dropped", False),
    ("visla-triplet", "", (), "edited", None),
    ("verify", "positive", (), "yes", True),
    ("verify", "negative", (), "no", False),
    ("verify", "negative", (), "cannot_tell", None),
])  # fmt: skip
def test_people_are_right_where_their_outcome_is(protocol, question, options, outcome, right):
    assert people_right(protocol, question, options, outcome) is right
