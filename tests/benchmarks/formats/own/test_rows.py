"""Any table is read into rows by column, whatever its name says."""

import io
import json
import zipfile
from contextlib import suppress

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.own import rows
from benchmarks.formats.own.format import FORMAT
from benchmarks.formats.own.rows import first_rows

TWO = [{"image": "7.jpg", "caption": "A red cup."}, {"image": "8.jpg", "caption": "A cup, red"}]


def workbook(found: list[dict]) -> bytes:
    book = openpyxl.Workbook()
    book.active.append([*found[0]])
    for row in found:
        book.active.append([*row.values()])
    book.save(stream := io.BytesIO())
    return stream.getvalue()


def parquet(found: list[dict]) -> bytes:
    pq.write_table(pa.Table.from_pylist(found), stream := io.BytesIO())
    return stream.getvalue()


def table(separator: str) -> bytes:
    return f'image{separator}caption\n7.jpg{separator}A red cup.\n8.jpg{separator}"A cup, red"\n'.encode()


FILES = {
    "commas": table(","),
    "semicolons": table(";"),
    "bars": table("|"),
    "tabs": b"image\tcaption\n7.jpg\tA red cup.\n8.jpg\tA cup, red\n",
    "tabs and quotes": table("\t"),
    "with a byte-order mark": b"\xef\xbb\xbf" + table(","),
    "UTF-16": table(",").decode().encode("utf-16"),
    "JSON Lines": "".join(json.dumps(row) + "\n" for row in TWO).encode(),
    "a list": json.dumps(TWO).encode(),
    "a list with line breaks": json.dumps(TWO, indent=1).encode(),
    "rows inside": json.dumps({"version": 1, "data": TWO, "licences": ["MIT"]}).encode(),
    "columns": json.dumps({name: [row[name] for row in TWO] for name in TWO[0]}).encode(),
    "a workbook": workbook(TWO),
    "parquet": parquet(TWO),
}


@pytest.mark.usefixtures("parquet_trial_in_process")
@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", ["rows.csv", "rows.json"])
def test_a_file_is_what_its_content_says(kind, name, tmp_path):
    (tmp_path / name).write_bytes(FILES[kind])
    log = ProblemLog()
    assert [row for _, row in rows.read(tmp_path / name, log)] == TWO
    assert log.problems == []


def test_objects_by_key_and_lists_become_rows(tmp_path):
    assert rows.rows_in({"a": {"x": 1}, "b": {"x": 2}}) == [{"key": "a", "x": 1}, {"key": "b", "x": 2}]
    assert rows.rows_in([["Is it?", "7.jpg"], ["No?", "8.jpg"]]) == [
        {"1": "Is it?", "2": "7.jpg"},
        {"1": "No?", "2": "8.jpg"},
    ]
    assert rows.rows_in({"image": "7.jpg", "caption": "A cup."}) == [{"image": "7.jpg", "caption": "A cup."}]


def test_objects_in_rows_are_columns_where_all_have_the_same_keys():
    found = [
        {"2": {"POS": ["a"], "NEG": ["b"]}, "votes": {"61": "no"}},
        {"2": {"POS": [], "NEG": []}, "votes": {"4": ""}},
    ]
    assert rows.columns(found) == ["2.POS", "2.NEG", "votes"]


def test_columns_without_a_name_and_with_the_same_get_a_number(tmp_path):
    (tmp_path / "pandas.csv").write_text(",caption,caption\n0,a,b\n")
    ((origin, row),) = rows.read(tmp_path / "pandas.csv", ProblemLog())
    assert row == {"column 1": "0", "caption": "a", "caption 2": "b"} and origin.row == 2


@pytest.mark.parametrize("ending", ["", ".zip"])
@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"metadata.csv": b"file_name,text\n7.jpg,A cup.\n", "7.jpg": b""}, [{"file_name": "7.jpg", "text": "A cup."}]),
        (
            {"cups/7.jpg": b"", "hats/8.jpg": b""},
            [{"file_name": "cups/7.jpg", "label": "cups"}, {"file_name": "hats/8.jpg", "label": "hats"}],
        ),
        ({"data/test-0.parquet": parquet(TWO[:1]), "data/test-1.parquet": parquet(TWO[1:])}, TWO),
    ],
    ids=["a table and pictures", "folders of pictures", "parquet shards"],
)
@pytest.mark.usefixtures("parquet_trial_in_process")
def test_a_dataset_is_read_from_a_folder_or_an_archive(files, found, ending, tmp_path):
    place = tmp_path / f"set{ending}"
    if ending:
        with zipfile.ZipFile(place, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        for name, content in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
    assert first_rows(place, ProblemLog()) == found


@pytest.mark.usefixtures("parquet_trial_in_process")
def test_pictures_inside_parquet_get_names_and_are_a_source(tmp_path):
    same = {"bytes": b"one", "path": "7.jpg"}
    found = [
        {"image": same, "raw": b"two", "more": [same, {"bytes": b"three", "path": "7.jpg"}], "caption": "A cup."},
        {"image": {"bytes": None, "path": None}, "raw": None, "more": [], "caption": "None."},
    ]
    (tmp_path / "a.parquet").write_bytes(parquet(found))
    first, second = first_rows(tmp_path / "a.parquet", ProblemLog())
    assert (first["image"], first["more"][0]) == ("7.jpg", "7.jpg") and first["more"][1].endswith("/7.jpg")
    assert (second["image"], second["raw"], second["more"]) == (None, None, [])
    with FORMAT.images(tmp_path / "a.parquet") as source:
        assert dict(source.stream([first["raw"], *first["more"]])) == {
            first["raw"]: b"two",
            "7.jpg": b"one",
            first["more"][1]: b"three",
        }


@pytest.mark.parametrize(
    ("content", "code", "advice"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "WRONG_TYPE", "Save it as .xlsx"),
        (b"PK\x03\x04 and nothing more", "FILE_UNREADABLE", "Save it as CSV UTF-8"),
        (b"image,caption\n7.jpg,caf\xe9\n", "ENCODING", "Save the file as UTF-8"),
        (b"", "EMPTY_FILE", "empty"),
        (b"[]", "NO_ROWS", "no rows"),
        (b'{"a": ', "JSON_INVALID", "Correct the JSON"),
    ],
)
def test_what_cannot_be_read_says_why(content, code, advice, tmp_path):
    (tmp_path / "rows.csv").write_bytes(content)
    log = ProblemLog()
    with suppress(Unreadable):
        list(rows.read(tmp_path / "rows.csv", log))
    (problem,) = log.problems
    assert problem.code == code and advice in problem.advice
