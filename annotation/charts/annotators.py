"""Figures about annotators: the matrix of their kappas, their answers and times, and the bars for one annotator."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from annotation.charts.study import Column, Plot, Subject, Value, describe_spread
from annotation.measures.agreement_measures import mean_of_pairs_on
from annotation.measures.annotator_behaviour import BANDS
from annotation.measures.types import Figures
from annotation.protocols.base import NOMINAL
from annotation.wording import counted, readable_label

MOST_BARS = 40  # annotators with their own bar: those who judged the most
_ANSWERS = 8  # the most frequent answers, shown separately
OTHER_ANSWERS = "all other answers"
_EVERYBODY = "everybody"


def kappa_matrix_plot(found: Figures, view: str, of: Subject, level: str = NOMINAL) -> Plot:
    """Plot measures.pairwise_kappa.kappa_matrix, with pseudonyms."""
    of_pairs = mean_of_pairs_on(level)
    symbol, measure, title = of_pairs.pair_head, of_pairs.pair_name, f"{of_pairs.pair_name} between annotators"
    rows = [[row["first"], row["second"], row["value"], row["n"], row["reason"]] for row in found["pairs"]]
    columns = [
        Column("first", "annotator", "text"), Column("second", "and", "text"), Column("kappa", symbol, "decimal"),
        Column("n", "shared items"), Column("note", "note", "text"),
    ]  # fmt: skip
    view = readable_label(view)
    shown, there = len(found["annotators"]), found["of"]
    who = "All" if shown == there else f"The {shown} with the most judgments of shared items, of"
    undefined = f"outlined: {symbol} is not defined; " if any(value is None for _, _, value, *_ in rows) else ""
    caption = (
        f"{measure} on {view} for each pair of annotators who judged the same items. {who} {there:,} annotators; "
        f"{undefined}empty: the same person, or no item in common."
    )
    pairs = [(f"{first} and {second}", kappa) for first, second, kappa, *_ in rows]
    says = f"{measure} on {view} of {counted(len(rows), 'pair')} of {shown} annotators, out of {there:,}: "
    says += f"{describe_spread(pairs)}."
    return Plot("matrix", "kappa-matrix", title, caption, says, of, columns, rows)


def answer_mix_plot(stage: Figures, name_of: Callable[[int], str], say: Callable[[str], str], of: Subject) -> Plot:
    """Plot how often each annotator gave each answer; `stage` is one of figures.annotators.annotators.

    `say` puts an answer into words.
    """
    people = [row for row in stage["rows"] if row["labels"]]
    shown = {row["number"] for row in sorted(people, key=lambda row: -row["judged"])[:MOST_BARS]}
    all_: Counter[str] = Counter(stage["labels"])
    apart = [label for label, _ in sorted(all_.items(), key=lambda pair: (-pair[1], pair[0]))[:_ANSWERS]]
    apart = apart if len(all_) <= _ANSWERS else apart[:-1]
    rows = [
        _mix_row(_EVERYBODY, all_, apart),
        *(_mix_row(name_of(row["number"]), row["labels"], apart) for row in people if row["number"] in shown),
    ]
    words = [*map(say, apart), *([OTHER_ANSWERS] if len(all_) > len(apart) else [])]
    columns = [Column("who", "annotator", "text"), Column("judgments", "judgments"), *(Column(w, w) for w in words)]
    rows = [row[: len(columns)] for row in rows]
    all_shown = len(shown) == len(people)
    who = f"all {len(people):,} annotators" if all_shown else f"the {len(shown)} of {len(people):,} who judged the most"
    caption = f"Share of each answer ({stage['coarse']}), for everybody together and for each of {who}."
    says = _describe_mix(rows, words)
    return Plot("mix", "answers", "Answers of each annotator", caption, says, of, columns, rows if people else [])


def _mix_row(who: str, labels: Mapping[str, int], apart: Sequence[str]) -> list[Value]:
    counts = [labels.get(label, 0) for label in apart]
    total = sum(labels.values())
    return [who, total, *counts, total - sum(counts)]


def _describe_mix(rows: Sequence[Sequence[Any]], words: Sequence[str]) -> str:
    """Describe everybody's share of each answer, and who gave it least and most often."""
    (_, total, *_), *people = rows
    if not total or not people:
        return "Nothing has been judged yet."
    told = []
    for place, word in enumerate(words, 2):
        shares = [(row[place] / row[1], row[0]) for row in people if row[1]]
        (low, least), (high, most) = min(shares), max(shares)
        told.append(f"{word} {rows[0][place] / total:.0%}, from {low:.0%} ({least}) to {high:.0%} ({most})")
    return f"Of {total:,} judgments by {len(people)} annotators: {'; '.join(told)}."


