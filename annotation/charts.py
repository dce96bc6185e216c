"""Where the marks of the study page's drawn charts stand. Places and widths are in percent of the chart. Pure."""

from collections.abc import Iterator, Mapping, Sequence

WIDE, WORDY = 14, 24  # percent: from these on, a part has room for its count, and for its name too


def funnel_bars(funnel: dict) -> Iterator[dict]:
    """A bar of all imported items; one for each stage, as much of the whole as is in it; one for what is measured."""
    whole = funnel["imported"] or 1
    yield {"label": "imported", "parts": [_part("all", 0, 100, funnel["imported"])], "note": ""}
    for step in funnel["stages"]:
        parts, x = [], 0.0
        for kind in ("kept", "dropped", "open"):
            width = 100 * step[kind] / whole
            parts.append(_part(kind, x, width, step[kind]))
            x += width
        yield {"label": f"{step['stage']} {step['name']}", "parts": parts, "note": _note(step), "after": min(x, 60)}
    for row in funnel["measuring"]:
        width = 100 * row["sampled"] / whole
        note = f"{row['answered']:,} of {row['tasks']:,} questions answered" if row["tasks"] else "waits"
        part = _part("all", 0, width, row["sampled"])
        yield {"label": f"{row['stage']} {row['name']}", "parts": [part], "note": note, "after": min(width, 60)}


def _part(kind: str, x: float, width: float, count: int) -> dict:
    name = "" if kind == "all" or width < WORDY else kind
    return {"kind": kind, "x": x, "width": width, "count": count, "name": name, "wide": width >= WIDE}


def _note(step: dict) -> str:
    """Beside a bar: the counts that have no room in it, and what waits."""
    shares = {kind: step[f"{kind}_share"] or 0 for kind in ("kept", "dropped", "open")}
    said = [f"{step[kind]:,} {kind} ({share:.1%})".replace("%)", " %)") for kind, share in shares.items() if step[kind]]
    waiting = [f"{step['waiting']:,} wait"] if step["waiting"] else []
    return " · ".join(said + waiting) or "nothing yet"


def outcome_bars(outcomes: dict, measures: bool = False) -> Iterator[dict]:
    """Of one stage: a bar of all its tasks, a bar of what became of them, a bar for each reason.

    A stage that measures drops nothing: what has its judgments is answered, though no answer may have most of them.
    """
    total, kept, dropped = outcomes["tasks"] or 1, outcomes["kept"], outcomes["dropped"]
    counts = {"kept": kept + dropped} if measures else {"kept": kept, "dropped": dropped}
    yield {"label": "in the stage", "parts": [_part("all", 0, 100, outcomes["tasks"])]}
    parts, x = [], 0.0
    for kind, count in (counts | {"open": outcomes["open"]}).items():
        width = 100 * count / total
        part = _part(kind, x, width, count)
        parts.append({**part, "name": "answered"} if measures and part["name"] == "kept" else part)
        x += width
    yield {"label": "answers" if measures else "outcome", "parts": parts}
    before = 100 * kept / total
    for reason, count in outcomes["reasons"].items():
        width = 100 * count / total
        part = {**_part("all" if measures else "dropped", before, width, count), "name": ""}
        yield {"label": reason, "parts": [part], "after": min(before + width, 80)}
        before += width


def axis(figures: dict) -> dict:
    """Alpha's axis: from 0, or from a lower quarter where a value or an interval is below, to 1."""
    ends = [row["alpha"]["interval"]["low"] for row in figures["by_type"]]
    ends += [row["alpha"]["value"] for row in figures["by_type"]]
    lowest = min((end for end in ends if end is not None), default=0)
    low = next(start for start in (0, -0.5, -1) if lowest >= start or start == -1)
    marks = [low + step * (1 - low) / 4 for step in range(5)]
    return {"low": low, "marks": [{"x": 25 * step, "value": mark} for step, mark in enumerate(marks)]}


def dots(figures: dict) -> Iterator[dict]:
    """A mark and its interval for each type whose alpha is defined."""
    low = axis(figures)["low"]

    def place(value: float) -> float:
        return round(100 * (min(max(value, low), 1) - low) / (1 - low), 3)

    for number, row in enumerate(figures["by_type"]):
        alpha, interval = row["alpha"], row["alpha"]["interval"]
        mark = {"row": row, "y": 26 * number + 13, "text": 26 * number + 17, "x": None, "from": None, "to": None}
        if alpha["value"] is not None:
            mark["x"] = place(alpha["value"])
        if interval["low"] is not None:
            mark |= {"from": place(interval["low"]), "to": place(interval["high"])}
        yield mark


def agreement_dots(rows: Sequence[Mapping], measure: str) -> dict:
    """`marks`, one for each row of a breakdown, with the interval of its `measure`, and the `axis` beneath."""
    told = [row["measures"][measure] for row in rows]
    lowest = min((end for one in told for end in (one["value"], one["low"]) if end is not None), default=0)
    low = next(start for start in (0, -0.5, -1) if lowest >= start or start == -1)

    def place(value: float | None) -> float | None:
        return None if value is None else round(100 * (min(max(value, low), 1) - low) / (1 - low), 3)

    marks = [
        {
            "name": row["name"], "note": one["note"], "y": 26 * number + 13, "text": 26 * number + 17,
            "x": place(one["value"]), "from": place(one["low"]), "to": place(one["high"]),
        }
        for number, (row, one) in enumerate(zip(rows, told, strict=True))
    ]  # fmt: skip
    return {"marks": marks, "axis": [{"x": 25 * step, "value": low + step * (1 - low) / 4} for step in range(5)]}


# Of what the papers report

FATES = {  # what became of an item, in words, and how its bar is filled
    "accepted": ("accepted as it was", "kept"),
    "edited": ("edited", "kept"),
    "confirmed": ("edited and confirmed", "kept"),
    "dropped": ("dropped", "dropped"),
    "to_confirm": ("waits for confirmation", "all"),
    "to_adjudicate": ("waits for adjudication", "all"),
    "open": ("open", "all"),
}


def fate_bars(fates: dict[str, int]) -> Iterator[dict]:
    """Those that something has come to."""
    total = sum(fates.values())
    for name, count in fates.items():
        label, kind = FATES[name]
        if count:
            yield single_bar(label, kind, count, total)


def order_bars(orders: list[dict]) -> Iterator[dict]:
    """Of the longest bar, not of all: thirteen orders share the judgments."""
    most = max(row["judgments"] for row in orders)
    for row in orders:
        yield single_bar(row["words"], "kept" if row["right"] else "dropped", row["judgments"], most)


def single_bar(label: str, kind: str, count: int, whole: int) -> dict:
    """A bar with its count in it, or beside it where it is short."""
    width = 100 * count / (whole or 1)
    return {"label": label, "parts": [{**_part(kind, 0, width, count), "name": ""}], "after": min(width, 80)}


def compare_bars(rows: list[dict]) -> Iterator[dict]:
    """A bar for each type and criterion: its origins in their order, then the ties."""
    for row in rows:
        parts, x = [], 0.0
        better = [(f"origin-{place}", count) for place, count in enumerate(row["better"])]
        for kind, count in [*better, ("tie", row["tie"])]:
            width = 100 * count / (row["n"] or 1)
            parts.append({**_part(kind, x, width, count), "name": ""})
            x += width
        yield {"label": f"{row['type']} {row['words']}".strip(), "parts": parts}
