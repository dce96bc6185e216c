"""One value changed in one table: another table contradicts it, and verification says so, whatever the hashes are."""

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.releases.plan import PUBLIC
from annotation.releases.verification import files, verifying
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report
from annotation.releases.verification.verifying import verify
from tests.annotation.releases.released import change_json, change_lines, change_table, lines, mend, release

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported")]
STUDIES = ("written", "stages")
ITEMS, DROPPED, TASKS, TEXTS = "items.jsonl", "dropped.jsonl", "tasks.jsonl", "texts.jsonl"
JUDGMENTS, IMAGES, FLAGS, ADJUDICATIONS = "judgments.parquet", "images.jsonl", "flags.jsonl", "adjudications.jsonl"


def row(**values) -> Callable:
    return lambda rows: rows[0].update(values)


def decision(**values) -> Callable:
    return lambda rows: next(row for row in rows if row["decisions"])["decisions"][0].update(values)


def caption(key: str, value: str) -> Callable:
    def change(rows):
        next(one for row in rows for one in row["captions"] if "imported" in one)[key] = value

    return change


def image(**values) -> Callable:
    return lambda rows: rows[0]["images"][0].update(values)


def kept_words(rows: list[dict]) -> None:
    """Of an item that is in no parquet file."""
    next(one for row in rows for one in row["captions"] if "imported" in one)["text"] = "Other words."


def swapped(rows: list[dict]) -> None:
    rows[0], rows[1] = rows[1], rows[0]


def of_one(columns: str, which: Callable[[dict], bool] = lambda row: True) -> Callable[[list[dict]], list[dict]]:
    """Finds the first two rows or more that have the same values of these columns."""

    def found(rows: list[dict]) -> list[dict]:
        same = defaultdict(list)
        for one in filter(which, rows):
            same[tuple(one[name] for name in columns.split())].append(one)
        return next(some for some in same.values() if len(some) > 1)

    return found


a_task = of_one("stage item question round kind", lambda row: row["counted"])
a_screen = of_one("stage item question round kind annotator screen")


def same_of_two(name: str) -> Callable:
    def change(rows):
        first, second, *_ = a_task(rows)
        second[name] = first[name]

    return change


def replaced(**values) -> Callable:
    """Of an answer that its annotator has changed."""
    return lambda rows: min(a_screen(rows), key=lambda row: row["revision"]).update(values)


def late(rows: list[dict]) -> None:
    first, second = sorted(a_task(rows), key=lambda row: row["given"])[:2]
    first["created_at"] = second["created_at"] + timedelta(seconds=1)


def shown_edit(rows: list[dict]) -> None:
    rows[0]["shown"] += ["edit-A-99-1-1"]


EDITS = [  # study, table, what somebody does to it, the file that is named, a word of the sentence
    *(
        ("written", name, decision(**{key: value}), name, f"{key} is")
        for name in (ITEMS, DROPPED)
        for key, value in {
            "round": 9, "state": "open", "outcome": "other", "decided_by": "majority", "votes": {"other": 1},
            "reason": "other", "content": {"texts": {}}, "posterior": 0.5,
        }.items()
    ),
    ("stages", ITEMS, decision(votes={"none": 2}), ITEMS, "votes is"),
    ("stages", DROPPED, decision(stage_position=4), DROPPED, "stage_position"),
    ("written", ITEMS, row(negative_image="positive-0"), ITEMS, "negative_image"),
    ("written", ITEMS, caption("changed_by", "triplet"), ITEMS, "unlike the decisions"),
    ("written", ITEMS, caption("made_of", "caption-positive-0"), ITEMS, "unlike the decisions"),
    ("written", ITEMS, caption("imported", "Other words."), TASKS, "but the item has other texts"),
    ("written", DROPPED, kept_words, DROPPED, "by the decisions"),
    ("written", DROPPED, row(id="generic-99"), TASKS, "elsewhere position"),
    ("written", DROPPED, row(type="other"), TASKS, "elsewhere position"),
    ("written", ITEMS, row(position=99), ITEMS, "out of order or listed twice"),
    *(("written", ITEMS, image(**{key: "other"}), IMAGES, key) for key in ("source_name", "licence", "attribution")),
    ("stages", ITEMS, image(width=1), ITEMS, "elsewhere"),
    ("stages", DROPPED, image(format="PNG"), DROPPED, "elsewhere"),
    ("stages", DROPPED, image(sha256="abc"), DROPPED, "hash or format"),
    ("stages", DROPPED, image(name="Somebody"), DROPPED, "name"),
    ("stages", IMAGES, row(licence="CC0"), IMAGES, "licence"),
    *(
        ("written", JUDGMENTS, row(**{key: value}), JUDGMENTS, f"{key} is")
        for key, value in {
            "type": "other", "subtype": "other", "live": False, "excluded": True, "slot": 9, "place": 9,
            "withdrawn": True, "instructions_version": 9, "given": 9,
        }.items()
    ),
    ("written", JUDGMENTS, row(revision=9), JUDGMENTS, "not numbered from 1"),
    ("written", JUDGMENTS, row(screen=9), JUDGMENTS, "not numbered from 1"),
    ("written", JUDGMENTS, row(shown=["x"]), JUDGMENTS, "but the task has other options"),
    ("stages", JUDGMENTS, row(flags=["Nobody said so."]), JUDGMENTS, "which is not in flags.jsonl"),
    ("stages", JUDGMENTS, row(annotator="A-99"), JUDGMENTS, "who is not in annotators.jsonl"),
    ("stages", JUDGMENTS, row(answers="{}"), JUDGMENTS, "uses no protocol file"),
    ("stages", JUDGMENTS, row(slot=None), JUDGMENTS, "without slot"),
    ("stages", JUDGMENTS, row(shown=["a\x1fb"]), JUDGMENTS, "a text that cannot be there"),
    ("stages", JUDGMENTS, row(item="nobody"), JUDGMENTS, "is not for any task"),
    *(("stages", JUDGMENTS, same_of_two(key), JUDGMENTS, f"same {key} count") for key in ("slot", "annotator")),
    ("stages", JUDGMENTS, late, JUDGMENTS, "different orders"),
    ("stages", JUDGMENTS, replaced(counted=True), JUDGMENTS, "that was replaced"),
    ("stages", JUDGMENTS, replaced(slot=2), JUDGMENTS, "slot or shown differs"),
    ("written", JUDGMENTS, shown_edit, JUDGMENTS, "which is not a judgment of the task"),
    ("written", TASKS, row(gold=["reject"]), TASKS, "gold"),
    ("written", TASKS, row(proposals=["edit-A-09-1-1"]), TASKS, "proposals"),
    ("written", TASKS, row(shows=["caption-negative-0", "positive-9"]), TASKS, "positive-9"),
    ("written", TASKS, row(texts={}), TASKS, "other texts"),
    ("written", TASKS, swapped, JUDGMENTS, "order of tasks.jsonl"),
    *(
        ("written", TEXTS, row(**{key: value}), TEXTS, key)
        for key, value in {
            "text": "Other words.", "before": "Other words.", "made_of": "other", "by": "adjudicator", "edit": "edit-1",
            "created_at": "2026-03-02T08:00:00+00:00", "counted": None, "position": 99, "live": False,
        }.items()
    ),
    ("written", TEXTS, row(annotator="A-99"), TEXTS, "is not in any judgment"),
    ("written", TEXTS, row(round=9), TEXTS, "not for any task"),
    ("written", TEXTS, lambda rows: rows.pop(), TEXTS, "is missing"),
    *(("stages", FLAGS, row(**{key: "x"}), FLAGS, "not in") for key in ("stage", "item", "question", "annotator")),
    ("stages", ADJUDICATIONS, row(outcome="none"), ADJUDICATIONS, "but not in tasks.jsonl"),
    ("stages", ADJUDICATIONS, row(by="Jane"), ADJUDICATIONS, "never public"),
    ("stages", ADJUDICATIONS, lambda rows: rows.clear(), ADJUDICATIONS, "is missing"),
]  # fmt: skip


