"""Exports: what is in them, that they reconcile, the same bytes for the same state, that anybody can recompute."""

import hashlib
import json
import shutil
import threading
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command

from annotation import tasks
from annotation.exports import export as exports_export
from annotation.exports import item_table
from annotation.exports import job as export_job
from annotation.exports.export import export_split
from annotation.figures.funnel import funnel
from annotation.figures.stage import study_figures
from annotation.models import Annotator, Judgment, Lease, Slot, Study
from annotation.releases.verification.differences import differences
from benchmarks.models import Event, Image, Job
from tests.annotation.releases import released
from tests.annotation.releases.released import contents, lines
from tests.builders import crowds, studies, text_annotators
from tests.builders.pipelines import with_originals
from tests.independent.recomputed import figures, recompute
from tests.lazy import LazyModule

datasets = LazyModule("datasets")
pytestmark = pytest.mark.django_db(transaction=True)
FIELDS = ["image", "caption", "negative_caption", "negative_image", "type", "subtype", "id"]


@pytest.fixture
def study() -> Study:
    return released.crowd_study()


@pytest.fixture
def small() -> Study:
    """Two items, both kept."""
    made = with_originals(studies.study(items=2, candidates=2))
    person = studies.annotator(made)
    for _ in range(2):
        studies.judgment(person, made.stages.get(), "candidate-0")
    return made


def export(study: Study, folder: Path) -> dict:
    return export_split(study=study, out=folder, by="test")


def test_kept_dropped_and_open_are_all_the_items(exports):
    out = exports("crowd")
    counts = json.loads((out / "manifest.json").read_text())["counts"]
    assert counts["kept"] == len(lines(out / "items.jsonl")) == pq.read_metadata(out / "data.parquet").num_rows
    assert counts["dropped"] == len(lines(out / "dropped.jsonl")) == sum(row["items"] for row in counts["reasons"])
    assert counts["kept"] + counts["dropped"] + counts["open"] == counts["imported"] == 30
    assert all(counts[name] for name in ("kept", "dropped", "open"))


@pytest.mark.parametrize("by_folder", [True, False])
def test_the_split_loads_offline_with_images(exports, offline, by_folder):
    out = exports("crowd")
    if by_folder:
        data = datasets.load_dataset(str(out))["test"]
    else:
        data = datasets.load_dataset("parquet", data_files=str(out / "data.parquet"))["train"]
    assert data.column_names == [*FIELDS, *(f"candidate_image{number}" for number in ("", "_2", "_3")), "votes"]
    assert data[0]["image"].size == data[0]["negative_image"].size == (64, 48)


def test_a_later_export_in_the_same_folder_is_what_loads(tmp_path, offline):
    study = with_originals(studies.study(items=4, candidates=2))
    stage, ann = study.stages.get(), studies.annotator(study)
    loaded = []
    for _ in range(2):
        studies.judgment(ann, stage, "candidate-0")
        export(study, tmp_path / "out")
        loaded.append(len(datasets.load_dataset(str(tmp_path / "out"))["test"]))
    assert loaded == [1, 2]


def test_the_negative_image_is_the_original_bytes_of_what_was_chosen(exports):
    out = exports("crowd")
    rows = {row["id"]: row for row in pq.read_table(out / "data.parquet").to_pylist()}
    for item in lines(out / "items.jsonl"):
        (chosen,) = [image for image in item["images"] if image["chosen"]]
        assert chosen["key"] == item["negative_image"] == item["decisions"][0]["outcome"]
        stored = rows[item["id"]]["negative_image"]["bytes"]
        assert hashlib.sha256(stored).hexdigest() == chosen["sha256"]


def test_the_chosen_one_is_the_majoritys(tmp_path):
    study = with_originals(studies.study(items=1, overlap=3))
    for answer in ("candidate-2", "candidate-1", "candidate-2"):
        studies.judgment(studies.annotator(study), study.stages.get(), answer)
    export(study, tmp_path / "out")
    (item,) = lines(tmp_path / "out/items.jsonl")
    (decision,) = item["decisions"]
    assert (decision["outcome"], decision["votes"]) == ("candidate-2", {"candidate-1": 1, "candidate-2": 2})


def test_an_item_without_a_positive_image_has_none(tmp_path):
    study = studies.study(items=1)
    study.benchmark.items.get().item_images.filter(role="positive").delete()
    studies.judgment(studies.annotator(with_originals(study)), study.stages.get(), "candidate-0")
    export(study, tmp_path / "out")
    (row,) = pq.read_table(tmp_path / "out/data.parquet").to_pylist()
    assert row["image"] is None and row["negative_image"]["bytes"]


