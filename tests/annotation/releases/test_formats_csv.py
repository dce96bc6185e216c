"""CSV for programs, which tells null from an empty text, and CSV that no spreadsheet runs a formula of."""

import csv
import io

import pandas
import pyarrow as pa
import pyarrow.csv
import pytest

from tests.annotation.releases.kept import COLUMNS, SCHEMA, contents, picture, row, written

NASTY = ['=HYPERLINK("http://x","y")', 'A "cup",\n one desk', "", None, "NA", "007", " ünïcode 🐈 ", "\r\n", "true"]
EXACT, SAFE = "csv/test.csv", "csv/test.spreadsheet.csv"


@pytest.fixture
def tables(tmp_path) -> dict[str, bytes]:
    rows = [row(place, caption=text) for place, text in enumerate(NASTY)]
    assert written("csv", tmp_path, [*rows, row(9, negative_image=None)]) == {EXACT: 10, SAFE: 10}
    return contents(tmp_path)


def cells(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))


def test_the_exact_table_gives_every_cell_back(tables):
    text = {name: pa.string() for name in COLUMNS} | {name: SCHEMA.field(name).type for name in ("words", "hard")}
    found = pa.csv.read_csv(
        io.BytesIO(tables[EXACT]),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            column_types=text, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    ).to_pylist()
    assert [one["caption"] for one in found[:9]] == NASTY
    assert [(one["words"], one["hard"]) for one in found] == [(place, place % 2 == 0) for place in range(10)]
    assert found[3]["image"] == picture(6)["path"] and found[9]["negative_image"] is None


def test_text_stands_in_quotes_and_nothing_else_does(tables):
    image, negative = picture(6)["path"], picture(7, "png")["path"]
    lines = tables[EXACT].decode().split("\n")
    assert lines[0] == ",".join(f'"{name}"' for name in COLUMNS)
    assert f'"{image}",,"A desk on cup 3.","{negative}","swap","obj","item-3",3,false' in lines
    assert f'"{picture(4)["path"]}","","A desk on cup 2.",' in tables[EXACT].decode()


def test_pandas_reads_both(tables):
    for content in (tables[EXACT], tables[SAFE]):
        read = pandas.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
        assert list(read) == list(COLUMNS) and list(read["id"]) == [f"item-{place}" for place in range(10)]


def test_the_safe_table_is_the_exact_one_with_apostrophes_and_a_mark_for_excel(tables):
    assert tables[SAFE].startswith(b"\xef\xbb\xbf") and not tables[EXACT].startswith(b"\xef\xbb\xbf")
    changed = [two for two in zip(cells(tables[EXACT]), cells(tables[SAFE]), strict=True) if two[0] != two[1]]
    assert [(exact[1], safe[1]) for exact, safe in changed] == [(NASTY[0], f"'{NASTY[0]}"), ("\r\n", "'\r\n")]
