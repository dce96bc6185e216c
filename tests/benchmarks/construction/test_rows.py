"""Rows from each kind of file, and what their problems say."""

import json

import pytest

from benchmarks.construction import rows
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import Row
from benchmarks.records import ImageRecord

ROWS = [{"caption": "a cat", "image": "1.jpg"}, {"caption": "a “dog”,\nlying", "image": "2.jpg"}]


def given(folder, name: str, text: str):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "numbers"),
    [
        ("a.csv", 'caption,image\na cat,1.jpg\n"a “dog”,\nlying",2.jpg\n', [2, 3]),
        ("a.jsonl", "".join(json.dumps(row) + "\n\n" for row in ROWS), [1, 3]),
        ("a.json", json.dumps(ROWS), [1, 2]),
        ("a.json", json.dumps({"0": ROWS[0], "1": ROWS[1]}), [1, 2]),
    ],
)
def test_every_kind_of_file(tmp_path, name, text, numbers):
    log = ProblemLog()
    found = rows.read_rows(given(tmp_path, name, text), log)
    assert log.problems == []
    assert [row.values for row in found] == ROWS
    assert [row.number for row in found] == numbers


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.json", "3", "JSON_INVALID · a.json · 1"),
        ("a.json", "[1]", "JSON_INVALID · a.json · 1"),
        ("a.json", "[]", "NO_ROWS · a.json"),
        ("a.json", "[{]", "JSON_INVALID · a.json · 1 · character 3"),
        ("a.jsonl", "{}\n[]\n", "JSON_INVALID · a.jsonl · 2"),
        ("a.jsonl", "\n", "NO_ROWS · a.jsonl"),
        ("a.jsonl", '{"a": "\\u0000"}\n', "NUL_CHARACTER · a.jsonl · 1 · a"),
        ("a.csv", "a,b\n1\n", "RAGGED_ROW · a.csv · 2"),
        ("a.csv", "", "EMPTY_FILE · a.csv"),
    ],
)
def test_what_cannot_be_read_is_said_once(tmp_path, name, text, problem):
    log = ProblemLog()
    rows.read_rows(given(tmp_path, name, text), log)
    assert log.count == 1
    assert str(log.problems[0]).startswith(problem)


def test_an_item_keeps_what_else_its_row_says():
    values = {"true_caption": "a cat", "false_caption": "a dog", "image_path": "1.jpg", "id": "x", "split": 3}
    log = ProblemLog()
    item = rows.captioned(Row(1, values), "a.json", log)
    assert (item.key, item.meta, log.count) == ("x", {"split": 3}, 0)
    assert (item.caption("positive"), item.caption("negative")) == ("a cat", "a dog")
    assert item.images == (ImageRecord("positive", "1.jpg"),)


@pytest.mark.parametrize("box", [[1, 2, 3, 4], ["1", "2", "3", "4"], [1.0, 2, 3, 4]])
def test_aros_box_becomes_the_crop(box):
    values = {"caption": "a cat", "image": "1.jpg", **dict(zip(rows.BOX, box, strict=True))}
    item = rows.captioned(Row(1, values), "a.csv", ProblemLog())
    assert (item.images[0].crop, item.meta) == ((1, 2, 3, 4), {})


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"captoin": "a cat"}, "COLUMN_MISSING · a.json · 7 · caption · Rename the column “captoin”"),
        ({"caption": 3}, "WRONG_VALUE · a.json · 7 · caption"),
        ({"caption": " "}, "VALUE_MISSING · a.json · 7 · caption"),
        ({"caption": "a", "image": "i", **dict.fromkeys(rows.BOX, "x")}, "WRONG_VALUE · a.json · 7 · bbox_x, bbox_y"),
        ({"captions": "a"}, "COLUMN_MISSING · a.json · 7 · id"),
        ({"id": "1", "captions": []}, "VALUE_MISSING · a.json · 7 · captions"),
    ],
)
def test_problems_name_file_row_and_column(values, problem):
    log = ProblemLog()
    assert rows.captioned(Row(7, values), "a.json", log) is None
    assert str(log.problems[0]).startswith(problem)