def test_every_judgment_is_there_and_nobody_can_be_named(study, tmp_path):
    assert export(study, tmp_path / "out") == json.loads((tmp_path / "out/manifest.json").read_text())
    table = pq.read_table(tmp_path / "out/judgments.parquet").to_pylist()
    assert len(table) == Judgment.objects.count()
    assert sum(row["counted"] for row in table) == Slot.objects.filter(judgment__isnull=False).count()
    assert {row["surplus"] for row in table} == {row["withdrawn"] for row in table} == {True, False}
    shown = {tuple(lease.shown) for lease in Lease.objects.all()}
    assert all(tuple(row["shown"]) in shown for row in table)
    assert all(row["shown"][row["place"] - 1] == row["answer"] for row in table if row["place"])
    everything = b"".join(contents(tmp_path / "out").values())
    secrets = ["Canary Name", "CANARYPID", *Annotator.objects.values_list("token", flat=True)]
    assert not [secret for secret in secrets if secret.encode() in everything]


@pytest.mark.parametrize(("overlap", "tie_rule"), [(1, "drop"), (2, "drop"), (2, "first"), (2, "none")])
def test_every_figure_can_be_recomputed_from_the_export(tmp_path, overlap, tie_rule):
    study = with_originals(crowds.stage(items=20, people=3, overlap=overlap, seed=overlap, tie_rule=tie_rule).study)
    export(study, tmp_path / "out")
    ours = recompute(tmp_path / "out")
    assert differences(ours, figures(tmp_path / "out")) == []
    page = {name: part for name, part in study_figures(study.stages.get()).items() if name != "now"}
    assert differences(ours["stages"], json.loads(json.dumps([page]))) == []
    assert differences(ours["funnel"], json.loads(json.dumps(funnel(study)))) == []


def test_an_untouched_study_exports_too(tmp_path):
    counts = export(studies.study(items=2), tmp_path / "out")["counts"]
    assert (counts["open"], counts["kept"]) == (2, 0)
    assert differences(recompute(tmp_path / "out"), figures(tmp_path / "out")) == []


def test_a_foreign_folder_is_refused_and_an_earlier_export_replaced_but_not_what_lies_beside(tmp_path):
    study = studies.study()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("mine")
    with pytest.raises(exports_export.CannotExport, match="not empty"):
        export(study, tmp_path / "out")
    assert [path.name for path in tmp_path.joinpath("out").iterdir()] == ["thesis.tex"]
    export(study, tmp_path / "second")
    export(study, tmp_path / "second")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "second"}
    (tmp_path / "second/source").mkdir()
    for name in ("source/notes.md", "notes.md"):
        (tmp_path / "second" / name).write_text("mine")
        with pytest.raises(exports_export.CannotExport, match=name):
            export(study, tmp_path / "second")
        assert (tmp_path / "second" / name).read_text() == "mine"


def test_images_of_several_items_are_read_at_once(small, tmp_path, monkeypatch):
    """A bucket takes its time for each."""
    read, other = item_table.original_bytes, threading.Barrier(2, timeout=20)
    monkeypatch.setattr(item_table, "original_bytes", lambda sha256: (other.wait(), read(sha256))[1])
    export(small, tmp_path / "out")
    assert pq.read_metadata(tmp_path / "out/data.parquet").num_rows == 2


def test_a_failed_export_leaves_nothing(small, tmp_path):
    default_storage.delete(Image.objects.earliest("pk").original_path)
    with pytest.raises(FileNotFoundError):
        export(small, tmp_path / "place/out")
    assert list((tmp_path / "place").iterdir()) == []


def test_the_command_says_what_it_wrote(small, tmp_path, capsys):
    call_command("export_split", small.name, "--out", str(tmp_path / "out"))
    said = capsys.readouterr().out
    assert "kept" in said and "manifest.json" in {path.name for path in (tmp_path / "out").iterdir()}
    assert Event.objects.filter(verb="exported").count() == 1


def test_as_a_job_it_becomes_a_zip_also_when_it_runs_twice(tmp_path, eager_tasks):
    """The folder has a folder of the source's files, and the manifest is right about every file."""
    study = studies.study(benchmark=text_annotators.visla(tmp_path / "in", rows=2), protocol="visla-paraphrase")
    text_annotators.work(study)
    first, job = (export_job.queue_export(study=study, by="user:1") for _ in range(2))
    for one in (first, first, job):
        tasks.run_export.delay(one.pk)
    assert len({one.report["bytes"] for one in Job.objects.filter(kind="export")}) == 1
    job.refresh_from_db()
    assert (job.state, job.done, job.report["counts"]["imported"]) == ("done", job.report["counts"]["kept"], 2)
    manifest = export(study, tmp_path / "out")
    files = contents(tmp_path / "out")
    with default_storage.open(job.report["file"]) as file, zipfile.ZipFile(file) as archive:
        assert {name.partition("/")[2]: archive.read(name) for name in archive.namelist()} == files
    del files["manifest.json"]
    listed = {name: (one["sha256"], one["bytes"]) for name, one in manifest["files"].items()}
    assert listed == {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}
    assert "source/Generic_VISLA.tsv" in listed and manifest["files"]["tasks.jsonl"]["rows"] == 2


