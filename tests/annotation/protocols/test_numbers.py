"""Numbers that are typed: read in the annotator's language, within bounds, and what is made of them."""

import csv
from collections import Counter

import pytest

from annotation.measures.declared import agreement
from annotation.measures.scores import scores
from annotation.pipeline.disagreement import spread
from annotation.protocols import answers, numbers, values
from annotation.protocols.base import Answer, InvalidAnswer
from annotation.protocols.compile import as_protocol
from annotation.protocols.decisions import decide_item
from annotation.protocols.rules import rule_for
from tests.annotation.measures.test_scores import rows, tasks
from tests.annotation.protocols.files import changed, problems, read

COUNT = {"name": "count", "kind": "number", "most": 20, "not_applicable": "None to count"}
SHARE = {"name": "share", "kind": "number", "least": -1, "most": 1, "decimals": 3}
FIT = {"name": "fit", "kind": "scale", "points": "0..100", "anchors": {0: "Bad", 100: "Good"}}


def file(answer: dict, **more):
    data = changed(("answers", [answer]), ("decide", []), *more.items())
    assert problems(data) == []
    return read(data)


@pytest.mark.parametrize(
    ("typed", "sign", "stored"),
    [
        ("0.5", ".", "0.5"), ("0,5", ".", "0.5"), ("0,5", ",", "0.5"), ("0.50", ",", "0.5"), ("\u2212.5", ",", "-0.5"),
        ("\u22121", ".", "-1"), ("-0", ".", "0"), ("+1", ".", "1"), (" 1 ", ".", "1"), ("01", ".", "1"),
        ("٠٫٥", ",", "0.5"), ("０．５", ".", "0.5"), ("0.125", ",", "0.125"), ("0,125", ".", "0.125"),
        ("", ".", None), ("1.", ".", None), ("1.000", ".", "1"),
        ("1.000", ",", "two ways"), ("1,000", ".", "two ways"), ("1,000", ",", "1"), ("1,00", ".", "1"),
        ("2", ".", None), ("-1.001", ".", None), ("0.0005", ".", None), ("1e-1", ".", None), ("one", ".", None),
        ("0.1.2", ".", None), ("1 000", ".", None), ("nan", ".", None), ("9" * 40, ".", None),
    ],
)  # fmt: skip
def test_a_number_is_read_with_either_sign_unless_that_could_stand_between_thousands(typed, sign, stored):
    answer = file(SHARE).answers[0]
    if stored and stored != "two ways":
        assert numbers.checked(answer, typed, sign) == stored
        return
    with pytest.raises(InvalidAnswer) as refused:
        numbers.checked(answer, typed, sign)
    words = refused.value.message % refused.value.values
    assert "two ways" in words if stored else words == "Write a number from -1 to 1 in steps of 0.001."


def test_what_was_typed_goes_before_what_was_ticked_and_an_empty_field_is_no_answer():
    of = file(COUNT)
    assert answers.parse(of, {"count-number": "7", "count": "not_applicable"}, (), {}).label == "7"
    assert answers.parse(of, {"count-number": " ", "count": "not_applicable"}, (), {}).label == "not_applicable"
    for sent in ({}, {"count-number": ""}, {"count": "7"}, {"count-number": "21"}, {"count-number": "1.5"}):
        with pytest.raises(InvalidAnswer):
            answers.parse(of, sent, (), {})


@pytest.mark.parametrize(
    ("points", "step", "there", "slider"),
    [
        (11, 1, ["1", "2", "11"], False),
        ("0..10", 1, ["0", "1", "10"], False),
        (12, 1, ["1", "2", "12"], True),
        ("-1..1", 0.1, ["-1", "-0.9", "1"], True),
        ("0..1", 0.001, ["0", "0.001", "1"], True),
    ],
)
def test_more_points_than_eleven_are_a_slider(points, step, there, slider):
    steps = {"step": step} if step != 1 else {}
    answer = file({"name": "fit", "kind": "scale", "points": points, **steps}).answers[0]
    found = values.points(answer)
    assert ([found[0], found[1], found[-1]], values.is_slider(answer)) == (there, slider)


@pytest.mark.parametrize(
    ("rule", "labels", "outcome"),
    [
        ({"rule": "mean"}, ["3", "4", "not_applicable"], ("kept", "3.5", "")),
        ({"rule": "median"}, ["3", "4", "20"], ("kept", "4", "")),
        ({"rule": "median", "at_least": 5, "below": "few"}, ["3", "4", "20"], ("dropped", "4", "few")),
        ({"rule": "mean"}, ["not_applicable", "not_applicable", "3"], ("dropped", "", "not_applicable")),
        ({"rule": "majority"}, ["3", "3", "20"], ("kept", "3", "")),
        ({"rule": "majority", "drop": {0: "none"}}, ["0", "0", "20"], ("dropped", "0", "none")),
        ({"rule": "majority"}, ["3", "4", "5"], ("dropped", "", "tie_unresolved")),
    ],
)
def test_what_is_decided_of_numbers(rule, labels, outcome):
    found = decide_item(file(COUNT, decide=[{"answer": "count", **rule}]), labels)
    assert (found.state, found.outcome, found.reason) == outcome


