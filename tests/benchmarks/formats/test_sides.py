"""Formats with two sides: Hard Positives, matched by position, and two origins of negatives, matched by content."""

import json
import zipfile
from pathlib import Path

import pytest

from benchmarks.formats import hard_positives, sugarcrepe_compare
from benchmarks.formats.base import Format, ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.records import CaptionRecord, ItemRecord
from tests.benchmarks.bad_inputs.case import written
from tests.benchmarks.bad_inputs.sources import hard, sides, vl_row
from tests.benchmarks.bad_inputs.texts import crepe_row

RELATIONS = "vl_checklist_relations.json"
ATTRIBUTES = "vl_checklist_attributes.json"
SETS = {ATTRIBUTES: (10_575, 186, 1), RELATIONS: (16_868, 1_403, 15)}  # rows, same items, same captions
PAIR = [vl_row(n) for n in range(3)], [vl_row(n, "cup atop book") for n in range(3)]


def read(format: Format, path: Path, skip_incomplete: bool = False, **given) -> tuple[list[ItemRecord], ProblemLog]:
    log = ProblemLog(skip_incomplete)
    return check_records(format.read(path, log, **given), log, format.keeps_same), log


def texts(item: ItemRecord) -> list[tuple[str, str]]:
    return [(caption.role, caption.text) for caption in item.captions]


@pytest.fixture(scope="module", params=[ATTRIBUTES, pytest.param(RELATIONS, marks=pytest.mark.nightly)])
def one_set(request, real) -> tuple[str, list[ItemRecord], ProblemLog]:
    """A file of the real hard positives with its other side, read once."""
    folder, name = real / "data/hard_positives", request.param
    return name, *read(hard_positives.FORMAT, folder / "original" / name, second=folder / "hard_positive" / name)


class TestHardPositives:
    def read(self, path, **given):
        return read(hard_positives.FORMAT, path, **given)

    def test_a_row_of_both_sides(self, tmp_path):
        found, log = self.read(hard(tmp_path, *PAIR).path)
        item = found[2]
        assert (item.key, item.type, item.subtype) == ("relations-2", "replace", "rel")
        assert texts(item) == [
            ("positive", "cup on book"),
            ("second_positive", "cup atop book"),
            ("negative", "cup off book"),
        ]
        assert item.images[0].name == "data/2.jpg" and item.meta == {"image_id": "2"}
        assert log.count == 0 and log.noted == {"SUBSET_MISSING": 1}

    def test_files_folders_and_one_zip_say_the_same(self, tmp_path):
        whole = hard(tmp_path, *PAIR).path
        with zipfile.ZipFile(tmp_path / "both.zip", "w") as packed:
            for side in ("original", "hard_positive"):
                packed.write(whole / side / RELATIONS, f"release/{side}/{RELATIONS}")
        loose = written(tmp_path, "anything.json", json.dumps(PAIR[1]))
        ways = [
            (whole, {}),
            (tmp_path / "both.zip", {}),
            (whole / "original", {"second": whole / "hard_positive"}),
            (whole / "original" / RELATIONS, {"second": loose}),
        ]
        read = [self.read(path, **given) for path, given in ways]
        assert [log.count for _, log in read] == [0] * 4 and all(found == read[0][0] for found, _ in read)

    def test_a_mismatch_names_both_rows(self, tmp_path):
        log = self.read(hard(tmp_path, PAIR[0], [PAIR[1][0], PAIR[1][2], PAIR[1][1]]).path)[1]
        assert [(problem.row, problem.column) for problem in log.problems] == [
            (2, "image_id, image_path"),
            (3, "image_id, image_path"),
        ]
        assert log.problems[0].file == f"hard_positive/{RELATIONS}"
        assert f"“2” here, “1” in row 2 of original/{RELATIONS}" in log.problems[0].advice

    def test_different_lengths_are_told_once(self, tmp_path):
        log = self.read(hard(tmp_path, PAIR[0][:1], PAIR[1]).path)[1]
        assert [(p.code, p.file, p.row) for p in log.problems] == [("SIDES_DIFFER", f"original/{RELATIONS}", 2)]

    def test_a_negative_that_is_the_positive_is_noted(self, tmp_path):
        same = {"false_caption": "cup on book"}
        found, log = self.read(hard(tmp_path, [vl_row(**same)], [vl_row(caption="cup atop book", **same)]).path)
        assert len(found) == 1 and [note.code for note in log.notes if note.row] == ["SAME_CAPTIONS"]

    def test_back_to_both_files_with_fields_of_their_own(self, tmp_path):
        path = hard(tmp_path, [vl_row(split="a")], [vl_row(caption="cup atop book", split="b")]).path
        for name, content in hard_positives.write(self.read(path)[0]):
            assert content == (path / name).read_bytes()

    def test_an_edit_changes_its_row_and_nothing_else(self, tmp_path):
        found, _ = self.read(hard(tmp_path, *PAIR).path)
        found[1] = found[1].with_captions({"second_positive": "cup upon book"})
        files = {name: json.loads(content) for name, content in hard_positives.write(found)}
        assert files[f"original/{RELATIONS}"] == PAIR[0]
        assert files[f"hard_positive/{RELATIONS}"] == [PAIR[1][0], vl_row(1, "cup upon book"), PAIR[1][2]]

    @pytest.mark.real
    def test_the_real_files(self, real, one_set):
        folder, (name, found, log) = real / "data/hard_positives", one_set
        rows, same_items, same_captions = SETS[name]
        assert (len(found), log.count) == (rows, 0)
        assert log.noted == {"SAME_ITEM": same_items, "SAME_CAPTIONS": same_captions, "SUBSET_MISSING": 1}
        for path, content in hard_positives.write(found):
            assert content == (folder / path).read_bytes()

    @pytest.mark.real
    def test_a_part_of_the_real_files(self, real, one_set):
        folder, found = real / "data/hard_positives", one_set[1][5::7]
        for path, content in hard_positives.write(found):
            rows = json.loads((folder / path).read_bytes())
            assert content == json.dumps([rows[int(item.key.split("-")[1])] for item in found]).encode()


