"""Predictions are read as strictly as imports: what is right becomes answers, what is wrong has its code and row."""

import csv
import io
import json

import pytest

from benchmarks.formats.base import ProblemLog
from benchmarks.predictions import jsonl
from benchmarks.predictions.base import Answer, Reference
from benchmarks.predictions.kinds import KINDS, NONE, RIGHT, WRONG
from benchmarks.predictions.reading import read_answers
from benchmarks.records import Origin
from tests.benchmarks.bad_inputs.case import written

RESULTS = {
    "caption": "A red cup.", "negative_caption": "A blue cup.", "type": "swap", "subtype": "att",
    "text_score_i0": "True", "text_score_i1": "False", "image_score_c0": "True", "image_score_c1": "True",
    "text_score": "False", "image_score": "True", "group_score": "False",
}  # fmt: skip
CORRECT = {
    "filename": "1.jpg", "caption": "A red cup.", "negative_caption": "A blue cup.", "type": "swap", "subtype": "att",
    "correct": "1",
}  # fmt: skip
CUPS = (("positive", "A red cup."), ("negative", "A blue cup."))
LINE = {"item": "7", "question": "i_pos2t", "choice": "positive"}


def table(*rows: dict) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def gpt(chosen: str = "A red cup.", correct: object = True, **fields) -> dict:
    texts = {"filename": "1.jpg", "caption": "A red cup.", "negative_caption": "A blue cup."}
    return {**texts, "answer": {"multiple_choice_answer": chosen}, "correct": correct, **fields}


def read(folder, kind: str, name: str, content: str | bytes) -> tuple[list[Answer], ProblemLog]:
    log = ProblemLog()
    return list(read_answers([written(folder, name, content)], KINDS[kind], log)), log


def codes(log: ProblemLog) -> list[tuple]:
    return [(problem.code, problem.row, problem.column) for problem in log.problems]


# What is right


def test_a_row_of_bivlcs_results_is_four_answers(tmp_path):
    found, log = read(tmp_path, "bivlc", "results_x.csv", table(RESULTS))
    item, at = Reference("", CUPS), Origin("results_x.csv", 2)
    expected = {"i_pos2t": RIGHT, "i_neg2t": WRONG, "t_pos2i": RIGHT, "t_neg2i": RIGHT}
    assert found == [Answer(item, name, None, said, "swap", "att", at) for name, said in expected.items()]
    assert log.problems == []


def test_rows_that_name_the_same_are_items_of_their_own(tmp_path):
    found, _ = read(tmp_path, "sugarcrepe", "x.csv", table(CORRECT, {**CORRECT, "correct": "0"}))
    assert [(answer.item.nth, answer.item.image, answer.choice) for answer in found] == [
        (0, "1.jpg", RIGHT),
        (1, "1.jpg", WRONG),
    ]


@pytest.mark.parametrize(("chosen", "choice"), [("A red cup.", "positive"), ("A blue cup.", "negative"), ("", NONE)])
def test_gpt4vs_choice_is_the_caption_that_it_repeats(tmp_path, chosen, choice):
    rows = {"12": gpt(chosen, chosen == "A red cup."), "accuracy": 0.8577}
    found, log = read(tmp_path, "sugarcrepe", "swap_obj.json", json.dumps(rows))
    item = Reference("swap_obj-12", CUPS, "1.jpg")
    assert found == [Answer(item, "caption", None, choice, "swap", "obj", Origin("swap_obj.json", 1))]
    assert log.problems == []


def test_our_lines_name_items_by_id_or_by_captions(tmp_path):
    lines = [
        {"item": "7", "question": "s(c0,i1)", "score": -3},
        {"item": {"negative": "A blue cup.", "positive": "A red cup.", "image": "7.jpg"}, "question": "i_pos2t",
         "choice": "none", "type": "swap", "subtype": "att"},
    ]  # fmt: skip
    found, log = read(tmp_path, "bivlc", "x.jsonl", "\n\n".join(map(json.dumps, lines)))
    assert log.problems == []
    assert found == [
        Answer(Reference("7"), "s(c0,i1)", -3.0, None, origin=Origin("x.jsonl", 1)),
        Answer(Reference("", CUPS, "7.jpg"), "i_pos2t", None, NONE, "swap", "att", Origin("x.jsonl", 3)),
    ]


