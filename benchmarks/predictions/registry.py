"""All layouts of predictions. To add one, add a file beside this one and a line here."""

from pathlib import Path

from benchmarks.predictions import bivlc_results, gpt4v, jsonl
from benchmarks.predictions.base import Layout
from benchmarks.predictions.kinds import Kind

LAYOUTS: tuple[Layout, ...] = (bivlc_results.LAYOUT, bivlc_results.CORRECT, gpt4v.LAYOUT, jsonl.LAYOUT)


def layout_of(path: Path, kind: Kind) -> Layout | None:
    """The layout for that kind with this file name ending; None if there is none."""
    ending = path.suffix.lower()
    return next((one for one in LAYOUTS if kind.name in one.kinds and ending in one.endings), None)


def endings(kind: Kind) -> list[str]:
    return [ending for one in LAYOUTS if kind.name in one.kinds for ending in one.endings]
