"""Where the marks of the plot of likeness stand: edit distance and word overlap of P1, P2 and N. Pure.

A panel for each measure, in it a row of bars for each pair of captions, all rows on one axis and one scale. Bars are
equally wide, whatever their bins hold. Places and widths are in percent of the plot, heights in pixels.
"""

from collections.abc import Iterator, Mapping, Sequence

TITLES = {
    "characters": "Edit distance in characters",
    "words": "Edit distance in words",
    "overlap": "Word overlap",
}
HIGH = 44  # pixels of a row
LEAST = 5  # bins shown, however few there is something in
MARKS = 6  # at most, on an axis
STEPS = (1, 2, 5, 10, 20, 50, 100)  # between marks

Bin = Mapping[str, float | None]  # benchmarks.metrics.lexical.overlap: from, to, count


def panels(overlap: Mapping[str, Mapping]) -> list[dict]:
    """Of what `lexical.overlap` returns; none where there are no items."""
    if not any(found["n"] for found in overlap.values()):
        return []
    return [panel(measure, {pair: found[measure] for pair, found in overlap.items()}) for measure in TITLES]


def panel(measure: str, pairs: Mapping[str, Mapping]) -> dict:
    shown = shown_bins(measure, [found["bins"] for found in pairs.values()])
    most = max(one["count"] for found in pairs.values() for one in found["bins"]) or 1
    bins = next(iter(pairs.values()))["bins"][:shown]
    return {
        "measure": measure,
        "title": TITLES[measure],
        "places": 2 if measure == "overlap" else 1,  # decimals
        "rows": [row(pair, found, shown, most) for pair, found in pairs.items()],
        "marks": list(marks(bins)),
        "table": [
            {"label": label(one), "counts": [found["bins"][place]["count"] for found in pairs.values()]}
            for place, one in enumerate(bins)
        ],
    }


def shown_bins(measure: str, every: Sequence[Sequence[Bin]]) -> int:
    """Up to the last bin in which there is something; of overlap all, since its axis has an end."""
    if measure == "overlap":
        return len(every[0])
    return max(LEAST, *(place for bins in every for place, one in enumerate(bins, 1) if one["count"]))


def row(pair: str, found: Mapping, shown: int, most: int) -> dict:
    bins = found["bins"][:shown]
    return {
        "pair": pair.replace("-", "\N{EN DASH}"),
        "mean": found["mean"],
        "median": found["median"],
        "bars": [bar(place, one["count"], shown, most) for place, one in enumerate(bins) if one["count"]],
        "at": round(100 * place_of(found["mean"], bins) / shown, 3),
    }


def bar(place: int, count: int, shown: int, most: int) -> dict:
    """At least a pixel high: something is there."""
    height = max(1.0, round((HIGH - 2) * count / most, 2))
    return {"x": round(100 * place / shown, 3), "width": round(92 / shown, 3), "y": HIGH - height, "height": height}


def place_of(value: float, bins: Sequence[Bin]) -> float:
    """Where a value lies on the axis, in bins from its start; within a bin by its share of it."""
    for place, one in reversed(list(enumerate(bins))):
        if one["from"] <= value:
            return place + ((value - one["from"]) / (one["to"] - one["from"]) if one["to"] else 0.5)
    return 0.0


def marks(bins: Sequence[Bin]) -> Iterator[dict]:
    """Round numbers at which bins begin, as many of them as there is room for."""
    begin = [round(one["from"] * (10 if isinstance(one["from"], float) else 1)) for one in bins]
    step = next(step for step in STEPS if sum(start % step == 0 for start in begin) <= MARKS)
    for place, start in enumerate(begin):
        if start % step == 0:
            yield {"x": round(100 * place / len(bins), 3), "value": f"{bins[place]['from']:g}"}


def label(one: Bin) -> str:
    """`0`, `5 to 9`, `100 or more` of counts; `0.2 to 0.3` of shares, whose end is the next one's."""
    low, high = one["from"], one["to"]
    if high is None:
        return f"{low:g}" if low == 1 else f"{low:g} or more"
    if isinstance(low, float):
        return f"{low:g} to {high:g}"
    return f"{low}" if high == low + 1 else f"{low} to {high - 1}"
