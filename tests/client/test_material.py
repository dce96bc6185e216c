"""Rows as the manifest has them: columns named as in releases, DataFrames, and no folder of the sender in a name."""

import io
import json
import zipfile
from pathlib import Path

import numpy
import pandas
import pyarrow
import pytest
from PIL import Image as PIL

from tests.lazy import LazyModule
from winnow_client.material import Material, WrongColumns, write_archive

datasets = LazyModule("datasets")
TWO = [{"role": "positive", "text": "A."}, {"role": "negative", "text": "B."}]


@pytest.mark.parametrize(
    ("row", "item"),
    [
        ({"caption": "A.", "negative_caption": "B."}, {"captions": TWO}),
        ({"id": 7, "captions": TWO, "type": "swap"}, {"id": "7", "captions": TWO, "type": "swap"}),
        ({"captions": {"positive": "A."}, "negative_caption": "B."}, {"captions": TWO}),
        (
            {"prompt_caption": {"text": "A.", "length": 2}, "source": 3},
            {"captions": [{"role": "prompt", "text": "A.", "length": 2}], "meta": {"source": 3}},
        ),
        ({"caption": ["A.", "C."]}, {"captions": [TWO[0], {"role": "positive", "text": "C."}]}),
        (
            {"texts": {"prompt": "A."}, "picture_image": [Path("a.jpg"), {"file": "b.jpg", "model": "m"}]},
            {
                "texts": {"prompt": "A."},
                "images": [{"role": "picture", "file": "a.jpg"}, {"role": "picture", "file": "b.jpg", "model": "m"}],
            },
        ),
        (
            {"images": [{"role": "positive"}, {"role": "negative", "file": "a.jpg"}]},  # the server names the first one
            {"images": [{"role": "positive"}, {"role": "negative", "file": "a.jpg"}]},
        ),
        ({"images": {"positive": "a.jpg"}, "caption": None}, {"images": [{"role": "positive", "file": "a.jpg"}]}),
    ],
)
def test_a_row_becomes_an_item(tmp_path, row, item):
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).touch()
    assert Material([row], tmp_path, tmp_path / "space").items == [{"id": "1", **item}]


def test_a_dataframe_has_nothing_where_it_has_nan(tmp_path):
    rows = pandas.DataFrame({"id": [1, 2], "caption": ["A.", "C."], "type": ["swap", None], "share": [0.5, None]})
    rows["when"] = [pandas.Timestamp("2026-03-02"), pandas.NaT]
    first, second = Material(rows, ".", tmp_path).items
    assert second == {"id": "2", "captions": [{"role": "positive", "text": "C."}]}
    assert first["meta"]["share"] == 0.5 and "2026-03-02" in json.dumps(first, default=str)