@pytest.mark.parametrize(
    ("change", "code", "key"),
    [
        ({"most": 0}, "WRONG_COUNT", "most"),
        ({"most": 2.5}, "WRONG_COUNT", "most"),
        ({"not_applicable": "3"}, "SAME_KEY", ""),
        ({"kind": "scale", "points": "100..0"}, "WRONG_COUNT", "points"),
        ({"kind": "scale", "points": "0..100", "step": 3}, "WRONG_COUNT", "points"),
        ({"kind": "scale", "points": "0..100", "step": 0.01}, "WRONG_COUNT", "step"),
        ({"kind": "scale", "points": 20, "anchors": {21: "High"}}, "UNKNOWN_VALUE", "anchors.21"),
        ({"kind": "scale", "points": 5, "step": 2}, "WRONG_COUNT", "step"),
        ({"kind": "scale", "points": "0 to 100"}, "WRONG_VALUE", "points"),
    ],
)
def test_numbers_that_cannot_be_asked_for(change, code, key):
    data = {**COUNT, **change}
    if data["kind"] == "scale":
        del data["most"]
    [found] = problems(changed(("answers", [data]), ("decide", [])))
    assert (found.code, found.column) == (code, f"answers.0.{key}".rstrip("."))


def test_numbers_in_tables_are_those_that_can_be_typed():
    first, wanted = {**COUNT, "ask": "How many?"}, ("answers.1.when", {"count": [0, "not_applicable"]})
    second = {**FIT, "ask": "Fit?", "when": {"count": [0]}}
    assert problems(changed(("answers", [first, second]), ("decide", []), wanted)) == []
    [found] = problems(changed(("answers", [first, second]), ("decide", []), ("answers.1.when", {"count": [0.5]})))
    assert (found.code, "a number from 0 to 20" in found.advice) == ("UNKNOWN_VALUE", True)


def test_agreement_and_scores_of_numbers_are_those_of_their_distances():
    """Krippendorff's interval α by hand: 1 − (n − 1) Σ of squared differences within items / that of all pairs."""
    of = file({**COUNT, "not_applicable": None}, measure={"count": {"score": "mean"}})
    said = [(0, "", 1, "3"), (0, "", 2, "5"), (1, "", 1, "10"), (1, "", 2, "10"), (2, "", 1, "cannot_judge")]
    given = [3, 5, 10, 10]
    within, total = 2 * 2**2, sum((one - other) ** 2 for one in given for other in given)
    found = agreement(of, [(item, who, label) for item, _, who, label in said])["count"]
    assert found["level"] == "interval"
    assert found["measures"]["alpha_interval"]["value"] == pytest.approx(1 - (len(given) - 1) * within / total)
    (one,) = scores(of, rows(said), tasks(said), {})["answers"]
    assert (one["whole"]["value"], one["from"], one["to"], one["cannot_judge"]) == (7, 0, 20, 1)


@pytest.mark.real
def test_the_alphas_of_geneval_are_those_of_its_file(real):
    """Raters of an image are numbered in the order of their rows; rows without a rating or a count are left out."""
    path = real / "data/foreign/annotations_if-xl.csv"
    if not path.exists():
        pytest.skip("the table of GenEval is not beside the project (../shared/data/foreign)")
    quality = {"name": "quality", "ask": "How good?", "kind": "scale", "points": 4}
    of = read(changed(("answers", [quality, {**COUNT, "ask": "How many?"}]), ("decide", [])))
    said, raters = [], Counter()
    for row in csv.DictReader(path.open(encoding="utf-8", newline="")):
        if row["Answer.task-quality"] and row["Answer.task-count-0"]:
            raters[row["Input.index"]] += 1
            label = f"{row['Answer.task-quality']}/{row['Answer.task-count-0']}"
            said.append((row["Input.index"], raters[row["Input.index"]], label))
    found = {name: one["measures"] for name, one in agreement(of, said).items()}
    assert found["quality"]["alpha_ordinal"]["value"] == pytest.approx(0.309667, abs=5e-7)
    assert found["count"]["alpha_interval"]["value"] == pytest.approx(0.903460, abs=5e-7)


def test_how_far_numbers_differ_is_told_by_their_distance():
    rule = rule_for(as_protocol(file(FIT), "fit@1"), 2, "drop")
    given = [[Answer("0"), Answer("100")], [Answer("40"), Answer("60")], [Answer("40"), Answer("cannot_judge")]]
    assert [spread(rule, dict(enumerate(of))).entropy for of in given] == [1, 0.2, 1]
    assert [rule.is_split([one.label for one in of]) for of in given] == [True, True, False]
    assert not rule.is_split(["50", "60"])
