"""An export while people judge is of one moment: what it says of itself holds, and so do the laws."""

import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.db import connections

from annotation.exports.export import export_split
from annotation.models import Annotator, Judgment, Stage
from annotation.releases.verification.differences import differences
from benchmarks import transactions
from tests.builders import crowds, pipelines, studies
from tests.independent.recomputed import figures, recompute

pytestmark = pytest.mark.django_db(transaction=True)
OVERLAP = 5
FULL = pytest.param(50, marks=pytest.mark.nightly)  # people who judge at once


@pytest.fixture
def stage() -> Stage:
    """With enough to judge for as long as anybody looks."""
    study = studies.study(benchmark=crowds.benchmark(150), overlap=OVERLAP, pay_per_hour=12)
    pipelines.with_originals(study)
    return study.stages.select_related("study").get()


@contextmanager
def judged(stage: Stage, number: int):
    """So many people judge meanwhile."""
    people, over = [studies.annotator(stage.study) for _ in range(number)], threading.Event()

    def sit(person: Annotator) -> None:
        try:
            while not over.is_set() and studies.judgment(person, stage):
                pass
        finally:
            connections.close_all()

    with ThreadPoolExecutor(number) as pool:
        sitting = [pool.submit(sit, person) for person in people]
        try:
            yield
        finally:
            over.set()
            for one in sitting:
                one.result()


def wrong(folder: Path) -> list[str]:
    """What of an export does not fit the rest of it, or breaks a law."""
    manifest = json.loads((folder / "manifest.json").read_text())
    given = pq.read_table(folder / "judgments.parquet").to_pylist()
    counted = [row for row in given if row["counted"]]
    found = differences(recompute(folder), figures(folder))
    found += [f"{task} has {n} counted" for task, n in Counter(row["item"] for row in counted).items() if n > OVERLAP]
    twice = Counter((row["item"], row["annotator"]) for row in counted)
    found += [f"{who} counts twice" for who, n in twice.items() if n > 1]
    for name, file in manifest["files"].items():
        if name.endswith(".jsonl") and file["rows"] != len((folder / name).read_text().splitlines()):
            found.append(f"{name} has other rows than the manifest says")
    if len(given) != manifest["files"]["judgments.parquet"]["rows"]:
        found.append("judgments.parquet has other rows than the manifest says")
    return found


def written(folder: Path) -> int:
    return pq.read_metadata(folder / "judgments.parquet").num_rows


@pytest.mark.parametrize("people", [8, FULL])
def test_it_is_of_one_moment(stage, tmp_path, people):
    with judged(stage, people):
        export_split(study=stage.study, out=tmp_path / "export", by="test")
        said, meanwhile = written(tmp_path / "export"), Judgment.objects.count()
    assert said + 20 < meanwhile  # judgments were given while it was written
    assert wrong(tmp_path / "export") == []


@pytest.mark.parametrize("people", [FULL])
def test_the_control_is_torn_without_the_snapshot(stage, tmp_path, monkeypatch, people):
    monkeypatch.setattr(transactions, "snapshot", nullcontext)
    with judged(stage, people):
        export_split(study=stage.study, out=tmp_path / "export", by="test")
    assert wrong(tmp_path / "export")
