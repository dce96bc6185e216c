"""What the rules of a protocol file make of the judgments of a task."""

import pytest

from annotation.protocols import library
from annotation.protocols.base import RIGHT
from annotation.protocols.decisions import decide_item
from annotation.protocols.rankings import mean_ranks
from tests.annotation.protocols.files import changed, problems, read

DROPS = {"negative": "foil_fits", "both": "both_fit"}
FIT = {"answer": "fit", "keep": ["positive"], "drop": DROPS}
SCALE = {"name": "sure", "ask": "How sure?", "kind": "scale", "points": 5, "not_applicable": "Not here"}
RANK = {"name": "order", "ask": "Order?", "kind": "rank", "of": ["captions.positive", "captions.negative"]}
CHECK = {"name": "holds", "ask": "Holds?", "kind": "check", "statements": {"same": "S", "reads": "R"}, "unsure": True}


def protocol(*rules: dict, answers: tuple = (), judgments: int = 3):
    data = changed(("decide", list(rules)), ("judgments", judgments), ("answers.1", None))
    data["answers"] = list(answers) or data["answers"]
    assert problems(data) == []
    return read(data)


def told(of, *labels: str, **given) -> tuple[str, str, str, str]:
    found = decide_item(of, labels, **given)
    return found.state, found.outcome, found.reason, found.by


MAJORITY = protocol(FIT | {"rule": "majority"})
FIRST = protocol(FIT | {"rule": "majority", "tie": "first"})
ASKED = protocol(FIT | {"rule": "majority", "tie": "adjudicate"})
TWO = protocol(FIT | {"rule": "at_least", "of": "positive", "m": 2, "keep": [], "drop": DROPS | {"else": "unclear"}})
THIRDS = protocol(
    FIT | {"rule": "at_least", "of": "positive", "m": "2/3", "keep": [], "drop": DROPS | {"else": "unclear"}}
)
ALL = protocol(FIT | {"rule": "unanimous", "drop": DROPS | {"else": "unclear"}})


@pytest.mark.parametrize(
    ("of", "labels", "wanted"),
    [
        (MAJORITY, "positive positive", ("open", "", "", "")),
        (MAJORITY, "positive positive both", ("kept", "positive", "", "majority")),
        (MAJORITY, "both negative both", ("dropped", "both", "both_fit", "majority")),
        (MAJORITY, "positive negative both", ("dropped", "", "tie_unresolved", "tie_rule")),
        (FIRST, "negative positive both", ("dropped", "negative", "foil_fits", "tie_rule")),
        (ASKED, "negative positive both", ("open", "", "awaiting_adjudication", "")),
        (MAJORITY, "cannot_judge cannot_judge positive", ("dropped", "cannot_judge", "cannot_judge", "majority")),
        (TWO, "positive both positive", ("kept", "positive", "", "majority")),
        (TWO, "both negative both", ("dropped", "both", "both_fit", "majority")),
        (TWO, "positive negative both", ("dropped", "", "unclear", "no_agreement")),
        (TWO, "positive cannot_judge cannot_judge", ("dropped", "cannot_judge", "cannot_judge", "majority")),
        (TWO, "positive negative positive negative", ("kept", "positive", "", "majority")),
        (THIRDS, "positive both positive", ("kept", "positive", "", "majority")),
        (THIRDS, "positive both positive both", ("dropped", "", "unclear", "no_agreement")),
        (THIRDS, "positive both positive positive both", ("dropped", "", "unclear", "no_agreement")),
        (THIRDS, "positive both positive positive both positive", ("kept", "positive", "", "majority")),
        (ALL, "positive positive positive", ("kept", "positive", "", "unanimous")),
        (ALL, "positive positive both", ("dropped", "", "unclear", "no_agreement")),
        (ALL, "both both both", ("dropped", "both", "both_fit", "unanimous")),
    ],
)
def test_by_votes(of, labels, wanted):
    assert told(of, *labels.split()) == wanted


