"""A release is verified from its files alone; and whatever is public, all its figures can be computed again."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command

from annotation.exports.files import split_schema
from annotation.releases.plan import FORMS, PUBLIC
from annotation.releases.verification.differences import differences
from annotation.releases.verification.place import Place
from annotation.releases.verification.verifying import verify
from tests.annotation.releases.released import STUDIES, change_json, change_lines, copied, mend, release

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported")]
ROOT = Path(__file__).resolve().parents[3]
ALONE = """
import runpy, sys
import annotation.releases.verification.verifying
print(*sys.modules)
for folder in sys.argv[1:]:
    sys.argv[1:] = [folder]
    try:
        runpy.run_module("annotation.releases.verification", run_name="__main__")
    except SystemExit as end:
        assert end.code == 0
"""
HAS = {"times": "written", "annotators": "checks", "comments": "written", "gold": "checks"}  # a study with some of it
CHOICES = [
    pytest.param(
        study,
        public,
        marks=[pytest.mark.nightly] if study == "crowd" or (len(public) == 1 and study != HAS[public[0]]) else [],
    )
    for public in ((), tuple(PUBLIC), *((one,) for one in PUBLIC))
    for study in STUDIES
]


@pytest.mark.parametrize(
    ("study", "public"), CHOICES, ids=lambda one: one if isinstance(one, str) else "+".join(one) or "least"
)
def test_whatever_is_public_can_be_verified(public_releases, study, public):
    report = verify(public_releases(study, public))
    assert report.problems == []
    assert report.checked["figures computed again"] > 300


def test_every_file_is_checked_in_every_way(released):
    folder = released("stages")
    report, files = verify(folder), [path for path in folder.rglob("*") if path.is_file()]
    assert report.checked["SHA-256 of files"] == report.checked["sizes of files"] == len(files) - 1
    rows = {words: n for words, n in report.checked.items() if words.startswith("rows of ")}
    assert len(rows) == 6 and len(set(rows.values())) == 1
    assert [words for words, n in report.checked.items() if n <= 0] == ["corrections with their items and tasks"]


def test_a_number_of_judgments_that_the_file_does_not_have_is_named(released, monkeypatch):
    monkeypatch.setattr(Place, "judgment_count", 1_000_000)
    assert any("judgments but claims 1,000,000" in str(problem) for problem in verify(released("stages")).problems)


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_says_what_it_checked_and_fails_on_problems(released, capsys, as_json):
    folder = released("written")
    call_command("verify_release", str(folder), json=as_json)
    assert ("true" if as_json else "No problems found.") in capsys.readouterr().out
    (folder / "thesis.tex").write_text("mine")
    with pytest.raises(SystemExit) as stopped:
        call_command("verify_release", str(folder), json=as_json)
    said = capsys.readouterr().out
    assert stopped.value.code == 1 and "thesis.tex: it is not in the manifest" in said
    if as_json:
        found = json.loads(said)
        assert (found["good"], len(found["problems"])) == (False, 2)


def test_it_runs_by_itself_without_database_settings_django_and_second_implementation(whole, tmp_path):
    own = {"PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "nowhere", "PYTHONHASHSEED": "7", "TZ": "Asia/Kathmandu"}
    command = [sys.executable, "-c", ALONE, whole("stages"), whole("protocol_files")]
    done = subprocess.run(command, env=os.environ | own, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    loaded, *said = done.stdout.splitlines()
    assert said.count("No problems found.") == 2
    assert not {"django", "celery", "pandas", "scipy", "annotation.models", "tests"} & set(loaded.split())


@pytest.mark.parametrize(
    "ours, theirs, found",
    [
        ({"a": 0.5}, {"a": 0.5 + 2e-9}, 1),
        ({"a": 0.5}, {"a": 0.5 + 5e-10}, 0),
        ({"a": 1}, {"a": True}, 1),
        ({"a": None}, {"a": 0}, 1),
        ({}, {"a": 0.5}, 1),
        ({}, {"reason": "nothing is judged"}, 0),
        ({}, {"reason": 0.5}, 1),
        ([1, 2], [1], 1),
    ],
)
def test_what_differs(ours, theirs, found):
    assert len(differences(ours, theirs)) == found


@pytest.mark.parametrize(
    ("study", "column", "what"),
    [
        ("protocol_files", "why_text", "text why"),
        ("written", "candidate_caption_2", "candidate caption"),
        ("stages", "candidate_image_2", "image candidate-"),
    ],
)
def test_a_text_or_image_of_an_item_that_no_column_has_is_named(exports, tmp_path, study, column, what):
    """Whoever makes the release: its forms agree with each other, and with the columns in the manifest."""
    export = copied(exports(study), tmp_path / "export")
    data = pq.read_table(export / "data.parquet").drop_columns([column])
    schema = split_schema([(field.name, field.type) for field in data.schema])
    pq.write_table(data.cast(schema), export / "data.parquet")
    change_json(export / "manifest.json", lambda manifest: manifest["columns"].pop(column))
    problems = verify(release(export, tmp_path / "release", forms=FORMS)).problems
    assert problems and all(one.startswith("data/") for one in problems), problems
    assert all("in items.jsonl, but in no column" in one for one in problems), problems
    assert any(f"has the {what}" in one for one in problems), problems


def test_texts_that_an_item_lacks_are_named(released):
    folder = released("protocol_files")
    change_lines(folder / "items.jsonl", lambda rows: [row.pop("texts", None) for row in rows])
    mend(folder)
    found = [one for one in verify(folder).problems if one.startswith("items.jsonl: item")]
    assert found and all("in texts.jsonl" in one for one in found)
