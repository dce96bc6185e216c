"""Read a benchmark's known truth, and a model's scores for it, from CSV files, strictly."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from annotation.measures.audits.replay import Truth
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.table import Row, read_table

STRATUM = "stratum"


def read_truth(path: Path, log: ProblemLog) -> Truth:
    """Read the columns `item`, `wrong` (0 or 1) and, if present, `stratum`. Errors go to the log."""
    wrong: dict[str, bool] = {}
    strata: dict[str, str] = {}
    for row, key in _rows(path, log, "wrong", wrong):
        value = row.values["wrong"].strip()
        if value not in ("0", "1"):
            log.error("WRONG_VALUE", path.name, row.number, "wrong", "Write 1 for a wrong item and 0 for a right one.")
        wrong[key] = value == "1"
        if STRATUM in row.values:
            strata[key] = row.values[STRATUM].strip()
            if not strata[key]:
                log.error("VALUE_MISSING", path.name, row.number, STRATUM, "Fill in this cell, or remove the column.")
    return Truth(wrong, strata or None)


def read_scores(path: Path, truth: Truth, log: ProblemLog) -> dict[str, float]:
    """Read `item` and `score` for every item of the truth, and divide the scores by the largest."""
    scores: dict[str, float] = {}
    for row, key in _rows(path, log, "score", scores):
        try:
            value = float(row.values["score"])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            log.error("WRONG_VALUE", path.name, row.number, "score", "Write a finite number, such as 0.25.")
        if key not in truth.wrong:
            advice = "The file of the truth does not have this item. Remove the row, or correct the id."
            log.error("UNKNOWN_ID", path.name, row.number, "item", advice)
        scores[key] = value
    if not log.count:
        for key in truth.wrong:
            if key not in scores:
                advice = f"There is no score for item {key[:80]}. Add a row for it."
                log.error("VALUE_MISSING", path.name, None, "score", advice)
    largest = max((abs(value) for value in scores.values()), default=0) or 1
    return {key: value / largest for key, value in scores.items()}


def _rows(path: Path, log: ProblemLog, column: str, found: Mapping[str, object]) -> Iterator[tuple[Row, str]]:
    """Yield each row with its item; log empty and repeated items."""
    try:
        for row in read_table(path, log, ("item", column)):
            key = row.values["item"].strip()
            if not key:
                log.error("VALUE_MISSING", path.name, row.number, "item", "Fill in this cell, or remove the row.")
            elif key in found:
                log.error("DUPLICATE_ID", path.name, row.number, "item", "An earlier row has this item. Keep only one.")
            yield row, key
    except Unreadable:
        return
