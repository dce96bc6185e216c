"""Where the bars stand that the study page draws itself: what a stage came to, what papers report. Pure.

Places and widths are in percent of the bar. Figures that can be taken away as files are plots.py's.
"""

from collections.abc import Iterator

from annotation.measures.types import Figures

_ANSWERED = {"kept": "answered"}  # in a stage that measures
_WIDE, _WORDY = 14, 24  # percent: from these on, a part has room for its count, and for its name too


def _part(kind: str, x: float, width: float, count: int) -> Figures:
    name = "" if kind == "all" or width < _WORDY else kind
    return {"kind": kind, "x": x, "width": width, "count": count, "name": name, "wide": width >= _WIDE}


def outcome_bars(outcomes: Figures, measures: bool = False) -> Iterator[Figures]:
    """Of one stage: a bar of all its tasks, a bar of what became of them, a bar for each reason.

    In a stage that measures, what is kept is answered: without a majority too, which has a bar of its own.
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


# Of what the papers report

_FATES = {  # what became of an item, in words, and how its bar is filled
    "accepted": ("accepted as it was", "kept"),
    "edited": ("edited", "kept"),
    "confirmed": ("edited and confirmed", "kept"),
    "dropped": ("dropped", "dropped"),
    "to_confirm": ("waits for confirmation", "all"),
    "to_adjudicate": ("waits for adjudication", "all"),
    "open": ("open", "all"),
}


def fate_bars(fates: dict[str, int]) -> Iterator[Figures]:
    """Those that something has come to."""
    total = sum(fates.values())
    for name, count in fates.items():
        label, kind = _FATES[name]
        if count:
            yield _single_bar(label, kind, count, total)


def order_bars(orders: list[Figures]) -> Iterator[Figures]:
    """Of the longest bar, not of all: thirteen orders share the judgments."""
    most = max(row["judgments"] for row in orders)
    for row in orders:
        yield _single_bar(row["words"], "kept" if row["right"] else "dropped", row["judgments"], most)


def _single_bar(label: str, kind: str, count: int, whole: int) -> Figures:
    """A bar with its count in it, or beside it where it is short."""
    width = 100 * count / (whole or 1)
    return {"label": label, "parts": [{**_part(kind, 0, width, count), "name": ""}], "after": min(width, 80)}


def compare_bars(rows: list[Figures]) -> Iterator[Figures]:
    """A bar for each type and criterion: its origins in their order, then the ties."""
    for row in rows:
        parts, x = [], 0.0
        better = [(f"origin-{place}", count) for place, count in enumerate(row["better"])]
        for kind, count in [*better, ("tie", row["tie"])]:
            width = 100 * count / (row["n"] or 1)
            parts.append({**_part(kind, x, width, count), "name": ""})
            x += width
        yield {"label": f"{row['type']} {row['words']}".strip(), "parts": parts}
