"""Parquet with the images inside: read as it is, streamed, and refused where it is anything else."""

import hashlib

import pyarrow as pa
import pytest

from benchmarks.formats import limits, parquet
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.registry import FORMATS
from tests.benchmarks.bad_inputs.case import picture
from tests.builders.parquet_files import bivlc, bivlc_row, embedded, stored, table

pytestmark = pytest.mark.usefixtures("parquet_trial_in_process")
BIVLC = FORMATS["bivlc-parquet"]


def read(path, **how):
    log = ProblemLog(**how)
    return check_records(BIVLC.read(path, log), log), log


def codes(path, **how) -> list[tuple]:
    return [(problem.code, problem.row, problem.column) for problem in read(path, **how)[1].problems]


def test_a_row_becomes_an_item(tmp_path):
    (one, two), log = read(bivlc(tmp_path, bivlc_row(1), bivlc_row(2)))
    assert (one.key, one.type, one.subtype, two.key, two.origin.row) == ("bivlc-0", "swap", "att", "bivlc-1", 2)
    assert [(caption.role, caption.text) for caption in one.captions] == [
        ("positive", "A red cup, 1."),
        ("negative", "A blue cup, 1."),
    ]
    assert [(image.role, image.name) for image in one.images] == [("positive", "1.jpg"), ("negative", "1-n.jpg")]
    assert log.problems == []


def test_its_images_are_a_source(tmp_path):
    source = BIVLC.images(bivlc(tmp_path, bivlc_row(1), bivlc_row(2)))
    assert source.names == ["1.jpg", "1-n.jpg", "2.jpg", "2-n.jpg"]
    assert dict(source.stream(["2.jpg", "1-n.jpg", "gone.jpg"])) == {"1-n.jpg": picture(101), "2.jpg": picture(2)}


def test_one_path_with_two_contents_is_two_images(tmp_path):
    same = bivlc_row(1, negative_image=embedded(5, path="1.jpg"))
    path = bivlc(tmp_path, same, bivlc_row(2, image=embedded(1), negative_image=embedded(6, path=None)))
    (one, two), _ = read(path)
    contents = dict(BIVLC.images(path).stream([image.name for item in (one, two) for image in item.images]))
    digests = [hashlib.sha256(picture(number)).hexdigest() for number in (5, 6)]
    assert [image.name for image in one.images] == ["1.jpg", f"{digests[0]}/1.jpg"]
    assert [image.name for image in two.images] == ["1.jpg", digests[1]]
    assert [contents[image.name] for image in one.images] == [picture(1), picture(5)]


def test_shards_are_read_in_the_order_of_their_names(tmp_path):
    for number in (2, 1):
        stored(tmp_path / "shards", table([bivlc_row(number)]), f"train-0000{number}-of-00002.parquet")
    items, _ = read(tmp_path / "shards")
    assert [(item.key, item.caption("positive"), item.origin.row) for item in items] == [
        ("bivlc-0", "A red cup, 1.", 1),
        ("bivlc-1", "A red cup, 2.", 1),
    ]
    assert len(BIVLC.images(tmp_path / "shards").names) == 4


def test_ids_and_further_columns_are_kept_as_they_are(tmp_path):
    row = bivlc_row(1, id="007", note="NA", score=2**53 + 1, sure=True, gone=None)
    types = {"score": pa.int64(), "sure": pa.bool_(), "gone": pa.float64()}
    (item,), log = read(bivlc(tmp_path, row, **types))
    assert (item.key, item.meta) == ("007", {"note": "NA", "score": 2**53 + 1, "sure": True})
    assert log.noted["EXTRA_COLUMN"] == 4


@pytest.mark.parametrize("writer", [{"row_group_size": 1}, {"compression": "zstd"}, {"version": "1.0"}])
def test_however_it_was_packed(tmp_path, writer):
    path = stored(tmp_path, table([bivlc_row(1), bivlc_row(2)]), **writer)
    assert [item.key for item in read(path)[0]] == ["bivlc-0", "bivlc-1"]


