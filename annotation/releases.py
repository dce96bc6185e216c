"""A validated split out: the kept items with their images, every judgment, and how one became the other.

An export is one snapshot of the database, in a total order, without the time of day: the same state gives the same
bytes. The folder appears whole or not at all.
"""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction

from annotation import figures, release_files, release_rows, tallies
from annotation.decisions import DROPPED, KEPT, OPEN, Decision
from annotation.models import Stage, Study
from annotation.protocols.base import Protocol
from benchmarks import events

MADE_BY = "Winnow"
Step = Callable[[int, int], None]  # items done, items in all


class CannotExport(ValueError):
    """The export cannot be written there, or not from this study; the message says why."""


def export_split(*, study: Study, out: Path, by: str, step: Step = lambda done, total: None) -> dict:
    """Write the study's split to the folder `out` and return its manifest. `step(done, total)` counts items.

    A folder that holds a former export is replaced; any other that is not empty is refused (CannotExport).
    """
    out = Path(out).absolute()
    _check_target(out)
    folder = out.with_name(f".{out.name}.{os.getpid()}.part")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with _snapshot():
            manifest = _write(Stage.objects.select_related("study__benchmark").get(study=study), folder, step)
        _put(folder, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    events.record(by=by, verb="exported", subject=study, files=manifest["files"], counts=manifest["counts"])
    return manifest


@contextmanager
def _snapshot() -> Iterator[None]:
    """Everything inside sees the database as it was at the first read, and changes nothing."""
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def _check_target(out: Path) -> None:
    if out.is_dir() and any(out.iterdir()) and not is_export(out):
        raise CannotExport(f"{out} is not empty and is not an earlier export. Name a new folder.")
    if out.is_dir() and is_export(out) and (others := _not_exported(out)):
        raise CannotExport(
            f"{out} holds {', '.join(sorted(others))[:200]} beside an earlier export. Name a new folder."
        )
    if out.exists() and not out.is_dir():
        raise CannotExport(f"{out} is a file. Name a folder.")


def _not_exported(folder: Path) -> set[str]:
    """What an earlier export did not write; it would be lost with it."""
    known = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
    return {path.name for path in folder.iterdir()} - {*known, "manifest.json"}


def is_export(folder: Path) -> bool:
    manifest = folder / "manifest.json"
    return manifest.is_file() and f'"made_by": "{MADE_BY}"' in manifest.read_text(encoding="utf-8")


def _put(folder: Path, out: Path) -> None:
    """The finished folder takes its name; what stood there goes only when that has worked."""
    old = folder.with_suffix(".old")
    if out.exists():
        out.rename(old)
    folder.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def _write(stage: Stage, folder: Path, step: Step) -> dict:
    rule = figures.rule_of(stage)
    counted = [row for row in figures.judgment_rows(stage) if row.counted]
    tasks = tallies.by_task(counted)
    decided = tallies.decisions(tasks, rule)
    votes = {task: Counter(row.answer for row in rows) for task, rows in tasks.items()}
    rows = _write_items(stage, folder, decided, votes, step)
    judgments = release_rows.judgments(stage)
    rows["judgments.parquet"] = release_files.write_judgments(folder / "judgments.parquet", judgments)
    rows["flags.jsonl"] = release_files.write_lines(folder / "flags.jsonl", release_rows.flags(stage))
    found = figures.study_figures(stage)
    rows["annotators.jsonl"] = release_files.write_lines(folder / "annotators.jsonl", _annotators(found))
    release_files.write_json(folder / "figures.json", {name: part for name, part in found.items() if name != "now"})
    data = release_files.digest(folder / "data.parquet")["sha256"]
    text = release_files.card(stage.study.name, found["outcomes"], describe(stage, rule.protocol), data)
    (folder / "README.md").write_text(text, encoding="utf-8", newline="\n")
    manifest = _manifest(stage, found, folder, rows)
    release_files.write_json(folder / "manifest.json", manifest)
    return manifest


def _write_items(stage: Stage, folder: Path, decided: dict, votes: dict, step: Step) -> dict[str, int]:
    files = {
        KEPT: release_files.LinesFile(folder / "items.jsonl"),
        DROPPED: release_files.LinesFile(folder / "dropped.jsonl"),
    }
    data = release_files.ParquetFile(folder / "data.parquet", release_files.split_schema())
    total = stage.tasks.count()
    for done, task in enumerate(release_rows.tasks_of(stage), 1):
        place = (task.item.position, task.question)
        decision = decided.get(place, Decision(OPEN))
        if decision.state != OPEN:
            files[decision.state].add(release_rows.identity(task, decision, votes[place]))
        if decision.state == KEPT:
            row = release_rows.split_row(task.item, decision.outcome)
            data.add(row, sum(len(part["bytes"]) for part in (row["image"], row["negative_image"]) if part))
        step(done, total)
    for file in (data, *files.values()):
        file.close()
    return {"data.parquet": data.count, "items.jsonl": files[KEPT].count, "dropped.jsonl": files[DROPPED].count}


def _annotators(found: dict) -> Iterable[dict]:
    return ({name: one[name] for name in ("annotator", "simulated", "skipped")} for one in found["annotators"])


TIES = {
    "drop": "a tie between kinds drops the item (tie_unresolved)",
    "first": "a tie between kinds goes to the kind that was given first",
    "none": "a tie between kinds counts as none",
}


def describe(stage: Stage, protocol: Protocol) -> str:
    """The decision rule in words."""
    drops = ", ".join(f"{outcome} → {reason}" for outcome, reason in sorted(protocol.drops.items()))
    if stage.overlap == 1:
        return f"one judgment an item decides; dropped are {drops}."
    return (
        f"{stage.overlap} judgments an item; the kind of answer (any image, each fixed answer, cannot_judge) with the "
        f"most judgments wins, {TIES[stage.tie_rule]}; among images the one with the most picks, among equals the one "
        f"picked first; dropped are {drops}."
    )


def _manifest(stage: Stage, found: dict, folder: Path, rows: dict[str, int]) -> dict:
    names = sorted(path.name for path in folder.iterdir())
    return {
        "made_by": MADE_BY,
        "version": settings.VERSION,
        "study": {**found["study"], **_stage_settings(stage)},
        "decision_rule": describe(stage, figures.rule_of(stage).protocol),
        "counts": found["outcomes"],
        "items_by_type": [{name: row[name] for name in ("type", "subtype", "items")} for row in found["by_type"]],
        "last_judgment_at": found["pace"]["last"],
        "instructions": list(stage.instructions.values("version", "text")),
        "files": {name: {**release_files.digest(folder / name), "rows": rows.get(name)} for name in names},
    }


def _stage_settings(stage: Stage) -> dict:
    names = ("strategy", "quota", "lease_seconds", "undo_seconds", "auto_advance", "seed")
    return {"benchmark": stage.study.benchmark.name, **{name: getattr(stage, name) for name in names}}
