"""VISLA's two tables: what becomes of a row, rows with gaps, and back to the same bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.formats import visla
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.writing import without_images
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin
from tests.benchmarks.bad_inputs.case import written
from tests.benchmarks.bad_inputs.sources import GENERIC, SPATIAL, triplet, tsv

TEXT = st.text(st.characters(exclude_characters="\t\r\n\0", exclude_categories=["Cs"]), min_size=1).filter(str.strip)


def read(path, skip_incomplete: bool = False) -> tuple[list[ItemRecord], ProblemLog]:
    log = ProblemLog(skip_incomplete)
    return check_records(visla.FORMAT.read(path, log), log, visla.FORMAT.keeps_same), log


def table(folder, *rows: list[str], header: list[str] = GENERIC):
    return written(folder, "a.tsv", tsv(*rows, header=header))


def back(records) -> dict[str, str]:
    return {name: content.decode() for name, content in visla.write(records)}


def test_a_generic_row(tmp_path):
    found, _ = read(table(tmp_path, triplet(), triplet(2, caption='A "red" cup.')))
    assert found[1] == ItemRecord(
        key="generic-1", type="generic", subtype="",
        captions=(
            CaptionRecord("positive", 'A "red" cup.'),
            CaptionRecord("second_positive", "2 books under a cup."),
            CaptionRecord("negative", "A cup under 2 books."),
        ),
        images=(ImageRecord("positive", "2.jpg"),), origin=Origin("a.tsv", 3),
    )  # fmt: skip


def test_a_spatial_row_keeps_its_irrelevant_reference(tmp_path):
    row = ["1.jpg", "The cat is on the bed.", "The bed is beneath the cat.", "The cat is under the bed.", "A cow."]
    found, log = read(table(tmp_path, row, header=SPATIAL))
    assert (found[0].key, found[0].type, found[0].meta) == ("spatial-0", "spatial", {"irrelevant_reference": "A cow."})
    assert found[0].caption("negative") == "The cat is under the bed." and log.count == 0


def test_a_gap_is_refused_with_its_row_or_left_out(tmp_path):
    path = table(tmp_path, triplet(), triplet(2, negative_caption="", caption=" "), triplet(3))
    log = read(path)[1]
    assert [(p.code, p.row, p.column) for p in log.problems] == [("INCOMPLETE_ROW", 3, "caption, negative_caption")]
    found, log = read(path, skip_incomplete=True)
    assert [item.key for item in found] == ["generic-0", "generic-2"]
    assert (log.count, log.left_out, [note.row for note in log.notes]) == (0, 1, [3])


def test_gaps_alone_are_no_import(tmp_path):
    log = read(table(tmp_path, triplet(caption="")), skip_incomplete=True)[1]
    assert [problem.code for problem in log.problems] == ["NO_ROWS"]


def test_a_renamed_column_is_recognised(tmp_path):
    log = read(table(tmp_path, triplet(), header=["filename", "caption", "Second_Positive", "negative_caption"]))[1]
    assert log.problems[0].advice == "Rename the column “Second_Positive” to “second positive”."


def test_an_edited_text_changes_its_row_and_nothing_else(tmp_path):
    path = table(tmp_path, *map(triplet, range(5)))
    found, _ = read(path)
    found[2] = found[2].with_captions({"negative": "A cup\tbeside\r\n2 books."})
    was, now = path.read_bytes().decode().split("\r\n"), back(found)["Generic_VISLA.tsv"].split("\r\n")
    assert [number for number in range(6) if was[number] != now[number]] == [3]
    assert now[3].split("\t")[3] == "A cup beside 2 books."


@given(
    rows=st.lists(st.tuples(TEXT, TEXT, TEXT, TEXT), min_size=1, max_size=4), header=st.sampled_from([GENERIC, SPATIAL])
)
def test_reading_and_writing_are_inverse(tmp_path_factory, rows, header):
    content = tsv(*([*row, "x"][: len(header)] for row in rows), header=header)
    path = written(tmp_path_factory.mktemp("visla"), "a.tsv", content)
    found = list(visla.read_items(path, ProblemLog()))
    assert [*back(found).values()] == [content] == [*back(map(without_images, found)).values()]


def test_further_columns_come_back_in_alphabetical_order(tmp_path):
    path = table(tmp_path, [*triplet(), "b", "c"], header=[*GENERIC, "a note", "source"])
    found, log = read(path)
    assert back(found)["Generic_VISLA.tsv"] == path.read_bytes().decode()
    assert [note.code for note in log.notes] == ["EXTRA_COLUMN"] * 2


@pytest.mark.real
def test_the_real_generic_table(real):
    path = real / "data/visla/Generic_VISLA.tsv"
    found, log = read(path)
    assert (len(found), log.count, log.note_count) == (973, 0, 0)
    assert sum('"' in caption.text for item in found for caption in item.captions) > 0
    assert dict(visla.write(found)) == {path.name: path.read_bytes()}


@pytest.mark.real
def test_the_real_spatial_table(real):
    path = real / "data/visla/Spatial_VISLA.tsv"
    gaps = [111, 174, 206, 222, 231, 257, 258, 259, 267, 283, 288, 295]
    log = read(path)[1]
    assert [(problem.code, problem.row) for problem in log.problems] == [("INCOMPLETE_ROW", row) for row in gaps]
    found, log = read(path, skip_incomplete=True)
    assert (len(found), log.count, log.left_out) == (640, 0, 12)
    assert [(note.code, note.row) for note in log.notes if note.code == "SAME_CAPTIONS"] == [
        ("SAME_CAPTIONS", 430),
        ("SAME_CAPTIONS", 524),
    ]
    whole = [line for number, line in enumerate(path.read_bytes().split(b"\r\n"), 1) if number not in gaps]
    assert dict(visla.write(found)) == {path.name: b"\r\n".join(whole)}