def test_images_are_named_below_the_folder_that_they_share(tmp_path):
    for name in ("here/a/1.jpg", "here/b/1.jpg"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(name)
    rows = [{"image": tmp_path / "here/a/1.jpg"}, {"image": "../here/b/1.jpg"}, {"image": "../here/b/1.jpg"}]
    found = Material(rows, tmp_path / "other", tmp_path)
    assert [item["images"][0]["file"] for item in found.items] == ["a/1.jpg", "b/1.jpg", "b/1.jpg"]
    archive = write_archive(found.images, tmp_path / "images.zip")
    with zipfile.ZipFile(archive) as packed:
        assert [(name, packed.read(name)) for name in packed.namelist()] == [
            ("a/1.jpg", b"here/a/1.jpg"),
            ("b/1.jpg", b"here/b/1.jpg"),
        ]
    content = archive.read_bytes()
    assert write_archive(found.images, tmp_path / "again.zip").read_bytes() == content
    zipped = Material([{"image": "a/1.jpg"}, {"image": "b/1.jpg"}], archive, tmp_path)
    assert [*zipped.images] == ["a/1.jpg", "b/1.jpg"] and zipped.sha256("a/1.jpg") == found.sha256("a/1.jpg")
    with pytest.raises(ValueError, match=r"1\.jpg is neither a folder nor a zip"):
        Material([{"image": "1.jpg"}], tmp_path / "here/a/1.jpg", tmp_path)


def test_a_missing_image_is_named_before_anything_is_sent(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"row 2: .*/none\.jpg"):
        Material([{"caption": "A."}, {"image": "none.jpg"}], tmp_path, tmp_path)
    with pytest.raises(ValueError, match="no rows"):
        Material([], ".", tmp_path)


PNG = io.BytesIO()
PIL.new("RGB", (4, 4), (200, 0, 0)).save(PNG, "PNG")


@pytest.mark.parametrize(
    "image",
    [
        PNG.getvalue(),
        PIL.open(io.BytesIO(PNG.getvalue())),
        numpy.array(PIL.open(io.BytesIO(PNG.getvalue()))),
        {"bytes": PNG.getvalue(), "path": "here.png"},
        {"bytes": None, "path": "a.png"},
        {"role": "positive", "file": PNG.getvalue()},
        "a.png",
        Path("a.png"),
    ],
    ids=lambda image: type(image).__name__,
)
def test_an_image_is_a_path_bytes_a_picture_or_an_array(tmp_path, image):
    (tmp_path / "a.png").write_bytes(PNG.getvalue())
    space = tmp_path / "space"
    space.mkdir()
    column = "images" if isinstance(image, dict) and "role" in image else "image"
    row = {column: [image] if column == "images" else image, "caption": "A."}
    (path,) = Material([row], tmp_path, space).images.values()
    assert numpy.array(PIL.open(path)).tolist() == numpy.array(PIL.open(PNG)).tolist()


def _dataset(rows):
    return datasets.Dataset.from_list(rows).cast_column("image", datasets.Image())


def _stream(rows):
    return pyarrow.Table.from_pylist(rows).to_reader()


@pytest.mark.parametrize("shape", [(2, 2), (2, 2, 3), (2, 2, 5)], ids=str)
def test_an_array_that_is_no_picture_names_its_row_and_what_to_give(tmp_path, shape):
    rows = [{"caption": "A.", "image": PNG.getvalue()}, {"caption": "B.", "image": numpy.zeros(shape, "float32")}]
    with pytest.raises(ValueError, match=r"^Row 2: this ndarray float32 .* as uint8\.$"):
        Material(rows, ".", tmp_path)


@pytest.mark.parametrize(
    "table", [iter, pandas.DataFrame, pyarrow.Table.from_pylist, _stream, _dataset], ids=lambda make: make.__name__
)
def test_rows_come_from_tables_of_every_kind(tmp_path, table):
    rows = [{"id": "a", "caption": "A.", "image": PNG.getvalue()}, {"id": "b", "caption": "B.", "image": None}]
    found = Material(table(rows), ".", tmp_path)
    assert [item["id"] for item in found.items] == ["a", "b"] and "images" not in found.items[1]
    assert [path.read_bytes() for path in found.images.values()] == [PNG.getvalue()]


def test_rows_come_from_files(tmp_path):
    frame = pandas.DataFrame({"id": ["a"], "caption": ["A."], "negative_caption": [None]})
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    found = [Material(tmp_path / f"rows.{kind}", ".", tmp_path).items for kind in ("parquet", "csv", "jsonl")]
    assert found == [[{"id": "a", "captions": TWO[:1]}]] * 3
    with pytest.raises(ValueError, match="is not rows"):
        Material(tmp_path / "rows", ".", tmp_path)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("captoin", "caption"), ("Image 1", "image_1"), ("negativ_caption", "negative_caption"), ("text", "texts")],
)
def test_a_misspelt_column_is_told(tmp_path, name, meant):
    rows = [{"caption": "A.", name: "B.", "source": "x", "caption_id": 3}]
    with pytest.raises(WrongColumns, match=f"“{name}” is not known. Did you mean “{meant}”"):
        Material(rows, ".", tmp_path)
    found = Material(rows, ".", tmp_path, meta=[name])
    assert found.items[0]["meta"] == {name: "B.", "source": "x", "caption_id": 3}
    assert found.columns["source"].startswith("meta") and found.columns["caption"] == "caption in the role positive"
