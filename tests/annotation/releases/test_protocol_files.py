"""A release of a study that uses protocol files: what it holds of them, and what a command decides with them."""

import hashlib
import json
from io import StringIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from annotation.protocols import library
from annotation.releases.archive_reader import ReleaseFiles
from annotation.releases.compare import compare
from annotation.releases.compare_wording import sentences
from annotation.releases.schema import VERSION
from tests.annotation.releases.released import change_json, lines
from tests.builders.declared import MIXED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported")]
STUDIES = ("protocol_files", "stages")
PATH, SECOND = "protocols/mixed@1.yaml", "protocols/image-caption-foil@1.yaml"


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def test_it_has_the_files_as_they_were_published(whole):
    folder, texts = whole("protocol_files"), {PATH: MIXED, SECOND: library.text_of("image-caption-foil")}
    found = manifest(folder)
    for stage, (path, text) in zip(found["stages"], texts.items(), strict=True):
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert (folder / path).read_bytes() == text.encode()
        assert stage["protocol_file"]["path"] == path
        assert stage["protocol_file"]["sha256"] == found["files"][path]["sha256"] == digest
    for name in ("README.md", "data_statement.md", "croissant.json"):
        words = (folder / name).read_text()
        assert "Which sentence is true of the picture?" in words and "at least 2 of 3 people pick the caption." in words


def test_the_card_has_the_scores_that_the_figures_have(whole):
    folder = whole("protocol_files")
    card = (folder / "README.md").read_text()
    stages = json.loads((folder / "figures.json").read_text())["stages"]
    scores = [
        (stage["study"]["stage_name"], one["answer"], one["right"])
        for stage in stages
        for one in stage["scores"]["answers"]
        if "right" in one
    ]
    assert scores
    for name, answer, right in scores:
        value, chance = (f"{share * 100:.1f} %" for share in (right["whole"]["value"], right["chance"]))
        row = next(line for line in card.splitlines() if line.startswith(f"| {name} | {answer}: right |"))
        assert f"| {value} |" in row and row.endswith(f"| {right['whole']['n_judgments']} | {chance} |")


def test_answers_options_and_rules_have_the_words_of_the_file(whole):
    rows = pq.read_table(whole("protocol_files") / "judgments.parquet").to_pylist()
    said = {row["answer"]: json.loads(row["answers"]) for row in rows if row["answers"]}
    assert said["caption-positive-0"] == {"fit": "positive"}
    label, mixed = next((label, one) for label, one in said.items() if label.startswith("positive/"))
    assert label.split("/")[:3] == [mixed["fit"], mixed["how"], mixed["holds"]] and len(mixed["better"]) > 10
    assert {row["answers"] for row in rows if row["answer"] in (None, "cannot_judge")} == {None}
    tasks = lines(whole("protocol_files") / "tasks.jsonl")
    first = tasks[0]
    assert first["names"]["caption-negative-0"] == "negative"
    assert [one["rule"] for one in first["rules"]] == ["at_least", "mean", "latest"]
    assert {one["state"] for task in tasks for one in task["rules"] or ()} == {"kept", "dropped"}


def test_in_a_release_without_protocol_files_what_they_would_say_is_null(whole):
    found = manifest(whole("stages"))
    assert found["schema_version"] == VERSION and {stage["protocol_file"] for stage in found["stages"]} == {None}
    assert not [name for name in found["files"] if name.startswith("protocols/")]
    answers = pq.read_table(whole("stages") / "judgments.parquet", columns=["answers"]).column(0)
    assert answers.null_count == len(answers) > 0
    task = lines(whole("stages") / "tasks.jsonl")[0]
    assert task["names"] is None and task["rules"] is None


def test_a_comparison_names_another_file_by_its_hash(released, whole):
    folder = released("protocol_files")
    change_json(folder / "manifest.json", lambda found: found["stages"][0]["protocol_file"].update(sha256="f" * 64))
    with ReleaseFiles(whole("protocol_files")) as before, ReleaseFiles(folder) as after:
        said = list(sentences(compare(before, after)))
    digest = hashlib.sha256(MIXED.encode()).hexdigest()
    assert f"Stage first: protocol_file {digest} → {'f' * 64}." in said


def test_one_command_decides_its_judgments_again(exports, whole):
    """As the stages did, but for what an adjudicator decided."""
    for folder in (exports("protocol_files"), whole("protocol_files")):
        out = StringIO()
        call_command("decide", export=folder, items=True, json=True, stdout=out)
        found = json.loads(out.getvalue())["stages"]
        tasks = lines(folder / "tasks.jsonl")
        live = [task for task in tasks if task["live"] and task["decided_by"] != "adjudicator"]
        assert {task["stage"] for task in live} == found.keys()
        for task in live:
            decided = found[task["stage"]]["decisions"].get(task["item"], {"state": "open", "reason": ""})
            assert (decided["state"], decided["reason"]) == (task["state"] or "open", task["reason"] or "")


@pytest.mark.parametrize(
    "options", [{}, {"protocol": "verify"}, {"protocol": "verify", "ratings": Path("x"), "export": Path("x")}]
)
def test_the_command_wants_ratings_or_an_export(options):
    with pytest.raises(CommandError, match="or --export"):
        call_command("decide", **options)


def test_an_export_without_protocol_files_is_refused(whole):
    with pytest.raises(CommandError, match="None of its stages uses a protocol file"):
        call_command("decide", export=whole("stages"))