@pytest.mark.parametrize(
    ("column", "kind", "value", "found"),
    [
        ("id", pa.float64(), 1.0, "double"),
        ("id", pa.int64(), 1, "int64"),
        ("caption", pa.list_(pa.string()), ["A cup."], "list<element: string>"),
        ("caption", pa.binary(), b"A cup.", "binary"),
        ("type", pa.dictionary(pa.int32(), pa.string()), "swap", "dictionary<values=string, indices=int32, ordered=0>"),
        ("image", pa.string(), "1.jpg", "string"),
        ("image", pa.binary(), b"1", "binary"),
        ("note", pa.timestamp("us", tz="UTC"), 1, "timestamp[us, tz=UTC]"),
        ("note", pa.struct([("a", pa.string())]), {"a": "b"}, "struct<a: string>"),
    ],
)
def test_a_column_of_another_kind_is_told_with_what_was_expected(tmp_path, column, kind, value, found):
    path = bivlc(tmp_path, bivlc_row(1, **{column: value}), **{column: kind})
    _, log = read(path)
    (problem,) = log.problems
    assert (problem.code, problem.column) == ("SCHEMA", column)
    assert problem.advice.startswith("Expected ") and f"found {found}. " in problem.advice


def test_every_wrong_column_is_listed(tmp_path):
    row = bivlc_row(1, subtype=1, Caption="A cup.")
    del row["caption"]
    assert codes(bivlc(tmp_path, row, subtype=pa.int32())) == [
        ("COLUMN_MISSING", None, "caption"),
        ("SCHEMA", None, "subtype"),
    ]


def test_extension_types_are_refused(tmp_path):
    field = pa.field("caption", pa.string(), metadata={"ARROW:extension:name": "their.code"})
    made = table([bivlc_row(1)])
    path = stored(tmp_path, made.cast(made.schema.set(made.schema.get_field_index("caption"), field)))
    assert codes(path) == [("SCHEMA", None, "caption")]
    made = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16)))
    assert codes(stored(tmp_path, table([bivlc_row(1)]).append_column("note", made))) == [("SCHEMA", None, "note")]


def test_null_cells_are_an_incomplete_row_once(tmp_path):
    path = bivlc(tmp_path, bivlc_row(1, caption=None, type=None), bivlc_row(2))
    assert codes(path) == [("INCOMPLETE_ROW", 1, "caption, type")]
    items, log = read(path, skip_incomplete=True)
    assert ([item.key for item in items], log.left_out, log.problems) == (["bivlc-1"], 1, [])


def test_an_item_may_have_no_image_and_a_note_says_so(tmp_path):
    items, log = read(bivlc(tmp_path, bivlc_row(1, negative_image=None), bivlc_row(2, negative_image=None)))
    assert [image.role for image in items[0].images] == ["positive"]
    assert (log.problems, log.noted["IMAGE_ABSENT"]) == ([], 1)


@pytest.mark.parametrize(
    ("text", "code"), [(b"caf\xe9", "ENCODING"), (b"A \xed\xa0\xbd cup.", "BAD_UNICODE"), (b"A\0cup.", "NUL_CHARACTER")]
)
def test_text_that_cannot_be_stored_is_named(tmp_path, text, code):
    """Arrow writes any bytes as a string."""
    offsets, data = pa.py_buffer(b"".join(n.to_bytes(4, "little") for n in (0, len(text)))), pa.py_buffer(text)
    made = table([bivlc_row(1)])
    column = pa.StringArray.from_buffers(1, offsets, data)
    path = stored(tmp_path, made.set_column(made.schema.get_field_index("caption"), "caption", column))
    assert codes(path) == [(code, 1, "caption")]


def test_rows_beyond_the_limit_are_refused_by_what_the_file_says(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_ROWS", 2)
    rows = [bivlc_row(number) for number in range(3)]
    assert codes(bivlc(tmp_path, *rows)) == [("TOO_MANY_ROWS", None, "")]
    for number in range(3):
        stored(tmp_path / "shards", table([rows[number]]), f"{number}.parquet")
    assert codes(tmp_path / "shards") == [("TOO_MANY_ROWS", 1, "")]


def test_the_formats_are_those_of_every_split_that_is_exported():
    splits = [{**format.split} for format in FORMATS.values() if not format.images]
    assert all(split in [{**format.split} for format in parquet.FORMATS] for split in splits)
