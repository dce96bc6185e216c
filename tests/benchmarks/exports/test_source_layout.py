"""The whole way: a published file into the database by command, and out again to the same bytes."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchmarks import queries
from benchmarks.models import Caption, Item, Job
from tests.benchmarks.bad_inputs.case import written
from tests.benchmarks.bad_inputs.sources import hard, sides, triplet, tsv, vl_row
from tests.benchmarks.bad_inputs.texts import crepe_row
from tests.builders import imports

pytestmark = pytest.mark.django_db(transaction=True)  # a snapshot needs a transaction of its own


def bring(format: str, path: Path, name: str = "B", **options) -> str:
    said = StringIO()
    call_command("import_benchmark", format, str(path), name=name, text_only=True, stdout=said, **options)
    return said.getvalue()


def out(folder: Path, name: str = "B") -> dict[str, bytes]:
    """What the command writes, by file name."""
    call_command("export_source", name, out=folder / "out", stdout=StringIO())
    files = [path for path in (folder / "out").rglob("*") if path.is_file()]
    return {path.relative_to(folder / "out").as_posix(): path.read_bytes() for path in files}


def refused(folder: Path, name: str = "B") -> str:
    with pytest.raises(CommandError) as refusal:
        out(folder, name)
    return str(refusal.value)


@pytest.mark.real
class TestRealFiles:
    @pytest.mark.nightly
    def test_generic_visla(self, real, tmp_path):
        path = real / "data/visla/Generic_VISLA.tsv"
        assert "973 items, 2,919 captions" in bring("visla", path)
        assert out(tmp_path) == {path.name: path.read_bytes()}

    def test_spatial_visla(self, real, tmp_path):
        path = real / "data/visla/Spatial_VISLA.tsv"
        with pytest.raises(CommandError, match="12 problems"):
            bring("visla", path)
        assert not Item.objects.exists()
        said = bring("visla", path, skip_incomplete=True)
        assert "640 items" in said and "12 incomplete rows skipped" in said
        assert said.count("note: INCOMPLETE_ROW") == 12
        lines = path.read_bytes().split(b"\r\n")
        assert out(tmp_path)[path.name].split(b"\r\n") == [line for line in lines if not line.endswith(b"\t\t")]

    @pytest.mark.nightly
    def test_hard_positives(self, real, tmp_path):
        """One of the two sets; test_formats_sides reads and writes both."""
        folder, name = real / "data/hard_positives", "vl_checklist_attributes.json"
        bring("hard-positives", folder / "original" / name, second=folder / "hard_positive" / name)
        assert Item.objects.filter(type="replace", subtype="att").count() == 10_575
        sides = ("original", "hard_positive")
        assert out(tmp_path) == {f"{side}/{name}": (folder / side / name).read_bytes() for side in sides}

    def test_swapped_objects_of_sugarcrepe(self, real, tmp_path):
        path = real / "data/sugarcrepe/swap_obj.json"
        assert "245 items" in bring("sugarcrepe", path)
        assert out(tmp_path) == {path.name: path.read_bytes()}

    @pytest.mark.nightly
    def test_sugarcrepe(self, real, tmp_path):
        folder = real / "data/sugarcrepe"
        bring("sugarcrepe", folder)
        counts = {f"{kind['type']}_{kind['subtype']}": kind["count"] for kind in queries.kinds(Item.objects.all())}
        assert counts == {
            "add_att": 692, "add_obj": 2062, "replace_att": 788, "replace_obj": 1652, "replace_rel": 1406,
            "swap_att": 666, "swap_obj": 245,
        }  # fmt: skip
        assert out(tmp_path) == {path.name: path.read_bytes() for path in folder.glob("*.json")}


def test_with_images_and_in_two_imports(tmp_path):
    rows = [{"0": crepe_row(filename="0.jpg")}, {"0": crepe_row(filename="1.jpg", source="x")}]
    images = imports.archive(tmp_path, ["0.jpg", "1.jpg"])
    for name, content in zip(("swap_obj.json", "add_att.json"), rows, strict=True):
        path = written(tmp_path, name, json.dumps(content))
        assert imports.imported(path, images, format="sugarcrepe", name="B").state == "done"
    written_back = {name: json.loads(content) for name, content in out(tmp_path).items()}
    assert written_back == {"swap_obj.json": rows[0], "add_att.json": rows[1]}


def test_an_edited_caption_changes_its_row_alone(tmp_path):
    bring("visla", written(tmp_path, "a.tsv", tsv(*map(triplet, range(3)))))
    Caption.objects.filter(item__key="generic-1", role="negative").update(text="Another.")
    expected = tsv(triplet(0), triplet(1, negative_caption="Another."), triplet(2))
    assert out(tmp_path) == {"Generic_VISLA.tsv": expected.encode()}


def test_origins_and_a_second_side_by_command(tmp_path):
    row = crepe_row(negative_caption="A cup red.")
    whole = sides(tmp_path, "", {"first/swap_obj.json": {"0": crepe_row()}, "second/swap_obj.json": {"3": row}}).path
    given = {"second": whole / "second" / "swap_obj.json", "origins": ["Ours", " Theirs"]}
    bring("sugarcrepe-compare", whole / "first" / "swap_obj.json", **given)
    assert Item.objects.get().meta["origins"] == ["Ours", "Theirs"]
    assert json.loads(out(tmp_path)["second/swap_obj.json"]) == {"3": row}


@pytest.mark.parametrize(
    ("format", "options", "word"),
    [
        ("visla", {"second": "."}, "has no second side"),
        ("hard-positives", {"origins": ["A", "B"]}, "does not accept names for its sides"),
        ("sugarcrepe-compare", {"origins": ["A", "A "]}, "different names"),
        ("sugarcrepe-compare", {"origins": ["A", " "]}, "1 to 60 characters"),
        ("hard-positives", {"second": "nowhere"}, "There is no nowhere"),
    ],
)
def test_what_the_command_refuses(tmp_path, format, options, word):
    with pytest.raises(CommandError, match=word):
        bring(format, tmp_path, **options)
    assert not Job.objects.exists()


def test_skip_incomplete_holds_for_every_format(tmp_path):
    gap = [{"role": "positive", "text": " "}, {"role": "negative", "text": "A cup."}]
    path = imports.manifest(tmp_path, [imports.item(0), imports.item(1, captions=gap)])
    with pytest.raises(CommandError):
        bring("jsonl", path)
    assert "1 incomplete rows skipped" in bring("jsonl", path, skip_incomplete=True)
    assert [item.key for item in Item.objects.all()] == ["i0"]


class TestRefusals:
    def test_several_formats(self, tmp_path):
        bring("hard-positives", hard(tmp_path, [vl_row()], [vl_row(caption="cup atop book")]).path)
        bring("jsonl", imports.manifest(tmp_path, [imports.item(1)]))
        assert "several formats (hard-positives, jsonl)" in refused(tmp_path)

    def test_new_candidates_are_no_other_format(self, tmp_path):
        bring("sugarcrepe", written(tmp_path, "swap_obj.json", json.dumps({"0": crepe_row()})))
        captions = [{"role": "positive", "text": "A red cup."}, {"role": "negative", "text": "A blue cup."}]
        fields = {"id": "swap_obj-0", "type": "swap", "subtype": "obj", "captions": captions}
        new = {**imports.item(0), **fields, "images": [{"role": "candidate", "file": "x.jpg"}]}
        path = imports.manifest(tmp_path, [new])
        job = imports.imported(path, imports.archive(tmp_path, ["x.jpg"]), name="B", new_candidates=True)
        assert job.state == "done", job.problems
        assert [*out(tmp_path)] == ["swap_obj.json"]

    def test_a_format_that_is_not_written(self, tmp_path):
        bring("jsonl", imports.manifest(tmp_path, [imports.item(1)]))
        assert "came as jsonl, which Winnow cannot write" in refused(tmp_path)

    def test_a_folder_that_holds_something_and_an_unknown_name(self, tmp_path):
        bring("visla", written(tmp_path, "a.tsv", tsv(triplet())))
        written(tmp_path, "out", "x")
        assert "not empty" in refused(tmp_path)
        assert "There is no benchmark 'C'. The benchmarks are B." in refused(tmp_path, "C")
