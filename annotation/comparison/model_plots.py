"""The figure of how far people are split against how sure models are. Pure."""

from collections.abc import Mapping

import numpy as np

from annotation.charts.study import Column, Plot, Subject
from annotation.comparison.disagreements_with_models import UNKNOWN, Table
from benchmarks.runs.margins import spearman

MOST = 500  # tasks that are drawn; a table of thousands helps nobody
PEOPLE: Mapping[int, str] = {1: "right", 0: "wrong", UNKNOWN: "undecided"}


def margins(found: Table, of: Subject) -> Plot:
    """Tasks that some model answered with a margin: people's entropy against the models' mean margin."""
    there = np.flatnonzero(np.isfinite(found.margin))
    margin, entropy, people = found.margin[there], found.entropy[there], found.people[there]
    step = max(1, -(-len(there) // MOST))
    drawn = range(0, len(there), step)
    rows = [[float(entropy[n]), float(margin[n]), PEOPLE[int(people[n])]] for n in drawn]
    columns = [
        Column("entropy", "entropy of people, bits", "decimal"), Column("margin", "margin of models", "decimal"),
        Column("people", "people", "text"),
    ]  # fmt: skip
    caption = "A dot for each task: how far its annotators are split, and by how much models prefer what is right."
    if step > 1:
        caption += f" Drawn are {len(rows):,} of {len(there):,}, every {step}th in the items’ order."
    says = f"{len(there):,} tasks. {_correlated(entropy, margin)}"
    return Plot("margins", "margins", "People’s entropy and models’ margin", caption, says, of, columns, rows)


def _correlated(entropy: np.ndarray, margin: np.ndarray) -> str:
    found = spearman(entropy, margin)
    if found is None:
        return "No rank correlation is defined: it takes four tasks, and annotators who are split on some."
    rho, low, high = (f"{value:.2f}".replace("-", "−") for value in found)
    return f"Spearman’s rank correlation is {rho} (95 % from {low} to {high}), n = {len(entropy):,}."
