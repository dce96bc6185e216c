"""How long judgments take: counts in bins of equal width. Pure."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median

from annotation.measures.warning_signs import FAST

BINS = 30  # at most, before the open one
MOST = 0.95  # share of the judgments for which bins have an end
WIDTHS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000)  # milliseconds


def histogram(times: Sequence[int]) -> dict:
    """Of milliseconds, JSON-able in seconds: `n`, `median`, `quick` (under half of it) and `bins` of {from, to,
    judgments}, from 0 up to the last that holds something.

    The narrowest width is taken that puts 95 % into `BINS` bins; what is longer is in a last one without an end.
    """
    if not times:
        return {"n": 0, "median": None, "quick": 0, "bins": []}
    ordered, typical = sorted(times), median(times)
    end = ordered[math.ceil(MOST * len(ordered)) - 1]
    width = next((width for width in WIDTHS if end // width < BINS), WIDTHS[-1])
    counts = Counter(min(time // width, BINS) for time in times)
    bins = [
        {"from": at * width / 1000, "to": (at + 1) * width / 1000 if at < BINS else None, "judgments": counts[at]}
        for at in range(max(counts) + 1)
    ]
    quick = sum(time < FAST * typical for time in times)
    return {"n": len(times), "median": typical / 1000, "quick": quick, "bins": bins}
