"""What the annotators' pages show: the table, in any order, and one annotator with the evidence for each warning sign.

The figures come from figures/annotators.py and are computed once per state; names and decisions are read on each visit.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from annotation.charts import annotators
from annotation.charts.annotators import answer_bars, pick_strip, place_bars, speed_bars
from annotation.charts.study import Plot, Subject
from annotation.figures import annotators as annotator_figures
from annotation.measures import counts, few_annotators, warning_signs
from annotation.models import Annotator, Study
from annotation.participants.lifecycle import Decision, decisions
from annotation.wording import pseudonym, readable_label

SCREENS = 30  # of the evidence
OUTLIERS = {few_annotators.AGREEMENT: "low agreement", few_annotators.FAST: "very fast"}


@dataclass(frozen=True, slots=True)
class Outlier:
    """An annotator who differs far from the others in a stage with few of them (measures/few_annotators.py)."""

    number: int
    kind: str
    words: str
    stage: Mapping  # the stage's figures

    @property
    def name(self) -> str:
        return pseudonym(self.number)

    @property
    def label(self) -> str:
        return OUTLIERS[self.kind]


@dataclass(frozen=True, slots=True)
class Line:
    """One annotator in the table: the figures of the stage, or of the study, as columns that both have."""

    who: Annotator
    row: Mapping
    kappa: float | None
    same: Mapping  # {"same", "n"}: gave the same answer as most of the others
    pace: float | None  # the median time: seconds in a stage, times the stages' medians over the study
    top: float | None  # the share of the place that is furthest above chance
    decisions: Sequence[Decision]
    outliers: Sequence[Outlier] = ()

    @property
    def majority(self) -> float | None:
        return counts.ratio(self.same["same"], self.same["n"])

    @property
    def checks(self) -> float | None:
        found = self.row["checks"]
        return counts.ratio(found["right"], found["n"]) if found else None

    @property
    def look(self) -> bool:
        return bool(self.outliers) or warning_signs.concern_answers(sign["kind"] for sign in self.row["signs"])

    @property
    def apart(self) -> list[Outlier]:
        """The outliers that no warning sign of the same kind shows."""
        return [one for one in self.outliers if one.kind not in {sign["kind"] for sign in self.row["signs"]}]

    @property
    def weight(self) -> tuple[bool, int, float, float]:
        """Review order: annotators with a sign about their answers and outliers first, then by number of signs, then
        the lowest agreement, then the fastest.
        """
        signs = len(self.row["signs"]) + len(self.apart)
        return self.look, signs, -1 if self.majority is None else -self.majority, -(self.pace or math.inf)


ORDERS: dict[str, Callable[[Line], Any]] = {
    "who": lambda line: line.who.number,
    "judged": lambda line: line.row["judged"],
    "pace": lambda line: line.row["per_hour"],
    "active": lambda line: line.row["active_minutes"],
    "paid": lambda line: line.row["paid"],
    "time": lambda line: line.pace,
    "quick": lambda line: line.row["quick_share"],
    "majority": lambda line: line.majority,
    "kappa": lambda line: line.kappa,
    "checks": lambda line: line.checks,
    "place": lambda line: line.top,
    "signs": lambda line: line.weight,
}


def lines(study: Study, data: Mapping, position: int | None) -> list[Line]:
    """The annotators of a stage, or of the whole study, by number. Later arrivals have no line yet."""
    people = list(study.annotators.select_related("stage").order_by("number"))
    decided, by_number = decisions(people), {one.number: one for one in people}
    stage, apart = stage_of(data, position), defaultdict(list)
    for one in outliers(data, position):
        apart[one.number].append(one)
    return [
        replace(
            _line(by_number[row["number"]], row, stage["coarse"] if stage else None, decided[row["number"]]),
            outliers=apart[row["number"]],
        )
        for row in (stage["rows"] if stage else data["whole"])
        if row["number"] in by_number
    ]


def _line(who: Annotator, row: dict, coarse: str | None, decided: Sequence[Decision]) -> Line:
    """`coarse`: the view of a stage on which its annotators are compared; None over the whole study."""
    if coarse is None:
        pace = None if row["log_time"] is None else math.exp(row["log_time"])
        return Line(who, row, row["kappa"], row["majority"], pace, None, decided)
    test = row["side"]
    place = warning_signs.top_place(test)
    top = test["counts"][place - 1] / test["n"] if place and test["n"] else None
    return Line(who, row, row["kappas"][coarse], row["majority"][coarse], row["median_seconds"], top, decided)


def stage_of(data: Mapping, position: int | None) -> Mapping | None:
    return next((stage for stage in data["stages"] if stage["position"] == position), None)


def level_of(data: Mapping, position: int | None) -> str | None:
    """The level on which annotators are compared in the stage, or in all stages; None if their labels have no order, or
    stages differ.
    """
    levels = {stage.get("level") for stage in data["stages"] if stage_of(data, position) in (None, stage)}
    return levels.pop() if len(levels) == 1 else None


def outliers(data: Mapping, position: int | None = None, number: int | None = None) -> list[Outlier]:
    """Of a stage or of all, and of one annotator or of all: lowest agreement first, then the fastest."""
    found = [
        (one["size"], Outlier(one["number"], one["kind"], one["words"] or comparison(stage, row, view), stage))
        for stage, row, view, one in annotator_figures.outlying(data)
        if stage_of(data, position) in (None, stage) and number in (None, row["number"])
    ]
    found.sort(key=lambda one: (list(OUTLIERS).index(one[1].kind), -one[0], one[1].number))
    return [one for _, one in found]


def comparison(stage: Mapping, row: Mapping, view: str) -> str:
    """An annotator beside the others in words, with the counts that tile, test and filter have."""
    mine, said = row["majority"][view], "were close to the others" if stage.get("level") else "agreed with most others"
    found = [one["majority"][view] for one in stage["rows"] if one["number"] != row["number"]]
    shares = [one["same"] / one["n"] for one in found if one["n"] >= few_annotators.FROM]
    rest = f", the others on {median(shares):.0%}" if shares else ""
    return f"{said} on {mine['same']} of {mine['n']} screens compared{rest} ({view})"


def pairs(data: Mapping, position: int | None = None) -> list[dict[str, Any]]:
    """Pairs of annotators who disagree and are compared with nobody else: names, counts and the stage's figures."""
    return [
        {"names": [pseudonym(pair["first"]), pseudonym(pair["second"])], "stage": stage, **pair}
        for stage, few in _few(data, position)
        for pair in few["views"][few["first"]]["pairs"]
    ]