# A study of several stages


def test_the_funnel_has_every_stage_and_every_reason(exports):
    """tests/independent recomputes it."""
    found = figures(exports("stages"))["funnel"]
    steps = found["stages"]
    assert [step["name"] for step in steps] == ["choose", "fits"]
    assert min(count for step in steps for count in (step["kept"], step["dropped"], step["open"])) > 0
    assert {row["reason"] for row in found["reasons"]} >= {"no_image_fits", "ambiguous_both"}
    assert {row["reason"] for row in found["not_asked_in"]} == {"check_item", "not_suitable"}


def test_the_kept_items_have_the_image_that_was_chosen_before(exports):
    out = exports("stages")
    counts = json.loads((out / "manifest.json").read_text())["counts"]
    kept = lines(out / "items.jsonl")
    assert len(kept) == counts["kept"] == pq.read_metadata(out / "data.parquet").num_rows > 0
    for item in kept:
        choose, fits = (row for row in item["decisions"] if row["stage"] in ("choose", "fits"))
        assert (item["negative_image"], fits["outcome"]) == (choose["outcome"], "positive-0")
    assert {row["stage"] for row in lines(out / "dropped.jsonl")} == {"choose", "fits"}


def test_an_adjudication_says_why_and_not_who(exports):
    out = exports("stages")
    (row,) = lines(out / "adjudications.jsonl")
    assert (row["by"], row["note"], row["outcome"]) == ("adjudicator", "It is all there.", "candidate-1")


def test_excluded_annotators_stay_with_the_reason(exports):
    out = exports("stages")
    who = lines(out / "annotators.jsonl")[3]
    assert (who["excluded"], who["exclusion_reason"]) == (True, "Answered at random")
    table = pq.read_table(out / "judgments.parquet").to_pylist()
    theirs = [row for row in table if row["excluded"] and row["stage"] == "fits"]
    assert theirs and not any(row["counted"] for row in theirs)
    assert {row["stage"] for row in table} == {"choose", "fits", "i2t", "t2i"}


def test_several_stages_have_a_card(exports):
    out = exports("stages")
    manifest = json.loads((out / "manifest.json").read_text())
    assert [stage["name"] for stage in manifest["stages"]] == ["choose", "fits", "i2t", "t2i"]
    card = (out / "README.md").read_text()
    assert "2. **fits** (bivlc-disambiguate): items kept and cannot_judge by choose" in card


def judgment(rows: list[dict]) -> None:
    next(row for row in rows if row["counted"])["answer"] = "cannot_judge"


def written(rows: list[dict]) -> dict:
    """A task that took a sentence as it is."""
    return next(row for row in rows if (row["outcome"] or "").startswith("caption-") and row["live"])


CHANGES = [  # study, table, what somebody does to it, the part of the figures that differs
    ("crowd", "judgments.parquet", judgment, "funnel"),
    ("stages", "tasks.jsonl", lambda rows: rows[0].update(overlap=rows[0]["overlap"] + 1), "stages"),
    ("stages", "tasks.jsonl", lambda rows: rows[0].update(live=not rows[0]["live"]), "funnel"),
    ("stages", "tasks.jsonl", lambda rows: rows[0].update(type="swapped"), "stages"),
    ("stages", "adjudications.jsonl", lambda rows: rows[0].update(state="dropped", reason="no_image_fits"), "funnel"),
    ("written", "tasks.jsonl", lambda rows: written(rows)["content"]["texts"].update(second_positive="?"), "funnel"),
    ("written", "tasks.jsonl", lambda rows: written(rows).update(decided_by="adjudicator"), "funnel"),
    ("written", "tasks.jsonl", lambda rows: written(rows).update(outcome="edited"), "funnel"),
    ("written", "tasks.jsonl", lambda rows: next(row for row in rows if row["carried"])["carried"].clear(), "funnel"),
]


@pytest.mark.parametrize(("name", "table", "change", "part"), CHANGES)
def test_a_change_is_noticed_by_the_recomputation(exports, tmp_path, name, table, change, part):
    folder = shutil.copytree(exports(name), tmp_path / "out")
    (released.change_table if table.endswith("parquet") else released.change_lines)(folder / table, change)
    try:
        ours, theirs = recompute(folder, {part}), figures(folder)
        assert differences(ours, {name: theirs[name] for name in ours})
    except KeyError as missing:
        assert "swapped" in str(missing)  # a type that the manifest does not know


def test_there_is_a_human_baseline(exports):
    """tests/independent recomputes it."""
    (found,) = figures(exports("stages"))["baselines"]
    assert found["measures"]["i2t"]["n"] > 0 and found["annotators"]
