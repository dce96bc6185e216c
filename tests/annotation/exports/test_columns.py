"""Columns are said once: what is made from them fits, and the documentation is what they say."""

from pathlib import Path

import pytest

from annotation.exports import rows
from annotation.exports.columns import TABLES, columns
from annotation.exports.columns_page import page
from annotation.releases.plan import PUBLIC

ROOT = Path(__file__).resolve().parents[3]
SELECTED = {  # by table, what its statement has
    "judgments": rows.OF_JUDGMENT, "tasks": rows.OF_TASK, "adjudications": rows.OF_ADJUDICATION,
    "flags": rows.OF_FLAG, "annotators": rows.OF_ANNOTATOR,
}  # fmt: skip


def test_the_documentation_has_every_column_as_it_is():
    said = (ROOT / "docs/reference/columns.md").read_text(encoding="utf-8")
    assert said == page(), "run: python -m annotation.exports.columns_page > docs/reference/columns.md"


@pytest.mark.parametrize("name", SELECTED)
def test_a_statement_selects_columns_of_its_table(name):
    assert SELECTED[name].keys() <= {column.name for column in TABLES[name].exported}


def test_what_hides_a_column_is_a_part_that_can_be_public():
    nested = [part for table in TABLES.values() for column in table.columns for part in column.of]
    parts = {column.part for table in TABLES.values() for column in (*table.columns, *nested)} - {""}
    assert parts == set(PUBLIC)
    assert TABLES["judgments"].hidden(["times"]) == ["reason", "flags"] and TABLES["tasks"].hidden(PUBLIC) == []


def test_marks_say_what_may_be_null_or_missing_or_is_in_releases_only():
    one, two, three = columns("""
        a  text?*         May be null or missing.
        b  integer+       Only in releases.
        c  boolean/times  Null without times.
    """)
    assert (one.may_be_null, one.may_be_missing, one.only_released, one.part) == (True, True, False, "")
    assert (two.kind, two.says, two.only_released) == ("integer", "Only in releases.", True)
    assert (three.part, three.may_be_null) == ("times", True)
