"""Where the marks of the charts of one annotator stand: their shares as bars, what is expected as a line. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from annotation.measures.annotator_behaviour import BANDS

STRIP = 240  # picks at most
WORDS = {0.25: "a quarter", 0.5: "half", 1.0: "the median", 2.0: "twice", 4.0: "four times"}


def band_names() -> list[str]:
    names = [WORDS[end] for end in BANDS]
    between = [f"{low} to {high}" for low, high in pairwise(names)]
    return [f"under {names[0]}", *between, f"over {names[-1]}"]


def shares(rows: Iterable[tuple[str, float, float | None, float]]) -> list[dict]:
    """`rows`: (label, count, what is expected for so many or None, their sum); places are percent of the widest."""
    rows = [(label, count, expected, total or 1) for label, count, expected, total in rows]
    most = max((max(count, expected or 0) / total for _, count, expected, total in rows), default=0) or 1
    return [
        {
            "label": label,
            "count": count,
            "share": count / total,
            "expected": None if expected is None else expected / total,
            "width": 100 * count / total / most * 0.9,
            "mark": None if expected is None else 100 * expected / total / most * 0.9,
        }
        for label, count, expected, total in rows
    ]


def speed_bars(bands: Sequence[int], everybody: Sequence[int]) -> list[dict]:
    """Of the stage's median time; the line is everybody's share."""
    return shares(_scaled(zip(band_names(), bands, everybody, strict=True), sum(bands), sum(everybody)))


def answer_bars(own: Mapping[str, int], others: Mapping[str, int]) -> list[dict]:
    labels = sorted({*own, *others}, key=lambda label: (-others.get(label, 0), label))
    rows = [(label, own.get(label, 0), others.get(label, 0)) for label in labels]
    return shares(_scaled(rows, sum(own.values()), sum(others.values())))


def _scaled(
    rows: Iterable[tuple[str, int, int]], own: int, others: int
) -> list[tuple[str, float, float | None, float]]:
    return [(label, count, other * own / others if others else None, own) for label, count, other in rows]


def place_bars(test: Mapping) -> list[dict]:
    rows = enumerate(zip(test["counts"], test["expected"], strict=True), 1)
    return shares((f"place {place}", count, expected, test["n"]) for place, (count, expected) in rows)


def strip(picks: Sequence[tuple[int, int]]) -> dict:
    """The places of the newest picks in the order of giving, each a cell in the row of its place."""
    shown = picks[-STRIP:]
    most = max((many for _, many in shown), default=1)
    step = 100 / max(1, len(shown))
    cells = [{"x": step * number, "y": 14 * (place - 1), "place": place} for number, (place, _) in enumerate(shown)]
    return {"cells": cells, "width": step, "height": 14 * most, "n": len(shown), "of": len(picks)}
