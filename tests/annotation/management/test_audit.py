"""`manage.py audit`: the replay of an audit on a table whose every item is known."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

TRUTH = "item,wrong,stratum\n" + "".join(f"i{n},{int(n % 5 == 0)},{'ab'[n % 2]}\n" for n in range(300))
SCORES = "item,score\n" + "".join(f"i{n},{int(n % 5 == 0) + n / 1000}\n" for n in range(300))
POOR = "item,score\n" + "".join(f"i{n},{n % 7}\n" for n in range(300))


@pytest.fixture
def audit(tmp_path):
    """`audit(truth, *options, scores=)`: what the command prints."""

    def run(truth, *options, scores=None):
        (tmp_path / "truth.csv").write_text(truth)
        given = ["--truth", tmp_path / "truth.csv", "--half-width", "0.05", *options]
        if scores is not None:
            (tmp_path / "scores.csv").write_text(scores)
            given += ["--side-information", tmp_path / "scores.csv"]
        out = StringIO()
        try:
            call_command("audit", *map(str, given), stdout=out)
        except CommandError as error:
            return f"{out.getvalue()}{error}"
        return out.getvalue()

    return run


@pytest.mark.parametrize("options", [(), ("--any-look",)])
@pytest.mark.parametrize("scores", [None, SCORES])
def test_one_audit_and_its_summary_over_orders(audit, options, scores):
    one = json.loads(audit(TRUTH, "--json", *options, scores=scores))
    assert (one["items"], one["truth"], one["seed"]) == (300, 0.2, 0) and len(one["order_sha256"]) == 64
    assert one["n"] <= one["planned_at_most"] and one["low"] <= one["estimate"] <= one["high"]
    assert one["covers"] is (one["low"] <= 0.2 <= one["high"]) and (one["high"] - one["low"]) / 2 <= 0.05 + 1e-9
    assert [row["stratum"] for row in one["strata"]] == ["a", "b"] and sum(row["n"] for row in one["strata"]) == one[
        "n"
    ]
    plain = json.loads(audit(TRUTH, "--json", *options))
    assert one.get("n_without_side_information") == (plain["n"] if scores else None)
    several = json.loads(audit(TRUTH, "--json", "--runs", "3", *options, scores=scores))
    assert set(several) == {"items", "truth", "mean_n", "max_n", "coverage"}
    assert audit(TRUTH, "--runs", "3", *options, scores=scores).startswith("300 items, 20.00% wrong.")


def test_a_bound_that_is_not_met_is_said(audit, tmp_path):
    (tmp_path / "bound.csv").write_text("item,wrong\n" + "".join(f"i{n},{int(n < 129)}\n" for n in range(200)))
    found = StringIO()
    call_command("audit", "--truth", str(tmp_path / "bound.csv"), "--at-most", "0.5", stdout=found)
    assert (
        "Judged 200 of 200 items: 129 wrong. The target is not met: 129 of all 200 items are wrong, more than 50%. "
        in (found.getvalue())
    )
    assert "That was certain after 162 items." in found.getvalue() and "The target is met." in audit(TRUTH)


def test_in_sentences(audit):
    assert "lies inside" in audit(TRUTH) and "Order: seed 4, SHA-256" in audit(TRUTH, "--seed", "4")
    good, poor = audit(TRUTH, scores=SCORES), audit(TRUTH, scores=POOR)
    assert "Without side information, this order takes " in good and "Scores save little if" not in good
    assert "Scores save little if" in poor


@pytest.mark.parametrize(
    ("truth", "scores", "problem"),
    [
        ("item,wrong\na,yes\n", None, "WRONG_VALUE · truth.csv · 2 · wrong · Write 1 for a wrong item"),
        ("item,wrong\na,1\na,0\n", None, "DUPLICATE_ID · truth.csv · 3 · item ·"),
        ("item,wrong\n,1\n", None, "VALUE_MISSING · truth.csv · 2 · item ·"),
        ("item,wrong,stratum\na,1,\n", None, "VALUE_MISSING · truth.csv · 2 · stratum ·"),
        ("item,bad\na,1\n", None, "COLUMN_MISSING · truth.csv · 1 · wrong ·"),
        ("item,wrong\na,1\n", "item,score\na,high\n", "WRONG_VALUE · scores.csv · 2 · score ·"),
        ("item,wrong\na,1\n", "item,score\na,1\nb,1\n", "UNKNOWN_ID · scores.csv · 3 · item ·"),
        ("item,wrong\na,1\nb,0\n", "item,score\na,1\n", "There is no score for item b"),
    ],
)
def test_a_bad_file_is_refused_with_its_row_and_the_remedy(audit, truth, scores, problem):
    found = audit(truth, scores=scores)
    assert problem in found and "Nothing was done" in found


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [("--half-width", "0.6", "between 0 and 0.5"), ("--half-width", "x", "between 0 and 0.5"),
     ("--runs", "0", "Use 1 or more"), ("--seed", "-1", "whole number")],
)  # fmt: skip
def test_a_bad_option_is_refused(audit, option, value, why):
    assert why in audit(TRUTH, option, value)
