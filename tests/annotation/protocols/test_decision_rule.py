"""The decision rule on every shape of answers that it names."""

import itertools

import pytest

from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN, Decision, decide, without_ties

OPTIONS = ["candidate-0", "candidate-1", "candidate-2", "candidate-3"]
DROPS = {"none": "no_image_fits", "cannot_judge": "cannot_judge"}
SHORT = {"0": "candidate-0", "1": "candidate-1", "2": "candidate-2", "n": "none", "c": "cannot_judge"}


def reason(outcome):
    return DROPS.get(outcome, "")


def rule(answers: str, tie_rule: str = "drop", overlap: int | None = None) -> Decision:
    """`rule("01n")`: candidate-0, candidate-1 and none were given, in this order."""
    given = [SHORT[letter] for letter in answers]
    return decide(given, overlap=overlap or len(given), tie_rule=tie_rule, alike=OPTIONS, reason=reason)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("1", Decision(KEPT, "candidate-1", by="only_answer")),
        ("n", Decision(DROPPED, "none", "no_image_fits", "only_answer")),
        ("c", Decision(DROPPED, "cannot_judge", "cannot_judge", "only_answer")),
        ("11", Decision(KEPT, "candidate-1", by="unanimous")),
        ("nn", Decision(DROPPED, "none", "no_image_fits", "unanimous")),
        ("0n0", Decision(KEPT, "candidate-0", by="majority")),
        ("0nn", Decision(DROPPED, "none", "no_image_fits", "majority")),
        ("ccn", Decision(DROPPED, "cannot_judge", "cannot_judge", "majority")),
        ("c1", Decision(DROPPED, "", "tie_unresolved", "tie_rule")),
        ("n1", Decision(DROPPED, "", "tie_unresolved", "tie_rule")),
        ("0nc", Decision(DROPPED, "", "tie_unresolved", "tie_rule")),
    ],
)
def test_what_the_answers_make(answers, expected):
    assert rule(answers) == expected


@pytest.mark.parametrize(
    ("answers", "outcome", "by"),
    [
        ("10", "candidate-1", "first_of_equals"),
        ("01n", "candidate-0", "first_of_equals"),
        ("n101", "candidate-1", "majority"),
    ],
)
def test_images_that_are_level_are_no_tie(answers, outcome, by):
    assert rule(answers) == Decision(KEPT, outcome, by=by)


def test_images_together_outvote_none():
    assert rule("n012n").outcome == "candidate-0"


@pytest.mark.parametrize(
    ("answers", "outcome"), [("0n", "candidate-0"), ("n0", "none"), ("cn0", "cannot_judge"), ("n1n0", "none")]
)
def test_tie_rule_first_takes_the_kind_that_was_given_first(answers, outcome):
    assert rule(answers, "first").outcome == outcome
    assert rule(answers, "first").by == "tie_rule"


@pytest.mark.parametrize("answers", ["0n", "c0", "cn0"])
def test_tie_rule_none_takes_none(answers):
    assert rule(answers, "none") == Decision(DROPPED, "none", "no_image_fits", "tie_rule")


def test_too_few_answers_leave_it_open():
    assert rule("00", overlap=3) == Decision(OPEN)
    assert decide([], overlap=1, tie_rule="drop", alike=OPTIONS, reason=reason) == Decision(OPEN)


def test_an_unknown_tie_rule_is_refused():
    with pytest.raises(ValueError, match="coin"):
        rule("0n", "coin")


def test_under_drop_and_none_the_kept_share_does_not_depend_on_the_order():
    for tie_rule, answers in itertools.product(["drop", "none"], ["0n", "01nn", "0cn", "00n", "012"]):
        states = {rule("".join(order), tie_rule).state for order in itertools.permutations(answers)}
        assert len(states) == 1


def test_level_answers_that_are_just_measured_drop_nothing():
    asked = {"overlap": 2, "reason": reason, "alike": OPTIONS}
    assert without_ties(decide(["none", "cannot_judge"], tie_rule="drop", **asked)) == Decision(KEPT, by="no_majority")
    assert without_ties(decide(["none", "none"], tie_rule="drop", **asked)).by == "unanimous"
    assert without_ties(decide(["none", "cannot_judge"], tie_rule="adjudicate", **asked)).state == OPEN
