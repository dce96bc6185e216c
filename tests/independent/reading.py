"""What the figures of a release rest on, read from its files: judgments, tasks, settings. An export's folder will do.

Nothing here, nor in the files beside it, imports what the application computes with: that is the point of them.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

TASK = ["position", "question", "round"]
EVERYTHING = frozenset({"times", "annotators", "comments", "gold"})
COLUMNS = [
    "stage", "item", "position", "question", "round", "kind", "live", "type", "subtype", "annotator", "slot", "screen",
    "revision", "answer", "content", "place", "shown", "created_at", "active_ms", "counted", "withdrawn", "surplus",
]  # fmt: skip
GIVEN = "given"  # a release's own column: the place of a judgment among those of its task, by the time of giving
EMPTY: dict = {}


def lines(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def measured(rows: pd.DataFrame) -> pd.Series:
    """Their active times in ms, where there are any."""
    return rows.active_ms[rows.active_ms > 0]


def median_time(rows: pd.DataFrame) -> float | None:
    times = measured(rows)
    return float(times.median()) if len(times) else None


def share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True)
class Files:
    """The files in `folder`, each read once. KeyError, ValueError or OSError where they are not what they should be."""

    folder: Path

    @cached_property
    def manifest(self) -> dict:
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))

    @property
    def public(self) -> frozenset[str]:
        """What is public besides the least; an export that is no release holds everything."""
        release = self.manifest.get("release")
        return EVERYTHING if release is None else frozenset(release["public"])

    @cached_property
    def tasks(self) -> list[dict]:
        return lines(self.folder / "tasks.jsonl")

    @cached_property
    def annotators(self) -> list[dict]:
        return lines(self.folder / "annotators.jsonl")

    def lines(self, name: str) -> list[dict]:
        return lines(self.folder / name)

    @cached_property
    def judgments(self) -> pd.DataFrame:
        """As in the file; `many` instead of what was shown is how much that was, `us` the time in microseconds."""
        path = self.folder / "judgments.parquet"
        there = [GIVEN] if GIVEN in pq.read_schema(path).names else []
        table = pq.read_table(path, columns=COLUMNS + there)
        table = table.append_column("many", pc.list_value_length(table["shown"]).cast(pa.int64()))
        table = table.append_column("us", pc.fill_null(table["created_at"].cast(pa.int64()), 0)).drop_columns("shown")
        rows = table.to_pandas()
        read: dict[str, dict] = {}  # what is the same text is read once
        rows["content"] = [
            read.setdefault(said, json.loads(said)) if isinstance(said, str) else EMPTY for said in rows.content
        ]
        return rows if there else in_order(rows)


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """With the column that an export has not, since it has the times."""
    ordered = rows.sort_values(["us", "slot"], kind="stable")
    rows[GIVEN] = ordered.groupby(["stage", "item", *TASK, "kind"], sort=False).cumcount() + 1
    return rows