def _few(data: Mapping, position: int | None) -> Iterator[tuple[Mapping, Mapping]]:
    for stage in data["stages"]:
        if stage_of(data, position) in (None, stage):
            yield stage, data["few"][str(stage["position"])]


def ordered(found: Sequence[Line], sort: str) -> list[Line]:
    """Sorted by a column, with `-` in front for the largest first; lines without the figure come last."""
    key = ORDERS[sort.removeprefix("-")]
    there = [line for line in found if key(line) is not None]
    return [*sorted(there, key=key, reverse=sort.startswith("-")), *(line for line in found if key(line) is None)]


def count_tests(data: Mapping) -> dict:
    """How many tests were made, and how many false alarms to expect: by their level of the tests of an annotator's own
    picks, and as measured of those that compare answers.
    """
    rows = [row for stage in data["stages"] for row in stage["rows"]]
    own, compared = (
        [sum(row[name]["p"] is not None for name in names) for row in rows]
        for names in (("side", "runs"), ("labels_test", "agreement"))
    )
    expected = sum(own) * warning_signs.TEST_LEVEL + sum(map(bool, compared)) * warning_signs.FALSE_ALARMS
    return {"tests": sum(own) + sum(compared), "level": warning_signs.TEST_LEVEL, "by_chance": expected}


def plots(study: Study, stages: Sequence[dict], position: int | None, at: str) -> dict[str, Plot]:
    """Answers and times in the stage; for the whole study, whose protocols differ, in the stage with most judgments.

    {} for figures that an older version computed without times.
    """
    stages = [one for one in stages if "times" in one]
    if not stages:
        return {}
    chosen = (one for one in stages if one["position"] == position)
    stage = next(chosen, None) or max(stages, key=lambda one: one["times"]["n"])
    of = Subject(study.pk, study.name, at, stage["position"], stage["name"])
    return {
        "mix": annotators.answer_mix_plot(stage, pseudonym, readable_label, of),
        "times": annotators.time_plot(stage["times"], of),
    }


# One annotator


@dataclass(frozen=True, slots=True)
class Test:
    """A line of the table of tests: the observed and the expected share, or why there is no test."""

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
    """`say` puts an answer into words; on `view` they are compared with the others; on a scale, agreement is being near
    the others.
    """
    agrees = "agreed with the others" if on_scale else "gave the majority’s answer"
    shown = {sign["kind"] for sign in row["signs"]}
    found = [_agreement_test(row, agrees, view), _answers_test(row["labels_test"], say), _side_test(row["side"])]
    return [*(replace(one, speaks=one.kind in shown) for one in found), *_runs_tests(row["runs"], "runs" in shown)]


def _agreement_test(row: Mapping, agrees: str, view: str) -> Test:
    test, n = row["agreement"], row["majority"][view]["n"]
    if test["p"] is None:
        few = test["reason"] if n < warning_signs.SIGNS_FROM else "too few of the others’ judgments can be compared"
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
        return _untested("side", "picked each place equally often", test)
    n = test["n"]
    by = "binomial" if test["by"] == "binomial" else f"χ² = {test['chi_square']:.1f}, {test['freedom']} df"
    shares = test["counts"][place - 1] / n, test["expected"][place - 1] / n
    return Test("side", f"picked place {place}", n, *shares, test["p"], by)


def _runs_tests(test: Mapping, shown: bool) -> list[Test]:
    """How often a pick repeats the place before, and the longest run; of a sign, the one that speaks."""
    if test["p"] is None:
        return [_untested("runs", "repeated the previous place", test)]
    n, repeats, longest = test["n"], test["p_repeats"], test["p_longest"]
    again = ("runs", "picked the previous place again", n - 1, test["repeats"] / (n - 1), test["chance"], repeats)
    run = ("runs", f"longest run: place {test['place']}, {test['longest']} times", n, None, None, longest)
    return [
        Test(*again, "binomial", speaks=shown and repeats < warning_signs.TEST_LEVEL),
        Test(*run, "exact", speaks=shown and longest < warning_signs.TEST_LEVEL),
    ]


def usual_time(data: Mapping, stage: Mapping, row: Mapping) -> float | None:
    """The seconds of which less than half is fast: the stage's median, and for whom the others' time alone shows to be
    very fast, theirs.
    """
    few = data["few"][str(stage["position"])]
    apart = [one for one in few["views"][few["first"]]["outliers"] if one["number"] == row["number"]]
    fast = next((one["size"] for one in apart if one["kind"] == few_annotators.FAST), None)
    return stage["median_seconds"] if fast is None else row["median_seconds"] / (1 - fast)


def _untested(kind: str, name: str, test: Mapping) -> Test:
    return Test(kind, name, test["n"], reason=test["reason"])


def main_stage(data: Mapping, number: int) -> int:
    """Where they have judged most."""
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


def row_of(rows: Sequence[Mapping], number: int) -> Mapping | None:
    return next((row for row in rows if row["number"] == number), None)