@cache
def parsed(path: Path) -> list[dict]:
    """The rows of a table, parsed once for all edits."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return lines(path)


DECODED: dict = {}  # each image once for all edits


@cache
def hashes(folder: Path) -> dict[str, str]:
    return {name: files.digest(folder / name) for name in Place(folder).names}


class Edited(Place):
    """A release of whose tables one has other rows than its file, so that neither hashes nor figures tell."""

    def edit(self, name: str, change: Callable[[list[dict]], object]) -> None:
        self.name, self.rows = name, copy.deepcopy(parsed(self.folder / name))
        change(self.rows)

    def lines(self, name: str) -> Iterator[dict]:
        return iter(self.rows if name == self.name else parsed(self.folder / name))

    def judgments(self, columns=None, rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        found = self.rows if self.name == JUDGMENTS else parsed(self.folder / JUDGMENTS)
        table = pa.Table.from_pylist(found, schema=pq.read_schema(self.folder / JUDGMENTS))
        return iter((table.select(columns) if columns else table).to_batches(rows))


def problems(folder: Path, name: str, change: Callable[[list[dict]], object]) -> list[str]:
    """What the checks of tables find after an edit. Only the first of them looks at images."""
    place, report = Edited(folder, hashes(folder), DECODED), Report()
    place.edit(name, change)
    for check in ("items", "tasks.jsonl"):
        with report.reading(check):
            verifying.CHECKS[check](place, report)
    return report.problems


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit[0]}-{edit[1]}-{edit[4]}".replace(" ", "_"))
def test_one_value_in_one_table_is_reported(public_releases, edit):
    study, name, change, file, words = edit
    found = problems(public_releases(study, tuple(PUBLIC)), name, change)
    assert [one for one in found if one.startswith(f"{file}: ") and words in one], found


@pytest.mark.parametrize("study", STUDIES)
def test_tables_as_they_were_have_no_problem(public_releases, study):
    """Whatever the edits before this changed, they changed in copies."""
    assert problems(public_releases(study, tuple(PUBLIC)), TASKS, lambda rows: None) == []


def test_the_stage_that_had_the_last_word_is_computed(released):
    folder = released("written")
    change_lines(folder / ITEMS, row(stage="paraphrase"))
    mend(folder)
    assert [one for one in verify(folder).problems if one.startswith(ITEMS) and ", unlike its outcomes" in one]


def test_a_reason_in_an_answer_is_found_where_comments_are_not_public(exports, tmp_path):
    folder = release(exports("written"), tmp_path / "out", ())
    change_table(folder / JUDGMENTS, lambda rows: rows[0].update(content='{"reason": "I know this place."}'))
    mend(folder)
    assert [one for one in verify(folder).problems if one.startswith(JUDGMENTS) and "not public" in one]


def test_settings_that_are_others_than_the_manifests_are_told(released):
    folder = released("written")
    change_json(folder / "manifest.json", lambda manifest: manifest["stages"][0].update(seed=99))
    assert "release.json: stages differs from manifest.json" in verify(folder).problems
