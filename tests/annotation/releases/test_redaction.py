"""What of an export is public: the least and each part; and that nothing of anybody gets out with the least."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.contrib.auth import get_user_model
from django.db.models.functions import Now

from annotation.exports.export import export_split
from annotation.models import Annotator, Attempt, Flag, Judgment, Outcome, Seat, Stage, Task
from annotation.releases import redaction
from annotation.releases.export_reader import ExportReader
from annotation.releases.plan import PUBLIC
from annotation.releases.verification.verifying import verify
from tests.annotation.releases.released import lines, release
from tests.builders import studies, text_annotators
from tests.builders.pipelines import pipeline
from tests.independent.reading import Files

pytestmark = pytest.mark.django_db(transaction=True)
TABLES = ("items", "dropped", "tasks", "texts", "adjudications", "annotators", "flags", "images")
CANARIES = [f"CANARY{name}" for name in ["NAME", "PID", "NOTE", "GOLD", "REASON", "FLAG", "USER", "TOKEN"]]


@pytest.fixture
def planted(tmp_path) -> Path:
    """An export of a study with canaries wherever somebody can write, or be named."""
    study = pipeline()
    stage = study.stages.get(position=1)
    somebody = get_user_model().objects.create_user("CANARYUSER", "CANARYUSER@example.org")
    for annotator in study.annotators.all():
        named = {"name": "CANARYNAME", "prolific_pid": f"CANARYPID{annotator.number}"}
        Annotator.objects.filter(pk=annotator.pk).update(**named, token=f"CANARYTOKEN{annotator.number}")
    Outcome.objects.filter(by="adjudicator").update(note="CANARYNOTE", adjudicator=somebody)
    lease = Judgment.objects.filter(reason="").earliest("pk").lease
    Judgment(
        lease=lease, revision=99, key="00000000-0000-0000-0000-000000000099", digest="0" * 64, answer="cannot_judge",
        instructions=stage.instructions.latest("version"), active_ms=7_777_777, elapsed_ms=8_888_888,
        reason="CANARYREASON", surplus=True,
    ).save()  # fmt: skip
    Flag.objects.create(lease=lease, reason="CANARYFLAG")
    Task.objects.filter(kind="check").update(gold=["CANARYGOLD"])
    asked = [{"question": "What counts?", "options": ["looks", "content"], "answer": 1, "why": "CANARYGOLD"}]
    Stage.objects.filter(pk=stage.pk).update(comprehension=asked)
    seat = Seat.objects.filter(stage=stage).earliest("pk")
    Attempt.objects.create(seat=seat, kind="comprehension", number=1, passed=False, finished_at=Now())
    export_split(study=study, out=tmp_path / "export", by="test")
    return tmp_path / "export"


def everything(folder: Path) -> str:
    """The bytes of all files, and what the packed ones hold."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    packed = [repr(pq.read_table(path).to_pydict()) for path in files if path.suffix == ".parquet"]
    return "".join([*(path.read_bytes().decode("latin-1") for path in files), *packed])


def test_no_canary_is_in_any_byte_of_the_least_and_all_are_where_they_are_public(planted, tmp_path):
    least = everything(release(planted, tmp_path / "least", ()))
    assert [canary for canary in CANARIES if canary in least] == []
    assert "7777777" not in least and "8888888" not in least
    whole = everything(release(planted, tmp_path / "whole"))
    assert {one for one in CANARIES if one in whole} == {"CANARYNOTE", "CANARYGOLD", "CANARYREASON", "CANARYFLAG"}
    settings_are_without_right_answers_pay_and_hour(planted)


def settings_are_without_right_answers_pay_and_hour(planted):
    manifest = ExportReader(planted).manifest
    least, whole = redaction.settings(manifest, ()), redaction.settings(manifest, PUBLIC)
    assert [one["answer"] for one in least["stages"][0]["comprehension"]] == [None]
    assert (least["study"]["pay_per_hour"], whole["study"]["pay_per_hour"]) == (None, 12)
    assert least["last_judgment_at"] == whole["last_judgment_at"][:10]
    assert "CANARYGOLD" not in json.dumps(least)
    assert {**whole, "files": manifest["files"], "evaluation_kind": manifest["evaluation_kind"]} == manifest


