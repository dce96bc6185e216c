"""CSV that no spreadsheet runs a formula of, and CSV that a program reads back as it was."""

import csv
import io
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.formats.csv_text import harmless, table

RUN = [
    "=1", "+1", "-1", "@SUM(A1)", "＝1", "＋1", "－1", "＠x", "−1", "﹦1", "⁼1", "\tx", "\rx", "\nx", "  =1",
    "\u200b=1",
]  # fmt: skip
texts = st.text(st.sampled_from("=+-@＝﹣⁺−\t\r\n ;,\"'a1\u200b\ufeff\xa0"), max_size=12)


def test_text_stands_in_quotes_and_nothing_else_does():
    cells = ["a", 'say "so"', "", None, -1, 0.5, 1e-07, True]
    assert table([cells]) == '"a","say ""so""","",,-1,0.5,1e-07,true\n'


@given(st.lists(texts, min_size=1))
def test_an_exact_table_is_read_back_as_it_was(cells):
    assert list(csv.reader(io.StringIO(table([cells, cells], safe=False), newline=""), strict=True)) == [cells, cells]
    assert list(csv.reader(io.StringIO(table([cells]), newline=""))) == [[harmless(cell) for cell in cells]]


@pytest.mark.parametrize("text", RUN)
def test_what_may_run_gets_an_apostrophe(text):
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "A cup.", "'=1", "2-1", "a = b", "50%", "“=”", "a;b", "a, -b"])
def test_what_cannot_run_stays_as_it_is(text):
    assert harmless(text) == text


def test_what_a_semicolon_would_cut_off_gets_one_too():
    assert harmless("a; =1;\n\t=2") == "a;' =1;'\n'\t'=2" or harmless("a; =1;\n=2") == "a;' =1;\n'=2"


@given(texts)
def test_no_cell_begins_a_formula_however_it_is_cut(text):
    for cell in (harmless(text), *re.split(r"[;\t\r\n]", harmless(text))):
        seen = [letter for letter in cell if unicodedata.category(letter) not in ("Cc", "Cf", "Zs")]
        assert unicodedata.normalize("NFKC", "".join(seen[:1]))[:1] not in tuple("=+-@−")
    assert harmless(text)[:1] not in ("\t", "\r", "\n")


@given(texts)
def test_apostrophes_are_all_that_is_added(text):
    assert harmless(text).replace("'", "") == text.replace("'", "")
