"""The page of an annotator: their statistics in one stage, charts and tests, and the screens behind each sign. The

numbers come from figures/annotators.py and are computed once per state.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.charts.annotators import answer_bars, pick_strip, place_bars, speed_bars
from annotation.dashboard.sign_evidence import row_of
from annotation.measures import warning_signs

SCREENS = 10  # screens of evidence on a page


# One annotator


@dataclass(frozen=True, slots=True)
class Test:
    """A row in the table of tests: the observed and the expected share, or why there is no test."""

    kind: str
    name: str
    n: int
    found: float | None = None
    expected: float | None = None
    p: float | None = None
    by: str = ""
    reason: str = ""
    speaks: bool = False


def tests(row: Mapping, say: Callable[[str], str], view: str, on_scale: bool = False) -> list[Test]:
    """Return the tests. `say` puts an answer into words; annotators are compared on `view`; on a scale, agreeing means
    being near the others.
    """
    agrees = "agreed with the others" if on_scale else "gave the majority’s answer"
    shown = {sign["kind"] for sign in row["signs"]}
    found = [_agreement_test(row, agrees, view), _answers_test(row["labels_test"], say), _side_test(row["side"])]
    return [*(replace(one, speaks=one.kind in shown) for one in found), *_runs_tests(row["runs"], "runs" in shown)]


def _agreement_test(row: Mapping, agrees: str, view: str) -> Test:
    test, n = row["agreement"], row["majority"][view]["n"]
    if test["p"] is None:
        few = test["reason"] if n < warning_signs.SIGNS_FROM else "too few of the others’ judgments to compare with"
        return Test("agreement", f"{agrees} ({view})", n, reason=few)
    by = "binomial, and as the others differ, one-sided, × views"
    return _of_shares("agreement", f"{agrees} ({test['on']})", test, by)


def _answers_test(test: Mapping, say: Callable[[str], str]) -> Test:
    if test["p"] is None:
        return _untested("answers", "gave each answer as often as the others", test)
    return _of_shares(
        "answers", f"answered {say(test['label'])}", test, "exact within tasks, and as the others differ, × answers"
    )


def _of_shares(kind: str, name: str, test: Mapping, by: str) -> Test:
    return Test(kind, name, test["n"], test["share"], test["others_share"], test["p"], by)


def _side_test(test: dict[str, Any]) -> Test:
    place = warning_signs.top_place(test)
    if test["p"] is None or place is None:
        return _untested("side", "chose each position equally often", test)
    n = test["n"]
    by = "binomial" if test["by"] == "binomial" else f"χ² = {test['chi_square']:.1f}, {test['freedom']} df"
    shares = test["counts"][place - 1] / n, test["expected"][place - 1] / n
    return Test("side", f"chose position {place}", n, *shares, test["p"], by)


def _runs_tests(test: Mapping, shown: bool) -> list[Test]:
    """Test how often a pick repeats the previous position, and the longest run; a sign has the test that raised it."""
    if test["p"] is None:
        return [_untested("runs", "repeated the previous position", test)]
    n, repeats, longest = test["n"], test["p_repeats"], test["p_longest"]
    again = ("runs", "chose the previous position again", n - 1, test["repeats"] / (n - 1), test["chance"], repeats)
    run = ("runs", f"longest run: position {test['place']}, {test['longest']} times", n, None, None, longest)
    return [
        Test(*again, "binomial", speaks=shown and repeats < warning_signs.TEST_LEVEL),
        Test(*run, "exact", speaks=shown and longest < warning_signs.TEST_LEVEL),
    ]


def _untested(kind: str, name: str, test: Mapping) -> Test:
    return Test(kind, name, test["n"], reason=test["reason"])


def main_stage(data: Mapping, number: int) -> int:
    """Return the stage in which they have judged the most."""
    there = [(stage["position"], row_of(stage["rows"], number)) for stage in data["stages"]]
    found = [(row["judged"], -position) for position, row in there if row]
    return -max(found)[1] if found else 1


def charts(row: Mapping, stage: Mapping, picks: Sequence[tuple[int, int]]) -> dict:
    return {
        "speed_bars": speed_bars(row["bands"], stage["bands"]),
        "answer_bars": answer_bars(row["labels"], row["others"]),
        "place_bars": place_bars(row["side"]),
        "strip": pick_strip(picks),
    }
