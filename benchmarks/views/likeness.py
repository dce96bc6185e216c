"""The similarity of a benchmark's captions in wording, for items with two positive captions and a negative one.

`panels` computes the positions in its plot: a panel for each measure, with a row of bars for each pair of captions, all
rows on the same axis and scale. Bars are equally wide, whatever the width of their bins. Positions and widths are in
percent of the plot, heights in pixels.
"""

from collections.abc import Iterator, Mapping, Sequence

from django.core.cache import cache
from django.db.models import Count, Max

from benchmarks.metrics import lexical
from benchmarks.metrics.lexical import Bin
from benchmarks.models import Benchmark, Caption, Correction, Item, Role

DAY = 24 * 3600
ROLES = (Role.POSITIVE, Role.SECOND_POSITIVE, Role.NEGATIVE)
TITLES = {"characters": "Edit distance in characters", "words": "Edit distance in words", "overlap": "Word overlap"}
HIGH = 44  # height of a row in pixels
LEAST = 5  # minimum number of bins shown
MARKS = 6  # most marks on an axis
STEPS = (1, 2, 5, 10, 20, 50, 100)  # between marks


def likeness(benchmark: Benchmark) -> dict:
    """Return `lexical.overlap` of all items that are not withdrawn; {} if none has a second positive. Cached until
    captions are added or something is corrected.
    """
    seconds = Caption.objects.filter(item__benchmark=benchmark, role=Role.SECOND_POSITIVE, position=0)
    state = seconds.aggregate(count=Count("pk"), last=Max("pk"))
    if not state["count"]:
        return {}
    corrected = Correction.objects.filter(item__benchmark=benchmark).aggregate(last=Max("pk"))["last"]
    key = f"likeness:{benchmark.pk}:{state['count']}:{state['last']}:{corrected}"
    return cache.get_or_set(key, lambda: lexical.overlap(_triplets(benchmark)), DAY) or {}


def _triplets(benchmark: Benchmark) -> list[tuple[str, str, str]]:
    """Return the first caption of each of the three roles, for every item with all three."""
    found: dict[int, dict[str, str]] = {}
    items = Item.objects.filter(benchmark=benchmark, withdrawn=False)
    written = Caption.objects.filter(item__in=items, role__in=ROLES, position=0).order_by()
    for item, role, text in written.values_list("item_id", "role", "text"):
        found.setdefault(item, {})[role] = text
    one, other, wrong = ROLES
    return [(texts[one], texts[other], texts[wrong]) for texts in found.values() if len(texts) == len(ROLES)]


def panels(overlap: Mapping[str, Mapping]) -> list[dict]:
    """Return panels from the result of `lexical.overlap`; none if there are no items."""
    if not any(found["n"] for found in overlap.values()):
        return []
    return [_panel(measure, {pair: found[measure] for pair, found in overlap.items()}) for measure in TITLES]


def _panel(measure: str, pairs: Mapping[str, Mapping]) -> dict:
    every: list[Sequence[Bin]] = [found["bins"] for found in pairs.values()]
    last = max(place for bins in every for place, one in enumerate(bins, 1) if one["count"])
    shown = len(every[0]) if measure == "overlap" else max(LEAST, last)  # the overlap axis has an end
    most = max(one["count"] for bins in every for one in bins)
    bins = every[0][:shown]
    return {
        "measure": measure,
        "title": TITLES[measure],
        "places": 2 if measure == "overlap" else 1,  # decimals
        "rows": [_row(pair, found, shown, most) for pair, found in pairs.items()],
        "marks": list(_marks(bins)),
        "table": [
            {"label": _label(one), "counts": [found["bins"][place]["count"] for found in pairs.values()]}
            for place, one in enumerate(bins)
        ],
    }


def _row(pair: str, found: Mapping, shown: int, most: int) -> dict:
    bins = found["bins"][:shown]
    return {
        "pair": pair.replace("-", "\N{EN DASH}"),
        "mean": found["mean"],
        "median": found["median"],
        "bars": [_bar(place, one["count"], shown, most) for place, one in enumerate(bins) if one["count"]],
        "at": round(100 * _place_of(found["mean"], bins) / shown, 3),
    }


def _bar(place: int, count: int, shown: int, most: int) -> dict:
    """Return the bar's height, at least one pixel if it is not empty."""
    height = max(1.0, round((HIGH - 2) * count / most, 2))
    return {"x": round(100 * place / shown, 3), "width": round(92 / shown, 3), "y": HIGH - height, "height": height}


def _place_of(value: float, bins: Sequence[Bin]) -> float:
    """Return a value's position on the axis, in bins from the start, interpolated within a bin."""
    for place, one in reversed(list(enumerate(bins))):
        if one["from"] <= value:
            return place + ((value - one["from"]) / (one["to"] - one["from"]) if one["to"] else 0.5)
    return 0.0


def _marks(bins: Sequence[Bin]) -> Iterator[dict]:
    """Yield round numbers at which bins begin, as many as fit."""
    begin = [round(one["from"] * (10 if isinstance(one["from"], float) else 1)) for one in bins]
    step = next(step for step in STEPS if sum(start % step == 0 for start in begin) <= MARKS)
    for place, start in enumerate(begin):
        if start % step == 0:
            yield {"x": round(100 * place / len(bins), 3), "value": f"{bins[place]['from']:g}"}


def _label(one: Bin) -> str:
    """Label a bin: `0`, `5 to 9`, `100 or more` for counts; `0.2 to 0.3` for shares, up to the next bin's start."""
    low, high = one["from"], one["to"]
    if high is None:
        return f"{low:g}" if low == 1 else f"{low:g} or more"
    if isinstance(low, float):
        return f"{low:g} to {high:g}"
    return f"{low}" if high == low + 1 else f"{low} to {high - 1}"