MEAN = protocol({"answer": "sure", "rule": "mean", "at_least": 3, "below": "too_low"}, answers=(SCALE,))
MEDIAN = protocol({"answer": "sure", "rule": "median", "at_least": 3, "below": "too_low"}, answers=(SCALE,))
MOST = protocol({"answer": "holds", "rule": "mean", "at_least": 0.5, "below": "broken"}, answers=(CHECK,))
SAME = {"answer": "holds.same", "rule": "majority", "keep": ["yes"], "drop": {"no": "differ", "unsure": "unsure"}}
ONE = protocol(SAME, answers=(CHECK,))


@pytest.mark.parametrize(
    ("of", "labels", "wanted"),
    [
        (MEAN, "1 4 4", ("kept", "3", "", "mean")),
        (MEAN, "1 3 4", ("dropped", "2.66667", "too_low", "mean")),
        (MEDIAN, "1 3 4", ("kept", "3", "", "median")),
        (MEDIAN, "2 2 5", ("dropped", "2", "too_low", "median")),
        (MEAN, "not_applicable 5 4", ("kept", "4.5", "", "mean")),
        (MEAN, "not_applicable not_applicable 5", ("dropped", "", "not_applicable", "mean")),
        (MEAN, "cannot_judge cannot_judge 5", ("dropped", "cannot_judge", "cannot_judge", "majority")),
        (MEAN, "cannot_judge 3 3", ("kept", "3", "", "mean")),
        (MOST, "yes,yes no,unsure yes,no", ("kept", "0.5", "", "mean")),
        (MOST, "yes,no no,unsure yes,no", ("dropped", "0.333333", "broken", "mean")),
        (ONE, "yes,no yes,no no,yes", ("kept", "yes", "", "majority")),
        (ONE, "no,yes unsure,yes no,yes", ("dropped", "no", "differ", "majority")),
    ],
)
def test_by_numbers_and_by_one_statement(of, labels, wanted):
    assert told(of, *labels.split()) == wanted


@pytest.mark.parametrize(
    ("points", "labels", "outcome"),
    [
        ([1000000, 1000001], "1000000 1000000 1000000", "1000000"),
        ([1000000, 1000001], "1000001 1000001 1000001", "1000001"),
        ([1000000, 1000001], "1000000 1000001 1000001", "1000000.67"),
        ([0, 1.0000001], "1.0000001 1.0000001 1.0000001", "1.0000001"),
        ([0, 1], "0 1 1", "0.666667"),
    ],
)
def test_a_mean_keeps_the_digits_that_tell_points_apart(points, labels, outcome):
    scale = {"name": "many", "ask": "How many?", "kind": "scale", "points": points}
    of = protocol({"answer": "many", "rule": "mean", "at_least": 0, "below": "few"}, answers=(scale,))
    assert told(of, *labels.split())[:2] == ("kept", outcome)


def test_a_statement_counts_as_no_where_what_it_rests_on_does_not_hold():
    listed = {"name": "holds", "ask": "?", "kind": "check", "of": "captions.more", "parents": "model"}
    half = {"answer": "holds", "rule": "mean", "at_least": 0.5, "below": "broken"}
    of = protocol(half, answers=(listed,), judgments=1)
    said = {"caption-more-1": {"model": 1}}
    assert told(of, "no,yes,yes", of_item=said)[:2] == ("dropped", "0.333333")
    assert told(of, "yes,yes,no", of_item=said)[:2] == ("kept", "0.666667")


