"""A release's items.jsonl and shards, read as they are and refused where they do not belong together."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.registry import FORMATS
from benchmarks.models import Benchmark, Image, ItemImage, Job
from benchmarks.predictions.plan import kind_of
from tests.benchmarks.bad_inputs.case import picture
from tests.builders import imports
from tests.builders.parquet_files import stored, table
from tests.builders.release_files import embedded, image, line, release, row, whole, write_lines

pytestmark = pytest.mark.usefixtures("parquet_trial_in_process")
RELEASE = FORMATS["release"]


def read(path, **how):
    log = ProblemLog(**how)
    return check_records(RELEASE.read(path, log), log, RELEASE.keeps_same), log


def codes(path) -> list[tuple]:
    return [(problem.code, problem.file, problem.row, problem.column) for problem in read(path)[1].problems]


def test_a_line_becomes_an_item_with_the_image_that_was_chosen(tmp_path):
    (item,), log = read(whole(tmp_path, 1))
    assert (item.key, item.type, item.subtype, item.meta) == ("item-1", "swap", "att", {"from": "here"})
    assert [(one.role, one.text) for one in item.captions] == [
        ("positive", "A red cup, 1."),
        ("negative", "A blue cup, 1."),
    ]
    assert [(one.role, one.name, one.licence, one.attribution) for one in item.images] == [
        ("negative", "1-1.jpg", "MIT", "A. Person"),
        ("positive", "1.jpg", "CC BY 4.0", "A. Person"),
    ]
    assert log.problems == []


def test_its_images_are_those_of_the_shards(tmp_path):
    path = whole(tmp_path, 1)
    (item,), _ = read(path)
    found = dict(RELEASE.images(path).stream([one.file for one in item.images]))
    assert [found[one.file] for one in item.images] == [picture(101), picture(1)]


def test_images_that_are_only_told_of_are_counted(tmp_path):
    (note,) = [note for note in read(whole(tmp_path, 1, 2, 3))[1].notes if note.code == "IMAGE_ABSENT"]
    assert note.advice.startswith("The release lists 3 images")


def test_loose_files_are_the_same_release(tmp_path):
    folder, flat = whole(tmp_path / "a", 1, 20), whole(tmp_path / "b", 1, 20, flat=True)
    stored(flat, table([row(3)]), "judgments.parquet")
    assert read(flat)[0] == read(folder)[0]
    assert read(flat / "items.jsonl")[0] == read(folder)[0]
    assert [note.file for note in read(flat)[1].notes if note.code == "FILE_IGNORED"] == ["judgments.parquet"]
    assert len(RELEASE.images(flat).names) == 4


def test_items_of_several_splits_stand_in_the_order_of_their_lines(tmp_path):
    release(tmp_path, [], [row(2)])
    for number, shard in ((1, "train-00000-of-00002"), (3, "train-00001-of-00002")):
        stored(tmp_path / "data", table([row(number)]), f"{shard}.parquet")
    write_lines(tmp_path, [line(1, split="train"), line(2), line(3, split="train")])
    items, log = read(tmp_path)
    assert ([item.key for item in items], log.problems) == (["item-1", "item-2", "item-3"], [])
    log = ProblemLog()
    assert [item.key for item in RELEASE.read(tmp_path, log, split="train")] == [
        "item-1",
        "item-3",
    ] and not log.problems
    assert list(RELEASE.read(tmp_path, log, split="dev")) == []
    assert [(one.code, one.advice) for one in log.problems] == [
        ("UNKNOWN_SPLIT", "There is no split “dev”. This release has test, train.")
    ]


def test_a_crop_is_told_of_and_not_cut_again(tmp_path):
    (item,), _ = read(release(tmp_path, [cropped()], [row(1)]))
    crop = item.images[1]
    assert (crop.name, crop.crop, crop.part) == ("all.jpg", (5, 6, 24, 16), (crop.file, None))


def cropped() -> dict:
    own = line(1)
    return own | {"images": [own["images"][1], image("positive-0", picture(1), "all.jpg", crop=[5, 6, 24, 16])]}


ITEMS = "items.jsonl"
SHARD = "test-00000-of-00001.parquet"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"captions": {}}, ("WRONG_VALUE", ITEMS, 1, "captions")),
        ({"captions": [{"role": "positive"}]}, ("COLUMN_MISSING", ITEMS, 1, "text")),
        ({"captions": [{"role": "Wrong", "text": "A cup."}]}, ("WRONG_VALUE", ITEMS, 1, "Wrong caption")),
        ({"images": ["1.jpg"]}, ("WRONG_VALUE", ITEMS, 1, "images[0]")),
        ({"images": [image("Gold-0", picture(1), "1.jpg")]}, ("WRONG_VALUE", ITEMS, 1, "images[0].key")),
        ({"images": [image("positive-0", picture(1), "1.jpg")] * 2}, ("WRONG_VALUE", ITEMS, 1, "images[1].key")),
        ({"images": [image("positive-0", picture(1), "../1.jpg")]}, ("UNSAFE_PATH", ITEMS, 1, "positive image")),
        ({"images": [image("positive-0", picture(9), "1.jpg")]}, ("MISSING_IMAGE", ITEMS, 1, "positive image")),
        ({"images": [image("positive-0", picture(1), "1.jpg", chosen=True)]}, ("WRONG_VALUE", ITEMS, 1, "images")),
        ({"split": 1}, ("WRONG_VALUE", ITEMS, 1, "split")),
        ({"split": "train"}, ("SIDES_DIFFER", ITEMS, None, "split")),
        ({"caption": "A cup."}, ("UNKNOWN_FIELD", ITEMS, 1, "caption")),
        ({"id": "item-2"}, ("DUPLICATE_ID", ITEMS, 2, "id")),
    ],
)
def test_what_a_line_may_not_say(tmp_path, change, expected):
    assert expected in codes(release(tmp_path, [line(1, **change), line(2)], [row(1), row(2)]))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"image": {"bytes": picture(1), "path": embedded(picture(20))["path"]}}, ("IMAGE_CORRUPT", SHARD, 1, "image")),
        ({"image": {"bytes": picture(1), "path": "1.jpg"}}, ("IMAGE_CORRUPT", SHARD, 1, "image")),
        ({"image": None}, ("MISSING_IMAGE", ITEMS, 1, "positive image")),
    ],
)
def test_bytes_that_are_not_what_they_are_called(tmp_path, change, expected):
    assert codes(release(tmp_path, [line(1)], [row(1, **change)])) == [expected]


def test_a_shard_that_is_not_there_is_named(tmp_path):
    path = whole(tmp_path, 1)
    (path / "data" / SHARD).rename(path / "data/test-00001-of-00003.parquet")
    assert codes(path) == [("FILE_UNREADABLE", f"test-0000{number}-of-00003.parquet", None, "") for number in (0, 2)]


def test_lines_without_their_rows_are_counted(tmp_path):
    assert ("SIDES_DIFFER", ITEMS, None, "split") in codes(release(tmp_path, [line(1), line(2)], [row(1)]))
    assert codes(release(tmp_path, [line(1)], [row(1), row(2)])) == [("SIDES_DIFFER", ITEMS, None, "split")]


def test_either_half_alone_is_refused(tmp_path):
    path = whole(tmp_path, 1)
    (path / ITEMS).rename(tmp_path / "other.jsonl")
    assert [code for code, *_ in codes(path)] == ["FILE_UNREADABLE"]
    (tmp_path / "alone").mkdir()
    assert [code for code, *_ in codes(write_lines(tmp_path / "alone", [line(1)]))] == ["FILE_UNREADABLE"]


def test_columns_of_another_kind_are_refused(tmp_path):
    write_lines(tmp_path, [line(1)])
    stored(tmp_path / "data", table([row(1, caption=1)], caption=pa.int64()), SHARD)
    assert codes(tmp_path) == [("SCHEMA", SHARD, None, "caption")]


def test_a_manifest_must_be_one(tmp_path):
    path = whole(tmp_path, 1)
    (path / "manifest.json").write_text('{"source_format": 3}')
    assert codes(path) == [("WRONG_VALUE", "manifest.json", None, "source_format")]
    (path / "manifest.json").write_text("{")
    assert [code for code, *_ in codes(path)] == ["JSON_INVALID"]


def test_the_line_of_the_page_is_one(tmp_path):
    page = (imports.ROOT / "docs/reference/formats.md").read_text()
    example = next(found for found in page.splitlines() if found.startswith('{"id"') and '"chosen"' in found)
    (tmp_path / "items.jsonl").write_text(example)
    assert [code for code, *_ in codes(tmp_path)] == ["FILE_UNREADABLE"]  # it lacks a shard and nothing else


# What the items first came as


def came(folder, told: str | None, evaluated: str | None, rows: list[dict], lines: list[dict]) -> str:
    path = release(folder, lines, rows)
    if told is not None:
        evaluation = {"kind": evaluated} if evaluated else None
        (path / "manifest.json").write_text(json.dumps({"source_format": told, "evaluation": evaluation}))
    return RELEASE.first_format(path, read(path)[0], kind_of)


def crepe(number: int) -> dict:
    return {name: cell for name, cell in row(number).items() if name != "negative_image"}


@pytest.mark.parametrize(
    ("told", "evaluated", "kind", "made", "expected"),
    [
        (None, None, "swap", row, "release"),
        (None, None, "swap", crepe, "sugarcrepe-parquet"),
        ("sugarcrepe", "sugarcrepe", "swap", crepe, "sugarcrepe"),
        ("sugarcrepe", "bivlc", "swap", row, "sugarcrepe"),  # images were made for its captions
        ("sugarcrepe", "sugarcrepe", "unknown", crepe, "sugarcrepe-parquet"),  # there is no such file
        ("visla", "sugarcrepe", "swap", crepe, "sugarcrepe-parquet"),  # its columns are others
        ("", "aro", "swap", crepe, "aro-parquet"),  # of several formats, evaluated as the first of them
        ("", None, "swap", crepe, "sugarcrepe-parquet"),
        ("gone", None, "swap", row, "release"),
    ],
)
def test_which_format_the_items_first_came_in(tmp_path, told, evaluated, kind, made, expected):
    lines = [line(1, type=kind, images=line(1)["images"][2:])]
    assert came(tmp_path, told, evaluated, [made(1)], lines) == expected


# All the way


@pytest.mark.django_db
def test_it_is_stored_under_the_names_that_its_source_had(tmp_path, media):
    job = imports.imported(release(tmp_path / "in", [cropped(), line(20)], [row(1), row(20)]), None, format="release")
    assert (job.problems, job.report["items"], job.report["source"]) == ([], 2, "release")
    uses = ItemImage.objects.filter(item__key="item-1").order_by("role")
    assert [(use.role, use.source_name, use.crop, use.image.sha256) for use in uses] == [
        ("negative", "1-1.jpg", None, image("", picture(101), "")["sha256"]),
        ("positive", "all.jpg", [5, 6, 24, 16], image("", picture(1), "")["sha256"]),
    ]
    assert Image.objects.count() == 4
    assert imports.codes(imports.imported(tmp_path / "in", None, format="release")) == ["ALREADY_IMPORTED"]


@pytest.mark.django_db
def test_its_files_together_on_the_page(tmp_path, media, client, eager_tasks, django_capture_on_commit_callbacks):
    path = release(tmp_path / "in", [line(1, images=line(1)["images"][2:])], [crepe(1)], flat=True)
    (path / "manifest.json").write_text('{"source_format": "sugarcrepe"}')
    files = [SimpleUploadedFile(file.name, file.read_bytes()) for file in sorted(path.iterdir())]
    client.force_login(User.objects.create_superuser("ana"))
    with django_capture_on_commit_callbacks(execute=True):
        refused = client.post(reverse("import-new"), {"name": "Cups", "format": "jsonl", "split": "test"})
        client.post(reverse("import-new"), {"name": "Cups", "format": "release", "split": "test", "data": files})
    assert "has no splits" in refused.text
    assert (Job.objects.get().problems, Job.objects.get().params["options"]["split"]) == ([], "test")
    assert (Benchmark.objects.get().source, ItemImage.objects.get().source_name) == ("sugarcrepe", "1.jpg")


@pytest.mark.django_db
def test_the_text_alone_keeps_the_names(tmp_path, media):
    imports.imported(whole(tmp_path / "in", 1), None, format="release", text_only=True)
    item = Benchmark.objects.get().items.get()
    assert item.meta["images_left_out"] == [["negative", "1-1.jpg"], ["positive", "1.jpg"]]
    assert Image.objects.count() == 0


def test_records_are_equal_whatever_file_has_their_images(tmp_path):
    (item,), _ = read(whole(tmp_path, 1))
    other = replace(item.images[0], file="")
    assert other == item.images[0] and other.part != item.images[0].part