class TestTwoOrigins:
    FIRST = {"0": crepe_row(), "4": crepe_row(filename="2.jpg", negative_caption="A green cup.")}
    SECOND = {
        "7": crepe_row(filename="2.jpg", negative_caption="A cup red."),
        "9": crepe_row(negative_caption="Red a."),
    }

    def read(self, tmp_path, first=FIRST, second=SECOND, **given):
        whole = sides(tmp_path, "", {"first/swap_obj.json": first, "second/swap_obj.json": second})
        return read(sugarcrepe_compare.FORMAT, whole.path, **given)

    def test_rows_are_matched_by_image_and_caption(self, tmp_path):
        found, log = self.read(tmp_path)
        assert [item.key for item in found] == ["swap_obj-0", "swap_obj-4"] and log.count == 0
        assert found[1].captions == tuple(
            CaptionRecord(role, text)
            for role, text in [("positive", "A red cup."), ("negative", "A green cup."), ("negative", "A cup red.")]
        )
        assert (found[1].type, found[1].subtype) == ("swap", "obj")
        assert found[1].meta == {"origins": ["SUGARCREPE", "ARO+CREPE"], "rows": ["4", "7"]}

    def test_the_origins_have_names(self, tmp_path):
        assert self.read(tmp_path, origins=("Ours", "Theirs"))[0][0].meta["origins"] == ["Ours", "Theirs"]

    def test_a_caption_that_comes_twice_is_matched_in_order(self, tmp_path):
        twice = {key: crepe_row(negative_caption=f"Negative {key}.") for key in ("0", "1")}
        found, _ = self.read(tmp_path, first=twice, second=twice)
        assert [item.meta["rows"] for item in found] == [["0", "0"], ["1", "1"]]

    def test_what_one_side_alone_has_is_refused_or_left_out(self, tmp_path):
        more = {**self.SECOND, "8": crepe_row(caption="A dog.")}
        log = self.read(tmp_path / "a", first={"0": self.FIRST["0"]}, second=more)[1]
        assert [(p.code, p.file, p.row) for p in log.problems] == [
            ("ONE_SIDED", "second/swap_obj.json", 1),
            ("ONE_SIDED", "second/swap_obj.json", 3),
        ]
        found, log = self.read(tmp_path / "b", first={"0": self.FIRST["0"]}, second=more, skip_incomplete=True)
        assert (len(found), log.count, log.left_out) == (1, 0, 2)

    def test_a_file_of_one_side_counts_as_many_rows_as_it_has(self, tmp_path):
        files = {f"{side}/swap_obj.json": self.FIRST for side in ("first", "second")}
        whole = sides(tmp_path, "", {**files, "first/add_att.json": self.FIRST}).path
        log = read(sugarcrepe_compare.FORMAT, whole, skip_incomplete=True)[1]
        assert log.left_out == 2 and log.noted["SAME_NEGATIVE"] == 2

    def test_back_to_both_sides(self, tmp_path):
        found, _ = self.read(tmp_path)
        files = {name: json.loads(content) for name, content in sugarcrepe_compare.write(found)}
        assert files == {"first/swap_obj.json": self.FIRST, "second/swap_obj.json": self.SECOND}

    @pytest.mark.real
    def test_the_real_files_beside_themselves(self, real):
        folder = real / "data/sugarcrepe"
        found, log = read(sugarcrepe_compare.FORMAT, folder, second=folder)
        assert (len(found), log.count, log.noted["SAME_NEGATIVE"]) == (7511, 0, 7511)
        for name, content in sugarcrepe_compare.write(found):
            assert content == (folder / Path(name).name).read_bytes()
