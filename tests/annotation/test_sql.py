"""Answers that are copied from the database as columns have the values that rows have."""

import datetime

import pyarrow as pa
import pytest

from annotation.sql import CHUNK_SIZE, copy_tables

SCHEMA = pa.schema(
    [
        ("number", pa.int32()),
        ("large", pa.int64()),
        ("text", pa.string()),
        ("truth", pa.bool_()),
        ("at", pa.timestamp("us", tz="UTC")),
        ("list", pa.list_(pa.string())),
    ]
)
STATEMENT = """
SELECT place, 2^40 + place, text, place %% 2 = 0, timestamptz '2026-03-02 08:30:00.000001+02', ARRAY[text, text]
FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS found (text, place) ORDER BY place
"""


@pytest.mark.django_db
def test_tables_have_every_text_and_tell_an_empty_one_from_null():
    texts = ["", None, "NULL", "a,b", '"', "'", "two\nlines\r\n", "\\.", "\\N", "{}", "日本", " ", "\t"]
    [table] = copy_tables(STATEMENT, SCHEMA, texts=texts)
    assert table.schema == SCHEMA
    at = datetime.datetime(2026, 3, 2, 6, 30, 0, 1, tzinfo=datetime.UTC)
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (place, 2**40 + place, text, place % 2 == 0, at, [text, text]) for place, text in enumerate(texts, 1)
    ]


@pytest.mark.django_db
def test_large_answers_come_in_several_tables_and_empty_ones_in_none():
    texts = [str(place) for place in range(CHUNK_SIZE + 1)]
    tables = list(copy_tables(STATEMENT, SCHEMA, texts=texts))
    assert [len(table) for table in tables] == [CHUNK_SIZE, 1]
    assert pa.concat_tables(tables)["text"].to_pylist() == texts
    assert list(copy_tables(STATEMENT, SCHEMA, texts=[])) == []
