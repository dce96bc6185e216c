"""A file of another format is recognised, advice for missing fields does not mislead, and examples are right."""

import json
from contextlib import suppress
from pathlib import Path

import openpyxl
import pytest

from benchmarks.formats import recognition
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.checks import check_records
from benchmarks.formats.examples import OF_FORMAT, right_example
from benchmarks.formats.jsonl import NOT_REQUIRED
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.table import nearest, read_table
from benchmarks.formats.text import OLD_EXCEL, lines
from benchmarks.records import Problem
from tests.benchmarks.bad_inputs.archives import zipped
from tests.benchmarks.bad_inputs.case import picture, written
from tests.benchmarks.bad_inputs.matrix import Row, input_of

PAGE = (Path(__file__).resolve().parents[3] / "docs/reference/formats.md").read_text()
EXAMPLES = {name: format.example for name, format in FORMATS.items()}
PLAIN = {"filename": "a.jpg", "caption": "A cup.", "negative_caption": "No cup."}
ITEM = json.loads(EXAMPLES["jsonl"])
TABLE = EXAMPLES["bivlc-candidates"]


def rejected(path: Path, format: str) -> ProblemLog:
    log, chosen = ProblemLog(), FORMATS[format]
    given = {"second": path} if chosen.sides else {}
    check_records(chosen.read(path, log, **given), log)
    assert log.count
    recognition.replace_by_other_format(path, chosen, FORMATS.values(), log)
    return log


@pytest.mark.parametrize(
    ("format", "content", "advice"),
    [
        ("jsonl", TABLE, "looks like “BiVLC candidates (CSV)”"),
        ("jsonl", EXAMPLES["visla"], "looks like “VISLA (TSV)”"),
        ("jsonl", EXAMPLES["sugarcrepe"], "looks like “SugarCrepe (JSON)”"),
        ("jsonl", json.dumps(PLAIN) + "\n", "rows look like those of SugarCrepe (JSON)"),
        ("jsonl", json.dumps([ITEM, ITEM], indent=1), "the file is one JSON list of rows. Write it as JSON Lines"),
        ("jsonl", json.dumps(ITEM | {"split": "test"}) + "\n", "looks like “Release of Winnow”"),
        ("bivlc-candidates", EXAMPLES["visla"], "looks like “VISLA (TSV)”"),
        ("visla", TABLE.encode("utf-16"), "looks like “BiVLC candidates (CSV)”"),
        ("hard-positives", EXAMPLES["aro"], "looks like “ARO"),
        ("aro", EXAMPLES["hard-positives"], "looks like “Hard Positives (JSON)”"),
        ("sugarcrepe", json.dumps([PLAIN]), "the file is one JSON list of rows. Write it as one JSON object"),
    ],
)
def test_a_file_of_another_format_is_told_by_one_problem(tmp_path, format, content, advice):
    name = {"sugarcrepe": "swap_obj.json", "hard-positives": "a.json", "aro": "a.json"}.get(format, "a.txt")
    log = rejected(written(tmp_path, name, content), format)
    assert [(problem.code, log.count) for problem in log.problems] == [("OTHER_FORMAT", 1)]
    assert advice in log.problems[0].advice


def test_parquet_and_archives_are_recognised_by_their_names(tmp_path):
    made = input_of(tmp_path, "visla-parquet", Row())
    assert "“VISLA" in rejected(made.path, "bivlc-parquet").problems[0].advice
    assert "only images" in rejected(zipped(tmp_path, {"1.jpg": picture()}), "sugarcrepe").problems[0].advice


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("jsonl", json.dumps(ITEM | {"caption": "A cup."}) + "\n"),
        ("bivlc-candidates", TABLE.replace(",hn_img_1", ",hn_img_2")),
        ("bivlc-candidates", TABLE.replace(",", "\t")),
        ("bivlc-candidates", "filename,caption,negative_caption\na.jpg,A cup.,No cup.\n"),
    ],
)
def test_problems_of_the_chosen_format_stay(tmp_path, format, content):
    assert "OTHER_FORMAT" not in {p.code for p in rejected(written(tmp_path, "a.txt", content), format).problems}


@pytest.mark.parametrize("name", ["sugarcrepe-compare", "hard-positives"])
def test_files_of_two_sides_are_those_of_the_chosen_format(tmp_path, name):
    """The first two origins are each in SugarCrepe's files."""
    files = input_of(tmp_path, name, Row(caption=" "))
    log = ProblemLog()
    check_records(FORMATS[name].read(files.path, log), log)
    recognition.replace_by_other_format(files.path, FORMATS[name], FORMATS.values(), log)
    assert {problem.code for problem in log.problems} == {"VALUE_MISSING"}


