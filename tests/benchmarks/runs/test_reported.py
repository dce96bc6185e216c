"""Figures that a source printed: the papers' tables as they are carried, and files of one's own."""

import json

import pytest
from django.core.management import CommandError, call_command

from benchmarks.formats.base import ProblemLog
from benchmarks.models import Run
from benchmarks.predictions.kinds import BIVLC, KINDS
from benchmarks.runs import published_tables, reported
from tests.builders import compared_models

ITEMS = {"replace": 2099, "swap": 359, "add": 475}  # of BiVLC, Table 1 by four
HEAD = "model,measure,value,source\n"


def read(path, text: str, kind=BIVLC):
    log = ProblemLog()
    path.write_text(text)
    return reported.read_reported(path, kind, log), [problem.code for problem in log.problems]


@pytest.mark.parametrize("row", published_tables.TABLES[0].rows, ids=lambda row: row.model)
def test_types_make_up_the_whole(row):
    """BiVLC's Tables 2 and 3 follow from Table 4 and the numbers of items: what was typed wrong would show."""
    for measure in ("i2t", "t2i", "group") if row.groups else ():
        found = sum(row.groups[kind, None][measure] * n for kind, n in ITEMS.items()) / 2933
        assert row.measures.get(measure, found) == pytest.approx(found, abs=0.016)


def test_singles_bound_what_they_make_up():
    for table in published_tables.TABLES:
        for row in table.rows:
            of = row.measures
            for whole, parts in (("i2t", ("i_pos2t", "i_neg2t")), ("t2i", ("t_pos2i", "t_neg2i")), ("group", ("i2t",))):
                if whole in of and parts[0] in of:
                    assert of[whole] <= min(of[part] for part in parts), row.model
            for both, first, second in (("i2t", "p1_n", "p2_n"), ("t2t", "t2t_p1_n", "t2t_p2_n")):
                if first in of:
                    assert of[first] + of[second] - 100 - 0.02 <= of[both] <= min(of[first], of[second]) + 0.02, row


def test_every_row_is_as_a_file_of_it_would_be(tmp_path):
    for table in published_tables.TABLES:
        rows = [
            {"model": row.model, "source": row.source, "family": row.family, "measure": measure, "value": value,
             "type": kind, "subtype": subtype or ""}
            for row in table.rows
            for (kind, subtype), of in [(("", None), row.measures), *row.groups.items()]
            for measure, value in of.items()
        ]  # fmt: skip
        found, codes = read(tmp_path / "table.json", json.dumps(rows), KINDS[table.kind])
        assert (codes, found) == ([], table.rows)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("CLIP,i2t,75.83", "RAGGED_ROW"), ("CLIP,i2t,x,here", "WRONG_VALUE"), ("CLIP,i2t,101,here", "WRONG_VALUE"),
        ("CLIP,i2x,75,here", "WRONG_VALUE"), (",i2t,75,here", "VALUE_MISSING"), ("CLIP,i2t,75,", "VALUE_MISSING"),
        ("CLIP,i2t,75,here\nCLIP,i2t,76,here", "DUPLICATE_ID"), (f"{'x' * 301},i2t,75,here", "FIELD_TOO_LONG"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, line, code):
    assert code in read(tmp_path / "figures.csv", f"{HEAD}{line}\n")[1]


def test_a_json_file_must_be_a_list_of_rows(tmp_path):
    assert read(tmp_path / "figures.json", "7")[1] == read(tmp_path / "figures.json", "[7]")[1] == ["JSON_INVALID"]
    assert read(tmp_path / "figures.json", "{}")[1] == ["NO_ROWS"]
    assert read(tmp_path / "figures.json", "[{}]")[1] == ["COLUMN_MISSING"] * 4
    assert read(tmp_path / "figures.txt", "")[1] == ["WRONG_TYPE"]
    long = [{"model": "CLIP", "measure": "x" * 200_000, "value": 1, "source": "here"}]
    assert read(tmp_path / "figures.json", json.dumps(long))[1] == ["FIELD_TOO_LONG"]


@pytest.mark.django_db
def test_the_command_enters_a_table_once(capsys):
    benchmark = compared_models.pairs(1)
    call_command("import_reported", benchmark.name, published="bivlc", kind="bivlc")
    assert Run.objects.filter(origin="reported").count() == 10
    with pytest.raises(CommandError, match="ALREADY_IMPORTED"):
        call_command("import_reported", benchmark.name, published="bivlc", kind="bivlc")
    with pytest.raises(CommandError, match="is about VISLA"):
        call_command("import_reported", benchmark.name, published="visla-generic", kind="bivlc")
