"""ARO's lists: read, refused with their problems, and written again."""

import json
from pathlib import Path

import pytest

from benchmarks.formats import aro
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.records import ImageRecord, ItemRecord
from tests.builders.aro_rows import ODD, attribution, listed, relation


def read(path: Path) -> tuple[list[ItemRecord], ProblemLog]:
    log = ProblemLog()
    return check_records(aro.FORMAT.read(path, log), log), log


# Reading


def test_a_relation_s_row(tmp_path):
    found, log = read(listed(tmp_path, [relation(), relation(1, (40, 0, 40.0, 30), image_id=7, obj1_name="cat")]))
    assert log.problems == [] and [one.key for one in found] == ["vg_relation-0", "vg_relation-1"]
    one = found[1]
    assert (one.type, one.subtype, one.origin.row) == ("relation", "watching", 2)
    assert one.images == (ImageRecord("positive", "a.png", crop=(40, 0, 40, 30)),)
    assert one.caption("positive").startswith("the cat") and one.caption("negative").startswith("the bird")
    assert one.meta == {"image_id": 7, "obj1_name": "cat"}


def test_a_pair_of_attributes_is_one_subtype_in_either_order(tmp_path):
    found, _ = read(listed(tmp_path, [attribution(), attribution(1, attributes=["black", "white"])]))
    assert [one.subtype for one in found] == ["black vs white"] * 2
    assert [one.key for one in found] == ["vg_attribution-0", "vg_attribution-1"]


def test_both_lists_of_a_folder_are_read(tmp_path):
    listed(tmp_path, [relation()], "visual_genome_relation.json")
    listed(tmp_path, [attribution()], "visual_genome_attribution.json")
    listed(tmp_path, [], "other.json")
    found, log = read(tmp_path)
    assert {one.key for one in found} == {"vg_relation-0", "vg_attribution-0"}
    assert [note.code for note in log.notes] == ["FILE_IGNORED"] and log.count == 0


@pytest.mark.parametrize(
    ("row", "code", "column", "advice"),
    [
        (relation(bbox_w=...), "COLUMN_MISSING", "bbox_w", "Add the column “bbox_w”"),
        (relation(bbox_w=..., bbox_width=9), "COLUMN_MISSING", "bbox_w", "“bbox_width”"),
        (relation(relation_name=..., relation="on"), "COLUMN_MISSING", "relation_name", "“relation”"),
        (relation(relation_name=..., attribute=["a", "b"]), "COLUMN_MISSING", "attributes", "“attribute”"),
        (relation(true_caption=..., True_Caption="x"), "COLUMN_MISSING", "true_caption", "“True_Caption”"),
        (relation(box=(0.5, 0, 9, 9)), "WRONG_VALUE", "bbox_x", "whole number"),
        (relation(box=("0", 0, 9, 9)), "WRONG_VALUE", "bbox_x", "whole number"),
        (relation(box=(0, True, 9, 9)), "WRONG_VALUE", "bbox_y", "whole number"),
        (relation(box=(0, 0, None, 9)), "WRONG_VALUE", "bbox_w", "whole number"),
        (relation(box=(-1, 0, 9, 9)), "CROP_OUTSIDE", "positive image", "starts at 0"),
        (relation(box=(0, 0, 9, 0)), "CROP_OUTSIDE", "positive image", "at least 1 pixel"),
        (relation(box=(0, 0, 9, -5)), "CROP_OUTSIDE", "positive image", "at least 1 pixel"),
        (relation(image_path=7), "WRONG_VALUE", "image_path", "as text"),
        (relation(relation_name=["on"]), "WRONG_VALUE", "relation_name", "as text"),
        (relation(relation_name=" "), "WRONG_VALUE", "relation_name", "as text"),
        (relation(relation_name="x" * 61), "FIELD_TOO_LONG", "subtype", "60"),
        (attribution(attributes="white"), "WRONG_VALUE", "attributes", "two texts"),
        (attribution(attributes=["white"]), "WRONG_VALUE", "attributes", "two texts"),
        (attribution(attributes=["white", "black", "red"]), "WRONG_VALUE", "attributes", "two texts"),
        (attribution(attributes=["white", 7]), "WRONG_VALUE", "attributes", "two texts"),
        (attribution(attributes=["white", ""]), "WRONG_VALUE", "attributes", "two texts"),
        (relation(true_caption="same", false_caption="same"), "SAME_CAPTIONS", "negative caption", "different"),
        (relation(false_caption=" "), "VALUE_MISSING", "negative caption", "caption"),
        (relation(false_caption="a\0b"), "NUL_CHARACTER", "false_caption", "U+0000"),
        (relation(note="\ud83d"), "BAD_UNICODE", "note", "surrogate"),
        (relation(image_path="http://169.254.169.254/a.png"), "REMOTE_NOT_ALLOWED", "positive image", "not fetch"),
        (relation(image_path="../a.png"), "UNSAFE_PATH", "positive image", ".."),
        (relation(image_path="/etc/passwd"), "UNSAFE_PATH", "positive image", "relative"),
        (relation(image_path="C:\\a.png"), "UNSAFE_PATH", "positive image", "/"),
        (relation(field_order=["x"]), "WRONG_VALUE", "field_order", "Rename"),
        ([1], "JSON_INVALID", "", "object"),
    ],
)
def test_a_wrong_row_is_named_with_what_to_do(tmp_path, row, code, column, advice):
    _, log = read(listed(tmp_path, [row, relation(1)] if isinstance(row, list) else [row]))
    assert [(problem.code, problem.row, problem.column) for problem in log.problems] == [(code, 1, column)]
    assert advice in log.problems[0].advice and log.problems[0].file == "list.json"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "EMPTY_FILE"), ("[]", "NO_ROWS"), ("{}", "JSON_INVALID"), ("null", "JSON_INVALID"), ("[", "JSON_INVALID"),
        ('[{"a": 1, "a": 2}]', "JSON_INVALID"), ("[NaN]", "JSON_INVALID"), ("[" * 70 + "]" * 70, "JSON_TOO_DEEP"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_list_of_rows_is_refused(tmp_path, text, code):
    (tmp_path / "list.json").write_text(text)
    found, log = read(tmp_path / "list.json")
    assert found == [] and [problem.code for problem in log.problems] == [code]


def test_a_folder_without_the_lists_is_refused(tmp_path):
    assert [problem.code for problem in read(tmp_path)[1].problems] == ["NO_ROWS"]


# Writing


@pytest.mark.parametrize("row", [relation(), attribution(), ODD, attribution(image_id="1", relation_name="on")])
def test_the_same_bytes_come_out(tmp_path, row):
    found, log = read(listed(tmp_path, [row]))
    assert log.problems == []
    ((name, data),) = aro.write(found)
    assert data == json.dumps([row]).encode()
    assert name == f"visual_genome_{found[0].type}.json"


def test_further_fields_come_after_the_own_in_alphabetical_order(tmp_path):
    row = relation(image_id=1, b=2, a=3)
    found, _ = read(listed(tmp_path, [row]))
    assert found[0].meta["field_order"] == list(row)
    shuffled = {"zz": 1, **relation(a=2)}
    edited = read(listed(tmp_path, [shuffled]))[0][0]
    edited.meta.pop("zz")  # somebody changed what is known of the item: the order that was kept no longer fits
    assert list(json.loads(next(aro.write([edited]))[1])[0]) == list(relation(a=2))
