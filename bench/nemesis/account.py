"""Compare acknowledged answers with the database and an export, in plain SQL, without the product's own reads."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
from psycopg.rows import dict_row

from bench.nemesis.annotators import CANNOT, Diary, Failure
from bench.nemesis.faults import Struck

ROWS = """
SELECT judgment.key::text, lease.token::text AS lease, lease.shown, judgment.answer, judgment.reason,
       judgment.withdrawn, judgment.surplus, judgment.revision,
       judgment.active_ms AS active, judgment.elapsed_ms AS elapsed,
       annotator.token AS annotator, annotator.number, item.key AS item,
       dense_rank() OVER (PARTITION BY lease.task_id, annotator.id ORDER BY lease.granted_at, lease.id) AS screen
FROM annotation_judgment judgment JOIN annotation_lease lease ON lease.id = judgment.lease_id
JOIN annotation_annotator annotator ON annotator.id = lease.annotator_id
JOIN annotation_task task ON task.id = lease.task_id JOIN benchmarks_item item ON item.id = task.item_id
WHERE annotator.study_id = %(study)s
"""
OVER = """
SELECT count(*) FROM (
  SELECT task.id FROM annotation_task task JOIN annotation_lease lease ON lease.task_id = task.id
  JOIN annotation_stage stage ON stage.id = task.stage_id
  WHERE stage.study_id = %(study)s AND lease.state IN ('held', 'judged')
  GROUP BY task.id HAVING count(*) > task.overlap) over
"""
TWICE = """
SELECT count(*) FROM (
  SELECT 1 FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
  JOIN annotation_lease lease ON lease.id = judgment.lease_id JOIN annotation_stage stage ON stage.id = slot.stage_id
  WHERE stage.study_id = %(study)s GROUP BY lease.task_id, lease.annotator_id HAVING count(*) > 1) twice
"""
SLACK = 0.5  # seconds around a fault in which a failed request is still its doing


@dataclass
class Account:
    """Counts of what must not happen, and of some things that may."""

    acknowledged: int = 0
    surplus: int = 0
    undone: int = 0
    broken: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def note(self, what: str, wrong: list[str]) -> None:
        self.broken[what] = self.broken.get(what, 0) + len(wrong)
        self.examples += [f"{what}: {one}" for one in wrong[:5]]


def account(diaries: dict[str, Diary], *, url: str, study: int, export: str) -> Account:
    """`diaries` by the annotator's token; `export` is the zip of an export made after the last answer, "" for none."""
    with psycopg.connect(url, row_factory=dict_row) as database:
        rows = {row["key"]: row for row in database.execute(ROWS, {"study": study})}
        over = database.execute(OVER, {"study": study}).fetchone()["count"]
        twice = database.execute(TWICE, {"study": study}).fetchone()["count"]
    known = {key: (token, receipt) for token, diary in diaries.items() for key, receipt in diary.acknowledged.items()}
    sent = {key: fields for diary in diaries.values() for key, fields in diary.sent.items()}
    found = Account(acknowledged=len(known))
    found.surplus = sum(row["surplus"] for row in rows.values())
    found.undone = sum(row["withdrawn"] for row in rows.values())
    found.note("lost", [key for key in known if key not in rows])
    altered = [
        f"{key}: {what}" for key in known.keys() & rows for what in differences(rows[key], sent[key], *known[key])
    ]
    found.note("altered", altered)
    found.note("doubled", [key for key in rows if key not in sent] + ["two count of one annotator and task"] * twice)
    found.note("over overlap", ["a task"] * over)
    if export:
        lost, altered = in_export(Path(export), rows)
        found.note("lost from the export", lost)
        found.note("altered in the export", altered)
    return found


def differences(row: dict, sent: dict | None, annotator: str, receipt: str) -> Iterator[str]:
    """Yield differences between a judgment's row and what was sent; None: an undo, whose receipt is the lease."""
    if row["annotator"] != annotator:
        yield "another annotator's"
    if sent is None:
        if not row["withdrawn"] or row["lease"] != receipt:
            yield "not what was taken back"
        return
    place = sent["answer"]
    answer = CANNOT if place == CANNOT else row["shown"][int(place) - 1]
    expected = {name: sent[name] for name in ("lease", "reason", "active", "elapsed")}
    expected |= {"answer": answer, "withdrawn": False}
    if receipt != "replayed":
        expected["surplus"] = receipt == "surplus"
    for name, value in expected.items():
        if row[name] != value:
            yield f"{name} is {row[name]!r}, sent as {value!r}"


def in_export(path: Path, rows: dict[str, dict]) -> tuple[list[str], list[str]]:
    """Compare the export with the database: missing, additional and different rows."""
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/judgments.parquet"))
        listed = pq.read_table(io.BytesIO(archive.read(name))).to_pylist()
    exported = {(one["annotator"], one["item"], one["screen"], one["revision"]): one for one in listed}
    stored = {(f"A-{row['number']:02d}", row["item"], row["screen"], row["revision"]): row for row in rows.values()}
    lost = [str(one) for one in stored.keys() ^ exported.keys()] + ["a line twice"] * (len(listed) - len(exported))
    altered = [str(one) for one in stored.keys() & exported.keys() if not _same(stored[one], exported[one])]
    return lost, altered


def _same(row: dict, line: dict) -> bool:
    names = {"active": "active_ms", "elapsed": "elapsed_ms"}
    told = {name: line[names.get(name, name)] for name in ("withdrawn", "surplus", "active", "elapsed")}
    told |= {name: line[name] or "" for name in ("answer", "reason")}
    return all(row[name] == value for name, value in told.items())


def outside(failures: list[Failure], struck: list[Struck]) -> list[Failure]:
    """Return requests that failed while nothing was wrong."""
    windows = [(one.begun - SLACK, one.well + SLACK) for one in struck]
    return [one for one in failures if not any(begun <= one.ended and one.begun <= well for begun, well in windows)]