NAMES = [
    "results_x.csv", "predictions", "scores.txt", "ViT-B-32 (1).JSONL", "Ответы модели.json", ".hidden", "a,b;'c\".tsv",
    "swap_obj.json", "clip.jsonl.bak", "-", "x" * 250,
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_our_lines_are_read_whatever_the_file_is_called(tmp_path, name, mark):
    found, log = read(tmp_path, "bivlc", name, f"{mark}\n{json.dumps(LINE)}\n")
    assert found == [Answer(Reference("7"), "i_pos2t", None, "positive", origin=Origin(name, 2))] and not log.problems


@pytest.mark.parametrize("name", [name for name in NAMES if not name.lower().endswith(("jsonl", "json"))])
def test_so_are_tables(tmp_path, name):
    assert len(read(tmp_path, "bivlc", name, table(RESULTS))[0]) == 4
    assert [one.choice for one in read(tmp_path, "sugarcrepe", name, table(CORRECT))[0]] == [RIGHT]


@pytest.mark.parametrize("name", [name for name in NAMES if not name.lower().endswith(("jsonl", "csv"))])
def test_so_are_gpt4vs_answers_by_id_only_where_the_name_has_the_subset(tmp_path, name):
    rows = json.dumps({"12": gpt(), "13": gpt()})
    found, log = read(tmp_path, "sugarcrepe", name, rows)
    if name == "swap_obj.json":
        assert [(one.item.key, one.type, one.subtype) for one in found] == [
            ("swap_obj-12", "swap", "obj"),
            ("swap_obj-13", "swap", "obj"),
        ]
    else:
        assert [one.item for one in found] == [Reference("", CUPS, "1.jpg", nth) for nth in (0, 1)]
        assert {(one.type, one.subtype) for one in found} == {("", "")}
    assert log.problems == []


def test_a_name_may_have_more_than_the_subset(tmp_path):
    found, _ = read(tmp_path, "sugarcrepe", "GPT-4V SWAP_OBJ (2).json", json.dumps({"12": gpt()}))
    assert (found[0].item.key, found[0].type, found[0].subtype) == ("swap_obj-12", "swap", "obj")


# What is wrong

BAD_LINES = {
    "no_item": ({"question": "i_pos2t", "choice": "positive"}, "COLUMN_MISSING", "item"),
    "misspelt": ({**LINE, "sub_type": "att"}, "UNKNOWN_FIELD", "sub_type"),
    "neither": ({"item": "7", "question": "i_pos2t"}, "VALUE_MISSING", "score, choice"),
    "both": ({**LINE, "score": 1}, "VALUE_MISSING", "score, choice"),
    "score_in_quotes": ({"item": "7", "question": "s(c0,i0)", "score": "0.5"}, "WRONG_VALUE", "score"),
    "score_is_true": ({"item": "7", "question": "s(c0,i0)", "score": True}, "WRONG_VALUE", "score"),
    "another_kinds_score": ({"item": "7", "question": "s(p1,n)", "score": 1}, "WRONG_VALUE", "question"),
    "another_kinds_question": ({**LINE, "question": "t2t"}, "WRONG_VALUE", "question"),
    "choice_at_a_score": ({**LINE, "question": "s(c0,i0)"}, "WRONG_VALUE", "question"),
    "no_such_option": ({**LINE, "choice": "left"}, "WRONG_VALUE", "choice"),
    "number_as_item": ({**LINE, "item": 7}, "WRONG_VALUE", "item"),
    "empty_item": ({**LINE, "item": " "}, "VALUE_MISSING", "item"),
    "image_alone": ({**LINE, "item": {"image": "7.jpg"}}, "VALUE_MISSING", "item"),
    "unknown_role": ({**LINE, "item": {"good": "A cup."}}, "UNKNOWN_FIELD", "item.good"),
    "number_as_type": ({**LINE, "type": 3}, "WRONG_VALUE", "type"),
    "nul": ({**LINE, "item": "7\0"}, "NUL_CHARACTER", "item"),
    "half_a_pair": ({**LINE, "item": "\ud83d"}, "BAD_UNICODE", "item"),
    "nan": ({"item": "7", "question": "s(c0,i0)", "score": float("nan")}, "JSON_INVALID", "character 48"),
    "infinity": ({"item": "7", "question": "s(c0,i0)", "score": float("inf")}, "JSON_INVALID", "character 48"),
    "no_object": ([LINE], "JSON_INVALID", ""),
    "deep": ({**LINE, "item": json.loads("[" * 65 + "]" * 65)}, "JSON_TOO_DEEP", ""),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_named(tmp_path, name):
    line, code, column = BAD_LINES[name]
    found, log = read(tmp_path, "bivlc", "x.jsonl", json.dumps(LINE) + "\n" + json.dumps(line))
    assert codes(log) == [(code, 2, column)]
    assert len(found) == 1


BAD_FILES = {
    "nothing": ("bivlc", "x.csv", b"", "EMPTY_FILE", None),
    "header_alone": ("bivlc", "x.csv", table(RESULTS).splitlines()[0], "NO_ROWS", None),
    "no_column": ("bivlc", "x.csv", table({**CORRECT}), "COLUMN_MISSING", 1),
    "semicolons": ("bivlc", "x.csv", table(RESULTS).replace(",", ";"), "WRONG_DELIMITER", 1),
    "short_row": ("bivlc", "x.csv", table(RESULTS) + "a,b\n", "RAGGED_ROW", 3),
    "quote": ("bivlc", "x.csv", table(RESULTS) + '"a,b\n', "UNCLOSED_QUOTE", 3),
    "latin_1": ("bivlc", "x.csv", table({**RESULTS, "caption": "Un café."}).encode("latin-1"), "ENCODING", 2),
    "no_truth": ("bivlc", "x.csv", table({**RESULTS, "text_score_i0": "0.7"}), "WRONG_VALUE", 2),
    "does_not_follow": ("bivlc", "x.csv", table({**RESULTS, "group_score": "True"}), "WRONG_VALUE", 2),
    "no_score": ("sugarcrepe", "x.csv", table({**CORRECT, "correct": ""}), "WRONG_VALUE", 2),
    "other_ending": ("bivlc", "x.json", "{}", "COLUMN_MISSING", 1),
    "other_name": ("sugarcrepe", "x.json", "{}", "NO_ROWS", None),
    "other_kind": ("bivlc", "x.exe", b"MZ\x00\x01", "ENCODING", 1),
    "list": ("sugarcrepe", "swap_obj.json", "[]", "JSON_INVALID", 1),
    "accuracy_alone": ("sugarcrepe", "swap_obj.json", '{"accuracy": 1}', "NO_ROWS", None),
    "no_row": ("sugarcrepe", "swap_obj.json", '{"0": 0.5}', "JSON_INVALID", 1),
    "key_twice": ("sugarcrepe", "swap_obj.json", '{"0": 1,\n"0": 2}', "JSON_INVALID", 2),
    "no_answer": ("sugarcrepe", "swap_obj.json", json.dumps({"0": gpt(answer={})}), "WRONG_VALUE", 1),
    "text_for_true": ("sugarcrepe", "swap_obj.json", json.dumps({"0": gpt(correct="true")}), "WRONG_VALUE", 1),
    "contradiction": ("sugarcrepe", "swap_obj.json", json.dumps({"0": gpt("A blue cup.")}), "WRONG_VALUE", 1),
    "blank_lines": ("visla", "x.jsonl", "\n \n", "NO_ROWS", None),
    "trailing_comma": ("visla", "x.jsonl", "{},\n", "JSON_INVALID", 1),
    "long_line": ("visla", "x.jsonl", " " * 3_000_000, "LINE_TOO_LONG", 1),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_named(tmp_path, name):
    kind, file, content, code, row = BAD_FILES[name]
    _, log = read(tmp_path, kind, file, content)
    assert (log.problems[0].code, log.problems[0].row) == (code, row)


def test_too_many_answers_end_the_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "MAX_ANSWERS", 2)
    _, log = read(tmp_path, "bivlc", "x.jsonl", (json.dumps(LINE) + "\n") * 4)
    assert codes(log) == [("TOO_MANY_ROWS", 3, "")]


def test_files_of_two_layouts_are_not_one_model(tmp_path):
    log = ProblemLog()
    files = [written(tmp_path, "x.csv", table(CORRECT)), written(tmp_path, "swap_obj.json", json.dumps({"0": gpt()}))]
    assert len(list(read_answers(files, KINDS["sugarcrepe"], log))) == 1
    assert codes(log) == [("WRONG_TYPE", None, "")]


def test_a_file_that_is_not_there_is_named(tmp_path):
    log = ProblemLog()
    assert list(read_answers([tmp_path / "gone.jsonl"], KINDS["aro"], log)) == []
    assert codes(log) == [("FILE_UNREADABLE", None, "")]


OWN = '{"winnow": "predictions/1", "item": "uid", "scores": {"s(positive)": "a", "s(negative)": "b"}}'
CHOSEN = (
    '{"winnow": "predictions/1", "item": "uid", '
    '"choices": {"caption": {"from": "ok", "values": {"1": "right", "0": "wrong"}}}}'
)


@pytest.mark.parametrize(
    ("kind", "text", "mapping", "found"),
    [
        ("sugarcrepe", "id,score_pos,score_neg\n7,0.3,0.2\n", "", {"s(positive)": 0.3, "s(negative)": 0.2}),
        ("sugarcrepe", '[{"id": "7", "score_pos": 0.3, "score_neg": 0.2}]', "",
         {"s(positive)": 0.3, "s(negative)": 0.2}),
        ("hard_positive", "item\ts(c)\ts(cn)\ts(cp)\n7\t3\t2\t1\n", "", {"s(c)": 3, "s(cn)": 2, "s(cp)": 1}),
        ("bivlc", "id,sim_c0_i0,sim_c1_i0,sim_c1_i1,sim_c0_i1\n7,1,2,3,4\n", "",
         {"s(c0,i0)": 1, "s(c1,i0)": 2, "s(c1,i1)": 3, "s(c0,i1)": 4}),
        ("sugarcrepe", "uid;a;b\n7;0.3;0.2\n", OWN, {"s(positive)": 0.3, "s(negative)": 0.2}),
        ("sugarcrepe", "uid,ok\n7,1\n", CHOSEN, {"caption": "right"}),
    ],
)  # fmt: skip
def test_a_table_of_ones_own_has_its_scores_in_columns(tmp_path, kind, text, mapping, found):
    log = ProblemLog()
    answers = list(read_answers([written(tmp_path, "mine.csv", text)], KINDS[kind], log, mapping))
    assert log.problems == [] and {one.item.key for one in answers} == {"7"}
    assert {one.question: one.score if one.choice is None else one.choice for one in answers} == found


@pytest.mark.parametrize(
    ("text", "mapping", "code", "column"),
    [
        ("id,score_pos,score_neg\n7,high,0.2\n", "", "WRONG_VALUE", "score_pos"),
        ("id,score_pos,score_neg\n,0.1,0.2\n", "", "VALUE_MISSING", "id"),
        ("id,caption,score_pos,score_neg\n7,A cup.,high,0.2\n", "", "WRONG_VALUE", "score_pos"),  # a text is no score
        ("uid,a\n7,1\n", OWN, "COLUMN_MISSING", "b"),
        ("uid,ok\n7,maybe\n", CHOSEN, "WRONG_VALUE", "ok"),
        ("uid,a\n7,1\n", OWN.replace("s(negative)", "s(neg)").replace('"b"', '"a"'), "WRONG_VALUE", "s(neg)"),
    ],
)
def test_what_is_wrong_with_a_table_of_ones_own_is_said(tmp_path, text, mapping, code, column):
    log = ProblemLog()
    list(read_answers([written(tmp_path, "mine.csv", text)], KINDS["sugarcrepe"], log, mapping))
    assert [(one.code, one.column) for one in log.problems] == [(code, column)]