def test_the_words_of_a_rejection_are_a_comment(tmp_path):
    study = text_annotators.visla_study(tmp_path / "in", rows=6)
    rejected = {"answer": "reject", "why": "CANARYWHY", "same": "broken"}
    text_annotators.says(studies.annotator(study), study.stages.get(position=1), lambda lease, texts: rejected)
    text_annotators.work(study, people=3)
    export_split(study=study, out=tmp_path / "export", by="test")
    folder = release(tmp_path / "export", tmp_path / "least", (), {"test": 100})
    assert "CANARYWHY" not in everything(folder) and verify(folder).problems == []
    task = next(row for row in rows(folder, "tasks") if row["outcome"] == "reject")
    assert task["content"]["reason"] is None and task["content"]["guidelines"]["same"] is False
    assert "CANARYWHY" in everything(release(tmp_path / "export", tmp_path / "more", ("comments",), {"test": 100}))


def rows(folder: Path, name: str) -> list[dict]:
    return lines(folder / f"{name}.jsonl")


PLACES = {  # of each part, where it stands: table → what of a row has values where it is public and none elsewhere
    "times": {"texts": "created_at", "judgments": "created_at active_ms elapsed_ms"},
    "annotators": {"annotators": "left"},
    "comments": {"adjudications": "note", "flags": "reason", "judgments": "reason"},
    "gold": {"tasks": "gold"},
}


@pytest.mark.parametrize("part", PUBLIC)
@pytest.mark.parametrize("study", ["stages", "written"])
def test_each_part_adds_its_own_and_nothing_else(public_releases, part, study):
    folder = public_releases(study, (part,))
    tables = {name: rows(folder, name) for name in TABLES}
    tables["judgments"] = pq.read_table(folder / "judgments.parquet").to_pylist()
    for name, places in PLACES.items():
        for table, columns in places.items():
            for column in columns.split():
                values = [row[column] for row in tables[table]]
                assert not values or any(value is not None for value in values) == (name == part), (table, column)
    seats = [seat for who in tables["annotators"] for seat in who["stages"]]
    assert all((seat["skipped"] is not None) == (part == "annotators") for seat in seats)


def test_the_least_has_exclusions_and_no_figures_of_annotators_or_times(public_releases):
    folder = public_releases("stages", ())
    (out,) = [who for who in rows(folder, "annotators") if who["excluded"]]
    assert (out["annotator"], out["exclusion_reason"]) == ("A-04", "Answered at random")
    figures = json.loads((folder / "figures.json").read_text())
    assert set(figures) == {"funnel", "stages", "baselines"}
    for stage in figures["stages"]:
        assert not {"pace", "cost", "series", "annotators"} & set(stage)
        assert {"progress", "outcomes", "agreement", "by_type"} <= set(stage)
        assert stage["study"]["pay_per_hour"] is None
    said = json.dumps(figures)
    assert '"A-0' not in said and "kappa_pairs" not in said and '"signs"' not in said


def test_without_times_a_column_has_the_order_in_which_a_task_was_judged(exports, tmp_path, monkeypatch):
    """Also where a task's rows are in two batches."""
    monkeypatch.setattr(redaction, "BATCH", 7)
    timed = Files(exports("checks")).judgments.sort_values(["us", "slot"], kind="stable")
    folder = release(exports("checks"), tmp_path / "out", (), forms=())
    table = pq.read_table(folder / "judgments.parquet").to_pandas()
    task = ["stage", "item", "question", "round", "kind"]
    wanted = timed.groupby(task, sort=False).cumcount() + 1
    assert table.given.tolist() == wanted.sort_index().tolist()
    assert table.given.max() >= 3 and table.created_at.isna().all()


def test_an_image_is_listed_once_with_all_that_was_said_of_it(exports, tmp_path):
    export = ExportReader(exports("stages"))
    listed = list(redaction.images(export))
    embedded = set(_paths(export))
    assert {name for image in listed for name in image["file_names"]} == embedded
    assert [image["sha256"] for image in listed] == sorted({path.partition(".")[0] for path in embedded})
    shared = max(listed, key=lambda image: len(image["source_name"]))
    assert len(shared["source_name"].split("; ")) > 1


def _paths(export: ExportReader) -> list[str]:
    with export.open("data.parquet") as file:
        found = pq.read_table(file).to_pylist()
    return [cell["path"] for row in found for cell in row.values() if isinstance(cell, dict)]
