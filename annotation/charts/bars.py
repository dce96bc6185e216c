"""Positions of the bars that the study page draws itself: a stage's outcomes, and the papers' results. Pure.

Positions and widths are in percent of the bar. Figures that can be downloaded are in study.py.
"""

from collections.abc import Iterator

from annotation.measures.types import Figures
from annotation.protocols.registry import title_of
from benchmarks.naming import kind_name

_ANSWERED = {"kept": "answered"}  # in a stage that measures
_WIDE, _WORDY = 14, 24  # in percent: from these widths on, a part has room for its count, or for count and name


def _part(kind: str, x: float, width: float, count: int) -> Figures:
    name = "" if kind == "all" or width < _WORDY else kind
    return {"kind": kind, "x": x, "width": width, "count": count, "name": name, "wide": width >= _WIDE}


def outcome_bars(outcomes: Figures, measures: bool = False) -> Iterator[Figures]:
    """Return one stage's bars: all its tasks, their outcomes, and each reason.

    In a stage that measures, kept means answered; answers without a majority have their own bar.
    """
    total, names = outcomes["tasks"] or 1, _ANSWERED if measures else {}
    yield {"label": "in the stage", "parts": [_part("all", 0, 100, outcomes["tasks"])]}
    parts, x = [], 0.0
    for kind in ("kept", "dropped", "open"):
        width = 100 * outcomes[kind] / total
        part = _part("all" if measures and kind == "dropped" else kind, x, width, outcomes[kind])
        parts.append({**part, "name": names.get(part["name"], part["name"])})
        x += width
    yield {"label": "answers" if measures else "outcome", "parts": parts}
    level = outcomes["decided_by"].get("no_majority", 0)
    before = 100 * (outcomes["kept"] - level) / total
    for reason, count in (({"no_majority": level} if level else {}) | outcomes["reasons"]).items():
        width = 100 * count / total
        part = {**_part("all" if measures else "dropped", before, width, count), "name": ""}
        yield {"label": reason, "parts": [part], "after": min(before + width, 80)}
        before += width


def funnel_bars(whole: Figures) -> Iterator[Figures]:
    """Return a bar of all imported items, then one for each stage, from figures.funnel.funnel. `says` describes it."""
    of = whole["imported"] or 1
    yield {"label": "Imported", "parts": [_part("all", 0, 100, whole["imported"])], "says": f"{whole['imported']:,}"}
    for step in whole["stages"]:
        parts, x = [], 0.0
        for kind in ("kept", "dropped", "open"):
            parts.append(_part(kind, x, 100 * step[kind] / of, step[kind]))
            x += parts[-1]["width"]
        states = [f"{step[kind]:,} {kind}" for kind in ("kept", "dropped", "open") if step[kind] or kind == "kept"]
        states += [f"{step['waiting']:,} to come"] if step["waiting"] else []
        yield {"label": f"{step['stage']} {title_of(step['protocol'])}", "parts": parts, "says": " · ".join(states)}
    for one in whole["measuring"]:
        says = f"{one['answered']:,} of {one['tasks']:,} answered" if one["tasks"] else "nothing yet"
        parts = [_part("all", 0, 100 * one["sampled"] / of, one["sampled"])]
        yield {"label": f"{one['stage']} {title_of(one['protocol'])}", "parts": parts, "says": says}


# What the papers report

_FATES = {  # what became of an item, in words, and how its bar is filled
    "accepted": ("accepted unchanged", "kept"),
    "edited": ("edited", "kept"),
    "confirmed": ("edited and confirmed", "kept"),
    "dropped": ("dropped", "dropped"),
    "to_confirm": ("waiting for confirmation", "all"),
    "to_adjudicate": ("waiting for adjudication", "all"),
    "open": ("open", "all"),
}


def fate_bars(fates: dict[str, int]) -> Iterator[Figures]:
    """Return a bar of the fates that have occurred."""
    total = sum(fates.values())
    for name, count in fates.items():
        label, kind = _FATES[name]
        if count:
            yield _single_bar(label, kind, count, total)


def order_bars(orders: list[Figures]) -> Iterator[Figures]:
    """Make bars relative to the longest one, not to all judgments, which thirteen orders share."""
    most = max(row["judgments"] for row in orders)
    for row in orders:
        yield _single_bar(row["words"], "kept" if row["right"] else "dropped", row["judgments"], most)


def _single_bar(label: str, kind: str, count: int, whole: int) -> Figures:
    """Return a bar with its count inside, or beside it if the bar is short."""
    width = 100 * count / (whole or 1)
    return {"label": label, "parts": [{**_part(kind, 0, width, count), "name": ""}], "after": min(width, 80)}


def compare_bars(rows: list[Figures]) -> Iterator[Figures]:
    """Return a bar for each type and criterion: its origins in order, then ties."""
    for row in rows:
        parts, x = [], 0.0
        better = [(f"origin-{place}", count) for place, count in enumerate(row["better"])]
        for kind, count in [*better, ("tie", row["tie"])]:
            width = 100 * count / (row["n"] or 1)
            parts.append({**_part(kind, x, width, count), "name": ""})
            x += width
        yield {"label": f"{kind_name(row['type'], none='')} {row['words']}".strip(), "parts": parts}
