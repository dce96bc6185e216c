"""Strict reading of lines, tables and JSON: where a problem stands is said to the row and the character."""

import io
import json
from contextlib import suppress

import pytest

from benchmarks.formats import jsontext, limits, text
from benchmarks.formats.base import Format, ProblemLog, Unreadable
from benchmarks.formats.table import nearest, read_table


def lines(data: bytes) -> tuple[list[str], ProblemLog]:
    log = ProblemLog()
    made = []
    with suppress(Unreadable):
        made.extend(text.lines(io.BytesIO(data), "f", log))
    return made, log


def rows(tmp_path, content: str, required=("a", "b")):
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode())
    log = ProblemLog()
    read = Format("t", "t", "t", (".csv",), lambda path, log: read_table(path, log, required))
    return list(read.read(path, log)), log


def parsed(source: str, row: int | None = None):
    log = ProblemLog()
    return jsontext.parse(source, "f", row, log), log


@pytest.mark.parametrize("size", [3, 4, 7, 65536])
def test_lines_are_the_same_however_the_bytes_come(monkeypatch, size):
    monkeypatch.setattr(text, "CHUNK", size)
    source = "a\r\nb\rc\n\n\u2028d é 👩‍👩‍👧\r\n\rlast"
    assert lines(source.encode())[0] == ["a\r\n", "b\r", "c\n", "\n", "\u2028d é 👩‍👩‍👧\r\n", "\r", "last"]
    assert lines(b"\xff\xfe" + source.encode("utf-16-le"))[0] == lines(source.encode())[0]


@pytest.mark.parametrize("size", [1, 5, 65536])
def test_a_wrong_byte_is_named_by_row_and_offset(monkeypatch, size):
    monkeypatch.setattr(text, "CHUNK", size)
    start = "é one\r\ntwo\r\nthree ".encode()
    problem = lines(start + b"\xe9t\xe9\n")[1].problems[0]
    assert (problem.code, problem.row) == ("ENCODING", 3)
    assert f"Byte {len(start)} " in problem.advice and "Latin-1" in problem.advice


def test_korean_and_utf16_are_guessed():
    assert "cp949" in lines("filename,caption\n1,빨간 컵과 접시".encode("cp949"))[1].problems[0].advice
    assert "UTF-16 BE" in lines("filename,caption".encode("utf-16-be"))[1].problems[0].advice


def test_a_cut_off_character_at_the_end_is_an_encoding_error():
    assert lines("abc é".encode()[:-1])[1].problems[0].code == "ENCODING"


def test_row_numbers_are_physical_lines(tmp_path):
    found, log = rows(tmp_path, '\na,b\n1,"two\nlines"\n\n3,"say ""hi"""\n')
    assert [(row.number, row.values["b"]) for row in found] == [(3, "two\nlines"), (6, 'say "hi"')]
    assert log.count == 0


def test_good_rows_around_a_ragged_one_are_read_on(tmp_path):
    found, log = rows(tmp_path, "a,b\n1,2\n3\n4,5\n6,7,8\n")
    assert [row.number for row in found] == [2, 4]
    assert [(problem.code, problem.row) for problem in log.problems] == [("RAGGED_ROW", 3), ("RAGGED_ROW", 5)]


def test_an_unclosed_quote_is_named_where_it_opens(tmp_path):
    log = rows(tmp_path, 'a,b\n1,2\n3,"four\n5,6\n7,8\n')[1]
    assert [(problem.code, problem.row) for problem in log.problems] == [("UNCLOSED_QUOTE", 3)]


def test_a_renamed_column_is_answered_with_its_likely_name(tmp_path):
    log = rows(tmp_path, "filname,B \n1,2\n", ("filename", "b"))[1]
    assert [problem.column for problem in log.problems] == ["filename", "b"]
    assert "“filname” to “filename”" in log.problems[0].advice and "“B ”" in log.problems[1].advice
    assert nearest("caption", ["colour", "Caption"]) == "Caption"


def test_cells_stay_the_text_they_are(tmp_path):
    values = ["007", "1e5", "TRUE", "NA", "null", "9007199254740993", " x ", "=1+1", "👩‍👩‍👧"]
    found, _ = rows(tmp_path, "a,b\n" + "".join(f"{value},y\n" for value in values))
    assert [row.values["a"] for row in found] == values


@pytest.mark.parametrize(
    ("source", "line", "character"),
    [
        ('{"a": 1,\n "b": [2, NaN]}', 2, 11),
        ('{"a": "NaN",\n "b": {"c": 1, "c": 2}}', 2, 16),
        ('{"a": "x",\n "a" : 2}', 2, 2),
        ('[1,\n{"a": ' + "9" * 41 + "}]", 2, 7),
        ('{"a": 1,}', 1, 9),
        ('["\\"", -Infinity]', 1, 8),
    ],
)
def test_a_json_fault_is_named_by_line_and_character(source, line, character):
    problem = parsed(source)[1].problems[0]
    assert (problem.code, problem.row, problem.column) == ("JSON_INVALID", line, f"character {character}")


def test_json_may_be_as_deep_as_the_cap_and_no_deeper():
    deep = "[" * limits.MAX_JSON_DEPTH + "]" * limits.MAX_JSON_DEPTH
    assert parsed(deep)[1].count == 0
    assert parsed(f"[{deep}]")[1].problems[0].code == "JSON_TOO_DEEP"


def test_json_text_and_numbers_are_kept_exactly():
    source = '{"id": "007", "n": 9007199254740993, "s": "null", "e": "\\ud83d\\ude00"}'
    assert parsed(source)[0] == json.loads(source)


def test_the_log_keeps_a_hundred_and_counts_all():
    log = ProblemLog()
    for row in range(250):
        log.error("X", "f", row, "", "mend it")
    assert (len(log.problems), log.count) == (100, 250)
    assert str(log.problems[1]) == "X · f · 1 ·  · mend it"
