"""The study page's contents: the figures, what is to be looked at, and where the marks of its drawn charts stand.

Places and widths are in percent of the chart.
"""

import hashlib
import json
from collections.abc import Iterator

from annotation import exports, review
from annotation.figures import study_figures
from annotation.models import STUDY_MOVES, Stage, StudyState
from annotation.protocols.registry import PROTOCOLS

SHOWN = 6  # disagreements and flags
PAIRS = 45  # of annotators, those with most items in common; the export has all
BLOCKS = (
    "summary", "tiles", "funnel", "kappas", "series", "annotators", "agreement", "types", "disagreements", "flags",
    "exports",
)  # fmt: skip
MOVES = {StudyState.PAUSED: "Pause", StudyState.OPEN: "Open", StudyState.CLOSED: "Close"}


def contents(stage: Stage) -> dict:
    """Everything that the page and its live part show."""
    figures = study_figures(stage)
    coarse = next(found for found in figures["agreement"] if found["on"] == figures["by_type_on"])
    return {
        "stage": stage,
        "study": stage.study,
        "protocol": PROTOCOLS[stage.protocol],
        "instructions": stage.instructions.latest("version"),
        "figures": figures,
        "coarse": coarse,
        "pairs": sorted(coarse["kappa_pairs"], key=lambda pair: -pair["n"])[:PAIRS],
        "funnel": list(funnel(figures)),
        "axis": axis(figures),
        "dots": list(dots(figures)),
        "disagreements": review.disagreements(stage, SHOWN),
        "flags": review.open_flags(stage, SHOWN),
        "exports": list(exports.exports_of(stage.study)[:5]),
        "moves": [(to, MOVES[to]) for to in MOVES if to in STUDY_MOVES[StudyState(stage.study.state)]],
        "blocks": [(name, f"studies/_{name}.html") for name in BLOCKS],
        "seen": fingerprint(stage, figures),
    }


def fingerprint(stage: Stage, figures: dict) -> str:
    """Changes when anything changes that the page shows, the forecast's minutes included."""
    now = figures["now"]
    minutes = {name: (moment or "")[:16] for name, moment in now["forecast"].items()}
    jobs = list(exports.exports_of(stage.study).values_list("pk", "state")[:5])
    shown = [{**figures, "now": [now["leased"], now["last_hour"]["judgments"], minutes]}, stage.study.state, jobs]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def funnel(figures: dict) -> Iterator[dict]:
    """A bar of all items, a bar of what became of them, a bar for each reason."""
    outcomes = figures["outcomes"]
    total = outcomes["items"] or 1
    yield {"label": "items", "parts": [{"kind": "all", "x": 0, "width": 100, "count": outcomes["items"], "name": ""}]}
    parts, x = [], 0.0
    for kind in ("kept", "dropped", "open"):
        width = 100 * outcomes[kind] / total
        parts.append({"kind": kind, "x": x, "width": width, "count": outcomes[kind], "name": kind})
        x += width
    yield {"label": "outcome", "parts": parts}
    before = 100 * outcomes["kept"] / total
    for reason, count in outcomes["reasons"].items():
        width = 100 * count / total
        part = {"kind": "dropped", "x": before, "width": width, "count": count, "name": ""}
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