def test_fields_of_nearby_formats_are_told_where_they_belong(tmp_path):
    row = {"id": "1", "caption": "A cup.", "false_caption": "No cup.", "image": "a.jpg", "source": "mine"}
    problems = rejected(written(tmp_path, "a.jsonl", json.dumps(row) + "\n"), "jsonl").problems
    assert [(problem.column, problem.advice) for problem in problems] == [
        ("captions", f"Add the field “captions”, a list: […].{NOT_REQUIRED}"),
        ("caption", 'Write it as an entry of “captions”: {"role": "positive", "text": …}.'),
        ("false_caption", 'Write it as an entry of “captions”: {"role": "negative", "text": …}.'),
        ("image", 'Write it as an entry of “images”: {"role": "positive", "file": …}.'),
        ("source", "Put further information into “meta”."),
    ]


@pytest.mark.parametrize(
    ("name", "other"),
    [("hn_img_0", "hn_img_2"), ("caption", "false_caption"), ("negative_caption", "positive_caption"),
     ("positive", "second positive")],
)  # fmt: skip
def test_names_of_different_things_are_not_confused(name, other):
    assert nearest(name, [other]) == "" and nearest(name, [f"{name}s", other]) == f"{name}s"


def test_another_delimiter_is_suggested_only_if_it_gives_the_columns(tmp_path):
    log = rejected(written(tmp_path, "a.tsv", "image,caption,negative_caption\n1.jpg,A cup.,No cup.\n"), "visla")
    assert [problem.code for problem in log.problems] == ["COLUMN_MISSING"]


@pytest.mark.parametrize(("sign", "word"), [("\t", "tabs"), (";", "semicolons")])
def test_a_table_with_another_delimiter_and_other_columns_is_told_both(tmp_path, sign, word):
    log = ProblemLog()
    path = written(tmp_path, "a.csv", "id,rater,score\n1,a,3\n".replace(",", sign))
    with suppress(Unreadable):
        list(read_table(path, log, ["item", "annotator", "label"]))
    said = f"separated by {word}; save the file with commas, and with the columns item, annotator, label."
    assert [problem.advice for problem in log.problems] == [f"The columns are {said}"]


def test_a_table_of_something_else_gets_no_new_names_for_its_columns(tmp_path):
    """DSG's own columns: `tuple` resembles `type`, and is none."""
    header = "item_id,text,keywords,proposition_id,dependency,category_broad,category_detailed,tuple,question"
    log = rejected(written(tmp_path, "a.csv", f"{header}\n{',' * header.count(',')}\n"), "bivlc-candidates")
    assert log.count == 1 and "The first row must have the names of the columns" in log.problems[0].advice


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.tsv", "a.jsonl"])
@pytest.mark.parametrize("old", [True, False])
def test_an_excel_workbook_is_named_whatever_it_is_called(tmp_path, name, old):
    path = tmp_path / name
    if old:
        path.write_bytes(OLD_EXCEL + bytes(600))
    else:
        book = openpyxl.Workbook()
        book.active.append(["item", "annotator", "label"])
        book.save(path)
    log = ProblemLog()
    with suppress(Unreadable):
        list(lines(path.open("rb"), name, log))
    assert [(one.code, one.advice) for one in log.problems] == [
        ("WRONG_TYPE", "This is an Excel workbook. Save it as CSV UTF-8.")
    ]


def test_a_table_without_a_header_is_one_problem(tmp_path):
    log = rejected(written(tmp_path, "a.csv", "1.jpg,A cup.\n2.jpg,No cup.\n"), "bivlc-candidates")
    assert log.count == 1 and "The first row must have the names of the columns" in log.problems[0].advice


@pytest.mark.parametrize("name", [name for name, format in FORMATS.items() if not format.images])
def test_the_right_example_of_a_format_can_be_read(tmp_path, name):
    file = "swap_obj.json" if name.startswith("sugarcrepe") else "vl_checklist_relations.json"
    path, log = written(tmp_path, file, EXAMPLES[name]), ProblemLog()
    given = {"second": path} if FORMATS[name].sides else {}
    assert len(check_records(FORMATS[name].read(path, log, **given), log)) == 1 and not log.problems


def test_every_format_has_a_right_example():
    assert all(right_example(code, format) for code in OF_FORMAT for format in FORMATS.values())
    assert all(f"`{code}`" in PAGE for code in OF_FORMAT)


def test_problems_are_counted_by_code_with_examples_of_each_column():
    columns = [f"captions[{row}].{'role' if row == 40 else 'text'}" for row in range(90)]
    problems = [Problem("X", "f", row, column, "Do it.") for row, column in enumerate(columns)]
    log = ProblemLog()
    for problem in [*problems, Problem("Y", "f", 1, "", "Do it.")]:
        log.error(problem.code, problem.file, problem.row, problem.column, problem.advice)
    log.error("Z", "f", 1, "a\0b", "Do it.")
    kinds = log.kinds.as_json()
    assert [(kind["code"], kind["count"], kind["columns"]) for kind in kinds[:2]] == [
        ("X", 90, [["captions[].text", 89], ["captions[].role", 1]]),
        ("Y", 1, []),
    ]
    assert "\\u0000" not in json.dumps(kinds)  # the database cannot store it
    assert [example["row"] for example in kinds[0]["examples"]] == [0, 1, 2, 40]
