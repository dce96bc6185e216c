"""A release of a study that uses protocol files: what it holds of them, and what is found where it was changed."""

import hashlib
import json
from collections.abc import Callable
from functools import cache
from io import StringIO
from itertools import chain
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from annotation.protocols import library
from annotation.releases.archive_reader import ReleaseFiles
from annotation.releases.compare import compare
from annotation.releases.compare_wording import sentences
from annotation.releases.schema import VERSION
from annotation.releases.verification.verifying import verify
from tests.annotation.releases.released import change_json, change_lines, change_table, copied, mend
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
        assert "Which sentence is true of the picture?" in words and "at least 2 must answer positive" in words


def test_answers_options_and_rules_have_the_words_of_the_file(whole):
    rows = pq.read_table(whole("protocol_files") / "judgments.parquet").to_pylist()
    said = {row["answer"]: json.loads(row["answers"]) for row in rows if row["answers"]}
    assert said["caption-positive-0"] == {"fit": "positive"}
    label, mixed = next((label, one) for label, one in said.items() if label.startswith("positive/"))
    assert label.split("/")[:3] == [mixed["fit"], mixed["how"], mixed["holds"]] and len(mixed["better"]) > 10
    assert {row["answers"] for row in rows if row["answer"] in (None, "cannot_judge")} == {None}
    tasks = [json.loads(line) for line in (whole("protocol_files") / "tasks.jsonl").read_text().splitlines()]
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
    task = json.loads((whole("stages") / "tasks.jsonl").read_text().splitlines()[0])
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
        tasks = map(json.loads, (folder / "tasks.jsonl").read_text().splitlines())
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


def rule(folder: Path) -> None:
    path = folder / PATH
    path.write_text(path.read_text().replace("m: 2", "m: 3"))


def rule_with_its_hash(folder: Path) -> None:
    """The file and every hash of it: what it decides is then not what the tables have."""
    rule(folder)
    digest = hashlib.sha256((folder / PATH).read_bytes()).hexdigest()
    for name in ("manifest.json", "release.json"):
        change_json(folder / name, lambda found: found["stages"][0]["protocol_file"].update(sha256=digest))


def no_protocol(folder: Path) -> None:
    (folder / PATH).write_text("winnow: protocol/1\nname: mixed\n")


def missing(folder: Path) -> None:
    (folder / PATH).unlink()


def another(folder: Path) -> None:
    (folder / "protocols/other@1.yaml").write_text(MIXED)


def setting(folder: Path) -> None:
    for name in ("manifest.json", "release.json"):
        change_json(folder / name, lambda found: found["stages"][1]["drops"].update(both="unclear"))


def unnamed(folder: Path) -> None:
    """A published file of this server is not asked for."""
    for name in ("manifest.json", "release.json"):
        change_json(folder / name, lambda found: found["stages"][1].update(protocol_file=None))


def of_judgment(**values):
    def change(folder: Path) -> None:
        def answered(rows):
            next(row for row in rows if row["answer"] == "caption-positive-0" and row["counted"]).update(values)

        change_table(folder / "judgments.parquet", answered)

    return change


def of_task(**values):
    return lambda folder: change_lines(folder / "tasks.jsonl", lambda rows: rows[0].update(values))


def of_label(folder: Path) -> None:
    def change(rows):
        row = next(row for row in rows if row["answers"] and row["stage"] == "first")
        row["answer"] = f"sideways/{row['answer'].partition('/')[2]}"

    change_table(folder / "judgments.parquet", change)


def adjudication(folder: Path) -> None:
    """The decision, but not the answer: in both tables, and where the item is listed."""

    def change(rows):
        next(row for row in rows if row.get("decided_by", "adjudicator") == "adjudicator").update(state="dropped")

    for name in ("tasks.jsonl", "adjudications.jsonl"):
        change_lines(folder / name, change)


# What somebody does → the file that has to be named, and words of the sentence. All of a group is done to one release:
# nothing of it hides what another does, or is found in its place.
CHANGES = [
    {
        "rule": (rule, PATH, "its SHA-256"),
        "unnamed": (unnamed, "figures.json", "image-caption-foil@1' is missing"),
        "another": (another, "protocols/other@1.yaml", "no format or split"),
        "label": (of_label, "judgments.parquet", "does not allow"),
        "both": (of_judgment(answer="both", place=None, answers='{"fit": "both"}'), "items.jsonl", "votes is"),
    },
    {
        "rule and hash": (rule_with_its_hash, "tasks.jsonl", "by the protocol file"),
        "setting": (setting, SECOND, "has drops"),
        "words": (of_judgment(answers='{"fit": "both"}'), "judgments.parquet", "answers is"),
        "adjudication": (adjudication, "tasks.jsonl", "state: 'kept' here"),
    },
    {
        "no protocol": (no_protocol, PATH, "it is no protocol file: line "),
        "answer": (of_judgment(answer="both", place=None), "judgments.parquet", "by the protocol file"),
    },
    {"missing": (missing, PATH, "it is missing; the stage 'first' asks it")},
    {
        "names": (of_task(names={}), "tasks.jsonl", "names is"),
        "rules": (of_task(rules=[]), "tasks.jsonl", "rules is"),
        "outcome": (of_task(state="dropped", reason="foil_fits"), "tasks.jsonl", "the outcome of a task differs"),
    },
]


@pytest.fixture(scope="module")
def found(whole, tmp_path_factory) -> Callable[[int], list[str]]:
    """The problems of the release of a group."""

    @cache
    def of(group: int) -> list[str]:
        folder = copied(whole("protocol_files"), tmp_path_factory.mktemp("changed") / "release")
        for change, *_ in CHANGES[group].values():
            change(folder)
        mend(folder)
        return verify(folder).problems

    return of


@pytest.mark.parametrize("name", [*chain(*CHANGES)])
def test_what_was_changed_is_found_though_the_hashes_were_mended(found, name):
    (group,) = [number for number, changes in enumerate(CHANGES) if name in changes]
    _, file, words = CHANGES[group][name]
    problems = found(group)
    assert [one for one in problems if one.startswith(file) and words in one], problems
