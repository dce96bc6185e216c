"""Releases of studies that people have worked on, made once and copied; and what somebody may do to one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.checks import attention_checks, gold_items
from annotation.checks.parsing import Known
from annotation.exports.export import export_split
from annotation.exports.files import content_hash, describe_files, digest, files_below, write_json
from annotation.models import Flag, Kind, Lease, Study
from annotation.participants import lifecycle as participants
from annotation.protocols import library
from annotation.releases.build import build
from annotation.releases.documents.facts import DOCUMENTS
from annotation.releases.export_reader import ExportReader, hashes
from annotation.releases.plan import FORMS, PUBLIC, Plan
from benchmarks.corrections.correct import Change, correct
from benchmarks.models import Action, Caption
from tests.builders import cohorts, crowds, declared, studies, text_annotators
from tests.builders.pipelines import pipeline, with_originals

BATCHES = {"strategy": "batches", "batch_size": 4, "overlap": 2, "check_rate": 0.2}
ONE, THREE = {"test": 100}, {"train": 60, "validation": 20, "test": 20}


def written(folder: Path) -> Path:
    """VISLA's two stages, with edits: each item has an image of its own."""
    made = text_annotators.visla_study(folder / "in", rows=12)
    text_annotators.work(made, seed=7)
    return exported(made, folder)


def stages(folder: Path) -> Path:
    return exported(pipeline(), folder)


def crowd_study() -> Study:
    """One stage that five people judged three times over, and somebody who has only joined."""
    made = crowds.stage(items=30, people=5, overlap=3).study
    studies.annotator(made, ready=False, name="Canary Name", prolific_pid="CANARYPID")
    return with_originals(made)


def crowd(folder: Path) -> Path:
    return exported(crowd_study(), folder)


def checks(folder: Path) -> Path:
    """Six annotators with their habits, in one stage with checks."""
    six = ("honest", "honest", "fast honest", "always left", "careless", "mistaken")
    return exported(with_originals(cohorts.study(six, judgments=30)[0].study), folder)


def protocol_files(folder: Path) -> Path:
    """Two stages that use protocol files: answers of several kinds, a text for the next stage, an adjudication."""
    made = with_originals(declared.texts_and_edits())
    text_annotators.work(made, seed=3)
    declared.adjudicate_first(made)
    return exported(made, folder)


def rich(folder: Path) -> Path:
    """As `protocol_files`, the second stage in batches; with a sample for agreement, checks, practice, flags, a
    correction, an item withdrawn, and somebody excluded.
    """
    made = declared.texts_and_edits(20, {"agreement_items": 6, "agreement_overlap": 4}, BATCHES)
    second, known = made.stages.get(position=2), declared.benchmark(library.shipped("image-caption-foil"), 3)
    Caption.objects.filter(item__benchmark=known, role="negative").update(role="second_positive")
    check, *practice = known.items.order_by("position")
    attention_checks.set_checks(stage=second, answers={check: ["caption-positive-0"]}, by="test")
    crowd = text_annotators.work(made, seed=3)
    participants.exclude(annotator=crowd[-1], reason="Answered at random", by="test")
    answers = {item: Known(("caption-positive-0",)) for item in practice}
    gold_items.set_known(stage=second, kind=Kind.PRACTICE, known=answers, by="test")
    declared.adjudicate_first(made)
    for lease in Lease.objects.filter(task__stage__study=made, annotator__in=crowd[:2]).order_by("pk")[:3]:
        Flag.objects.create(lease=lease, reason=f"The image is blurred, {lease.pk}.")
    keys = list(made.benchmark.items.order_by("position").values_list("key", flat=True))
    words = {"place": "caption-positive-0", "new": "A red cup.", "reason": "It lacked a word."}
    for change in (
        Change(item=keys[-1], action=Action.CAPTION, **words),
        Change(item=keys[-2], action=Action.WITHDRAW, reason="It shows a person."),
    ):
        correct(benchmark=made.benchmark, changes=[change], by="test")
    text_annotators.work(made, people=3, seed=4)
    return exported(with_originals(made), folder)


def sets_and_marks(folder: Path) -> Path:
    """Picks of many, points and boxes; items corrected, withdrawn, adjudicated and open."""
    return exported(with_originals(declared.sets_and_marks()), folder)


def exported(study: Study, folder: Path) -> Path:
    export_split(study=study, out=folder / "export", by="test")
    return folder / "export"


STUDIES: dict[str, Callable[[Path], Path]] = {
    "crowd": crowd, "written": written, "stages": stages, "checks": checks, "protocol_files": protocol_files,
    "rich": rich, "sets_and_marks": sets_and_marks,
}  # fmt: skip


def release(export: Path, out: Path, public=tuple(PUBLIC), splits=None, forms=FORMS) -> Path:
    out.mkdir()
    splits = splits or (THREE if apart(export) else ONE)
    build(export, Plan(name="made", version="1.0", splits=splits, forms=forms, public=public), out)
    return out


def apart(export: Path) -> bool:
    """Whether no two items share an image."""
    found = [hashes(line) for line in ExportReader(export).lines("items.jsonl")]
    return sum(map(len, found)) == len(set().union(*found))


def mend(folder: Path, but: str = "") -> None:
    """Hashes and sizes as they are now, wherever they stand, so that only what the files say can tell. Those in one
    file are left as they are.
    """
    manifest = json.loads((folder / "manifest.json").read_text())
    before = content_hash(manifest["files"], without=DOCUMENTS)
    after = content_hash(describe_files(folder, {}), without=DOCUMENTS)
    if but != "README.md" and (folder / "README.md").is_file():
        (folder / "README.md").write_bytes((folder / "README.md").read_bytes().replace(before.encode(), after.encode()))
    if but != "croissant.json" and (folder / "croissant.json").is_file():
        change_json(folder / "croissant.json", lambda found: _mend_objects(folder, found))
    rows = {name: file["rows"] for name, file in manifest["files"].items()}
    for path in folder.glob("data/*.parquet"):
        rows[path.relative_to(folder).as_posix()] = pq.read_metadata(path).num_rows
    manifest["files"] = describe_files(folder, rows)
    manifest["content"] = content_hash(manifest["files"])
    write_json(folder / "manifest.json", manifest)


def _mend_objects(folder: Path, croissant: dict) -> None:
    for one in croissant["distribution"]:
        if "sha256" in one and (path := folder / one["contentUrl"]).is_file():
            found = digest(path)
            one |= {"sha256": found["sha256"], "contentSize": f"{found['bytes']} B"}


def change_json(path: Path, change: Callable[[dict], object]) -> None:
    found = json.loads(path.read_text())
    change(found)
    write_json(path, found)


def lines(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file by its path below the folder."""
    return {name: (folder / name).read_bytes() for name in files_below(folder)}


def change_lines(path: Path, change: Callable[[list[dict]], object]) -> None:
    rows = lines(path)
    change(rows)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def change_table(path: Path, change: Callable[[list[dict]], object]) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def copied(folder: Path, out: Path) -> Path:
    return shutil.copytree(folder, out)