@pytest.mark.parametrize(
    ("tie", "labels", "wanted"),
    [
        ("first", "positive>negative positive=negative", ("kept", "positive", "", "mean_rank")),
        ("first", "positive>negative negative>positive", ("kept", "positive", "", "tie_rule")),
        ("drop", "positive>negative negative>positive", ("dropped", "", "tie_unresolved", "tie_rule")),
        ("adjudicate", "positive=negative positive=negative", ("open", "", "awaiting_adjudication", "")),
    ],
)
def test_by_mean_rank(tie, labels, wanted):
    of = protocol({"answer": "order", "rule": "mean_rank", "tie": tie}, answers=(RANK,), judgments=2)
    assert told(of, *labels.split()) == wanted


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        ({"name": "why", "kind": "text"}, {"rule": "latest"}),
        (RANK | {"name": "why"}, {"rule": "mean_rank"}),
        (SCALE | {"name": "why"}, {"rule": "mean", "at_least": 3, "below": "too_low"}),
    ],
)
def test_who_cannot_judge_says_nothing_of_what_the_others_were_not_asked(answer, rule):
    asked = {"name": "fit", "ask": "?", "kind": "pick", "fixed": {"yes": "Yes", "no": "No"}}
    later = answer | {"ask": "Why?", "when": {"fit": "no"}}
    of = protocol(rule | {"answer": "why"}, answers=(asked, later))
    assert told(of, "cannot_judge", "yes/", "yes/") == ("kept", "", "", "not_asked")


def test_options_that_tie_share_the_mean_of_their_ranks():
    assert mean_ranks(["a=b>c", "c>a>b"]) == {"a": 1.75, "b": 2.25, "c": 2}


def test_the_first_rule_that_drops_says_why_and_who_was_not_asked_has_no_say():
    sure = {"answer": "sure", "rule": "mean", "at_least": 2, "below": "unsure"}
    keep = {"keep": ["positive", "both"], "drop": {"negative": "foil_fits"}}
    of = read(changed(("decide.0", FIT | {"rule": "majority"} | keep), ("decide.1", sure)))
    assert told(of, "positive/", "positive/", "both/1") == ("dropped", "1", "unsure", "mean")
    assert told(of, "positive/", "positive/", "both/3") == ("kept", "positive", "", "majority")
    assert told(of, "positive/", "positive/", "positive/") == ("kept", "positive", "", "unanimous")
    assert told(of, "negative/", "both/1", "negative/")[2] == "foil_fits"


def test_without_rules_everything_is_kept():
    of = protocol(judgments=2)
    assert told(of, "both", "both") == ("kept", "both", "", "unanimous")
    assert told(of, "both", "negative") == ("kept", "", "", "no_majority")


def test_dawid_and_skene_decide_by_probability_and_wait_for_it():
    of = protocol(FIT | {"rule": "dawid_skene"})
    labels = ["positive", "both", "both"]
    assert told(of, *labels) == ("open", "", "awaiting_estimate", "")
    likely = {"fit": {"positive": 0.9, "both": 0.1}}
    assert told(of, *labels, posteriors=likely) == ("kept", "positive", "", "dawid_skene")


def test_options_that_are_alike_are_first_votes_that_one_fits():
    pick = {"name": "fit", "kind": "pick", "of": "captions.more", "fixed": {"none": "None"}, "alike": True}
    data = changed(("item.captions.more", "2..9"), ("answers", [pick]), ("decide", []))
    data["decide"] = [{"answer": "fit", "rule": "majority", "keep": ["more"], "drop": {"none": "none_fits"}}]
    assert problems(data) == []
    of = read(data)
    assert told(of, "more-0", "more-1", "none") == ("kept", "more-0", "", "first_of_equals")
    assert told(of, "none", "more-1", "none") == ("dropped", "none", "none_fits", "majority")


@pytest.mark.parametrize("name", library.names())
def test_every_rule_of_the_library_has_an_end_for_every_value(name):
    """Whatever all annotators say alike, the item is kept, or dropped with a reason."""
    of = library.shipped(name)
    of_item = {RIGHT: dict.fromkeys(of.right, "yes")}
    found = decide_item(of, ["cannot_judge"] * of.judgments, of_item=of_item)
    assert found.state in ("kept", "dropped") and (found.state == "kept" or found.reason == "cannot_judge")
