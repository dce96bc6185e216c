"""Releases of studies that people have worked on, made once and copied; and what somebody may do to one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.exports.export import export_split
from annotation.exports.files import content_hash, describe_files, files_below, write_json
from annotation.models import Study
from annotation.releases.build import build
from annotation.releases.export_reader import ExportReader, hashes
from annotation.releases.plan import FORMS, PUBLIC, Plan
from tests.builders import cohorts, crowds, declared, studies, text_annotators
from tests.builders.pipelines import pipeline, with_originals

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


def exported(study: Study, folder: Path) -> Path:
    export_split(study=study, out=folder / "export", by="test")
    return folder / "export"


STUDIES: dict[str, Callable[[Path], Path]] = {
    "crowd": crowd, "written": written, "stages": stages, "checks": checks, "protocol_files": protocol_files,
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


def mend(folder: Path) -> None:
    """Hashes and sizes in the manifest as they are now, so that only what the files say can tell."""
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = {name: file["rows"] for name, file in manifest["files"].items()}
    for path in folder.glob("data/*.parquet"):
        rows[path.relative_to(folder).as_posix()] = pq.read_metadata(path).num_rows
    manifest["files"] = describe_files(folder, rows)
    manifest["content"] = content_hash(manifest["files"])
    write_json(folder / "manifest.json", manifest)


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