def time_plot(found: Figures, of: Subject) -> Plot:
    """Plot judgments by active seconds, from `annotator_behaviour.time_histogram`, with half the median marked."""
    n = found["n"]
    rows = [[one["from"], one["to"], one["judgments"], one["judgments"] / n] for one in found["bins"]]
    columns = [
        Column("from", "seconds from", "exact"),
        Column("to", "to below", "exact"),
        Column("judgments", "judgments"),
        Column("share", "of all", "share"),
    ]
    half = None if not n else found["median"] / 2
    caption = f"Active seconds for each of the {n:,} counted judgments."
    mark = None if half is None else (f"half the stage’s median: {half:.1f} s", half)
    return Plot("times", "times", "Time per judgment", caption, _describe_times(found), of, columns, rows, mark)


def _describe_times(found: Figures) -> str:
    n, quick = found["n"], found["quick"]
    if not n:
        return "Nothing has been judged yet."
    most = max(found["bins"], key=lambda one: one["judgments"])
    end = f"{most['from']:g} seconds or more" if most["to"] is None else f"{most['from']:g} to {most['to']:g} seconds"
    return (
        f"The median of {n:,} judgments is {found['median']:.1f} seconds; {quick:,} ({quick / n:.1%}"
        + f") took less than half as long, {found['median'] / 2:.1f}. "
        f"The largest group, {most['judgments']:,}, took {end}."
    )


# Bars and strips on one annotator's page; positions are in percent of the widest


_STRIP = 240  # picks at most
_WORDS = {0.25: "a quarter", 0.5: "half", 1.0: "the median", 2.0: "twice", 4.0: "four times"}


def _band_names() -> list[str]:
    names = [_WORDS[end] for end in BANDS]
    between = [f"{low} to {high}" for low, high in pairwise(names)]
    return [f"under {names[0]}", *between, f"over {names[-1]}"]


def _share_bars(rows: Iterable[tuple[str, float, float | None]], total: float) -> list[Figures]:
    """Make bars of `rows` (label, count, expected count or None), out of the total; widths in percent of the widest."""
    rows, total = list(rows), total or 1
    most = max((max(count, expected or 0) / total for _, count, expected in rows), default=0) or 1
    return [
        {
            "label": label,
            "count": count,
            "share": count / total,
            "expected": None if expected is None else expected / total,
            "width": 100 * count / total / most * 0.9,
            "mark": None if expected is None else 100 * expected / total / most * 0.9,
        }
        for label, count, expected in rows
    ]


def _beside(rows: Iterable[tuple[str, int, int]], own: int, others: int) -> list[Figures]:
    """Make bars of `rows` (label, own count, the others' count); the others' counts are scaled to the same total."""
    return _share_bars(((label, n, other * own / others if others else None) for label, n, other in rows), own)


def speed_bars(bands: Sequence[int], everybody: Sequence[int]) -> list[Figures]:
    """Make bars by multiples of the stage's median time; the line is everybody's share."""
    return _beside(zip(_band_names(), bands, everybody, strict=True), sum(bands), sum(everybody))


def answer_bars(own: Mapping[str, int], others: Mapping[str, int]) -> list[Figures]:
    labels = sorted({*own, *others}, key=lambda label: (-others.get(label, 0), label))
    rows = ((label, own.get(label, 0), others.get(label, 0)) for label in labels)
    return _beside(rows, sum(own.values()), sum(others.values()))


def place_bars(test: Figures) -> list[Figures]:
    rows = enumerate(zip(test["counts"], test["expected"], strict=True), 1)
    return _share_bars(((f"position {place}", count, expected) for place, (count, expected) in rows), test["n"])


def pick_strip(picks: Sequence[tuple[int, int]]) -> Figures:
    """Return the latest picks in the order given, each as a cell in the row for its position."""
    shown = picks[-_STRIP:]
    most = max((many for _, many in shown), default=1)
    step = 100 / max(1, len(shown))
    cells = [{"x": step * number, "y": 14 * (place - 1), "place": place} for number, (place, _) in enumerate(shown)]
    return {"cells": cells, "width": step, "height": 14 * most, "n": len(shown), "of": len(picks)}
