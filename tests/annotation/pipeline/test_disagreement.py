"""How far the answers of a task differ: what that is, when it is written, and what a migration filled in."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.pipeline.disagreement import Spread, entropy, spread
from annotation.protocols import compile, library
from annotation.protocols.base import Answer
from annotation.protocols.decision_rule import Rule
from annotation.protocols.registry import PROTOCOLS
from annotation.protocols.rules import rule_for
from tests.annotation.protocols.files import changed, read
from tests.builders import studies, text_items

EMPTY = {"entropy": 0, "differs": "", "newest": None, "waits": False}


@pytest.mark.parametrize(
    "counts, bits", [([1], 0), ([3], 0), ([1, 1], 1), ([2, 1], 0.918296), ([4, 1], 0.721928), ([1] * 5, 2.321928)]
)
def test_entropy_is_in_bits(counts, bits):
    assert entropy(counts) == bits


def of(protocol: str, *given: Answer | str) -> Spread:
    answers = [one if isinstance(one, Answer) else Answer(one) for one in given]
    return spread(Rule(PROTOCOLS[protocol], len(given), "drop"), dict(enumerate(answers, 7)))


@pytest.mark.parametrize(
    "given, differs",
    [
        (["candidate-0", "candidate-0"], ""),
        (["candidate-0", "candidate-1"], "option"),
        (["candidate-0", "none"], "kind"),
        (["none", "cannot_judge"], "kind"),
        (["candidate-0", "candidate-1", "none"], "kind"),
    ],
)
def test_options_that_are_alike_are_of_one_kind(given, differs):
    assert of("bivlc-choose", *given).differs == differs


def test_other_options_are_each_of_their_kind():
    assert of("bivlc-disambiguate", "positive-0", "negative-0") == Spread(1.0, "kind", 8)


def test_where_an_edit_is_confirmed_the_words_count():
    edits = [
        Answer(label, {"texts": {"second_positive": words}})
        for label, words in (("edited", "A cat."), ("edit-7", "A cat."), ("edited", "Two cats."))
    ]
    assert of(text_items.PARAPHRASE, *edits[:2]) == Spread()
    assert of(text_items.PARAPHRASE, *edits).entropy == 0.918296


@pytest.mark.parametrize(
    "name, given, bits",
    [
        ("prompt-fit", ["1", "5"], 1),
        ("prompt-fit", ["4", "5"], 0.25),
        ("prompt-fit", ["3", "4", "5"], 0.459148),  # 1/3 against 2/3 at two of four steps
        ("prompt-fit", ["5", "5", "cannot_judge"], 0.918296),
        ("rank-images", ["picture-0>picture-1>picture-2", "picture-2>picture-1>picture-0"], 1),
        ("rank-images", ["picture-0>picture-1>picture-2", "picture-1>picture-0>picture-2"], 0.333333),
        ("two-scores", ["1/1", "1/0.5"], 0.25),  # the mean of the two answers
        ("image-questions", ["yes,yes,no,no", "yes,yes,no,yes"], 0.25),
    ],
)
def test_answers_on_a_scale_differ_by_their_distance(name, given, bits):
    protocol = compile.as_protocol(library.shipped(name), f"{name}@1")
    assert spread(rule_for(protocol, len(given), "drop"), dict(enumerate(map(Answer, given)))).entropy == bits


def test_a_ranking_that_nobody_was_asked_for_differs_in_nothing():
    order = {"name": "order", "ask": "?", "kind": "rank", "of": ["captions.positive", "captions.negative"]}
    file = read(changed(("answers.1", order | {"when": {"fit": "both"}})))
    rule = rule_for(compile.as_protocol(file, "fits@1"), 2, "drop")
    assert spread(rule, {0: Answer("positive/"), 1: Answer("cannot_judge")}).entropy == 1


@pytest.mark.parametrize(
    "name, given, split",
    [
        ("prompt-fit", ["3", "4", "4"], False),
        ("prompt-fit", ["1", "1", "5"], True),
        ("prompt-fit", ["3", "4", "cannot_judge"], False),
        ("rank-images", ["picture-0>picture-1>picture-2", "picture-0>picture-2>picture-1"], False),
        ("rank-images", ["picture-0>picture-1>picture-2", "picture-1>picture-0>picture-2"], True),
        ("preference", ["picture-0", "picture-1"], True),
        ("verify", ["yes", "yes", "no"], False),
    ],
)
def test_one_more_judgment_is_asked_for_where_answers_on_a_scale_are_far_apart(name, given, split):
    protocol = compile.as_protocol(library.shipped(name), f"{name}@1")
    assert rule_for(protocol, len(given), "drop").is_split(given) == split


def writes(stage, answer: str) -> int:
    with CaptureQueriesContext(connection) as spent:
        studies.judgment(studies.annotator(stage.study), stage, answer)
    return sum("UPDATE annotation_task" in query["sql"] for query in spent)


@pytest.mark.django_db
def test_who_agrees_costs_no_write():
    stage = studies.stage(overlap=4)
    assert [writes(stage, answer) for answer in ("none", "none", "candidate-1", "none")] == [0, 0, 1, 1]
