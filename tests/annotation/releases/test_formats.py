"""What holds for every form of a release, and the forms that the `datasets` library reads by itself."""

import hashlib
import io
import json
import os
import pickle
import time

import pandas
import pyarrow.parquet as pq
import pytest
from PIL import Image as Drawing

from annotation.releases import plan as release_plan
from annotation.releases.formats.registry import FORMS
from tests.annotation.releases.kept import COLUMNS, SCHEMA, contents, layout, picture, row, written
from tests.lazy import LazyModule

datasets = LazyModule("datasets")
pytestmark = pytest.mark.usefixtures("offline")
WRITTEN = [name for name, form in FORMS.items() if form.writer]  # item by item
NO_NEGATIVE = {"negative_image": None, "negative_caption": None}


def three_splits():
    return [row(place, split) for place, split in enumerate(["train", "test", "train", "validation", "test", "train"])]


def test_the_registry_has_what_a_plan_may_ask_for():
    assert list(FORMS) == ["parquet", *release_plan.FORMS]
    assert all(form.title and form.what.endswith(".") for form in FORMS.values())


@pytest.mark.parametrize("form", WRITTEN)
def test_the_same_rows_are_the_same_bytes(form, tmp_path, monkeypatch):
    rows = [*three_splits(), row(6, negative_image=None)]
    settings = {"source_format": "sugarcrepe", "shard_bytes": 20_000}
    one = written(form, tmp_path / "one", rows, **settings)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    mask = os.umask(0o077)
    two = written(form, tmp_path / "two", rows, **settings)
    os.umask(mask)
    assert one == two and list(one) == list(two)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") != {}


@pytest.mark.parametrize("form", [form for form in WRITTEN if form != "source"])
def test_every_row_is_counted_in_a_file_that_is_there(form, tmp_path):
    rows = written(form, tmp_path, three_splits(), shard_bytes=12_000)
    assert sum(rows.values()) == 6 * (2 if form == "csv" else 1)
    assert set(rows) <= set(contents(tmp_path))


# Parquet


def test_parquet_loads_decoded_and_typed_with_its_splits(tmp_path):
    written("parquet", tmp_path, three_splits())
    files = {split: str(tmp_path / f"release/data/{split}-*.parquet") for split in ("train", "validation", "test")}
    data = datasets.load_dataset("parquet", data_files=files)
    assert {split: part["id"] for split, part in data.items()} == {
        "train": ["item-0", "item-2", "item-5"],
        "validation": ["item-3"],
        "test": ["item-1", "item-4"],
    }
    first = data["train"][0]
    assert first["image"].size == (200, 190) and first["negative_image"].format == "PNG"
    assert (first["words"], first["hard"]) == (0, True) and data["train"].column_names == list(COLUMNS)


def test_parquet_has_the_layouts_schema_and_the_very_bytes(tmp_path):
    rows = [row(0), row(1, **NO_NEGATIVE)]
    assert written("parquet", tmp_path, rows) == {"data/test-00000-of-00001.parquet": 2}
    table = pq.read_table(tmp_path / "release/data/test-00000-of-00001.parquet")
    assert table.schema.equals(SCHEMA, check_metadata=True)
    assert table.to_pylist() == [dict(one.cells) for one in rows]


def test_a_shard_ends_when_the_next_row_would_pass_the_limit(tmp_path):
    size = sum(len(image["bytes"]) for _, image in row(0).images())
    rows = [row(place, image=picture(0), negative_image=picture(1, "png")) for place in range(5)]
    for limit, found in {2 * size: [2, 2, 1], 2 * size - 1: [1] * 5, 1: [1] * 5, 5 * size: [5]}.items():
        files = written("parquet", tmp_path / str(limit), rows, shard_bytes=limit)
        assert list(files.values()) == found
        assert list(files) == [f"data/test-{n:05}-of-{len(found):05}.parquet" for n in range(len(found))]
        assert set(contents(tmp_path / str(limit))) == set(files)


def test_several_splits_keep_no_more_images_waiting_than_one(tmp_path, monkeypatch):
    same = {"image": picture(0), "negative_image": picture(1, "png")}
    rows = [row(place, "test" if place % 2 else "train", **same) for place in range(8)]
    two_rows = 2 * sum(len(image["bytes"]) for image in same.values())
    monkeypatch.setattr("annotation.releases.formats.parquet.BYTES", two_rows)
    files = [*written("parquet", tmp_path / "one", rows[::2]), *written("parquet", tmp_path / "two", rows)]
    folders = [tmp_path / "one/release", *[tmp_path / "two/release"] * 2]
    groups = [pq.ParquetFile(folder / file).num_row_groups for folder, file in zip(folders, files, strict=True)]
    assert groups == [2, 4, 4]


def test_a_split_without_rows_has_a_shard_that_loads(tmp_path):
    files = written("parquet", tmp_path, [row(0)], splits=("train", "test"))
    assert files == {"data/train-00000-of-00001.parquet": 0, "data/test-00000-of-00001.parquet": 1}
    empty = pq.read_table(tmp_path / "release/data/train-00000-of-00001.parquet")
    assert empty.num_rows == 0 and empty.schema.equals(SCHEMA, check_metadata=True)


# A folder of images


def test_imagefolder_loads_with_all_images_of_an_item_in_every_split(tmp_path):
    rows = [*three_splits(), row(6, **NO_NEGATIVE)]
    assert written("imagefolder", tmp_path, rows)["imagefolder/test/metadata.jsonl"] == 3
    data = datasets.load_dataset("imagefolder", data_dir=str(tmp_path / "release/imagefolder"))
    assert {split: part.num_rows for split, part in data.items()} == {"train": 3, "validation": 1, "test": 3}
    assert set(data["test"].column_names) == set(COLUMNS)
    for one in rows:
        (there,) = [found for found in data[one.split] if found["id"] == one.key]
        assert there["caption"] == one.cells["caption"] and there["words"] == one.cells["words"]
        for column in ("image", "negative_image"):
            assert (there[column] and there[column].tobytes()) == pixels(one.cells[column])


def pixels(image: dict | None) -> bytes | None:
    return image and Drawing.open(io.BytesIO(image["bytes"])).tobytes()


def test_each_content_is_one_file_a_split_named_by_its_hash(tmp_path):
    shared = picture(99)
    rows = [row(0, image=shared), row(1, image=shared, negative_image=shared), row(2, "train", image=shared)]
    written("imagefolder", tmp_path, rows)
    images = {name: data for name, data in contents(tmp_path).items() if not name.endswith(".jsonl")}
    assert len(images) == 4
    for name, data in images.items():
        folder, _, file = name.rpartition("/")
        assert folder in ("imagefolder/test/images", "imagefolder/train/images")
        assert file.partition(".")[0] == hashlib.sha256(data).hexdigest()


# JSON Lines


def test_jsonl_has_the_columns_and_an_image_by_name_and_hash(tmp_path):
    rows = [row(0, id="007", caption="Über “allem”."), row(1, **NO_NEGATIVE)]
    assert written("jsonl", tmp_path, rows) == {"jsonl/test.jsonl": 2}
    first, second = map(json.loads, contents(tmp_path)["jsonl/test.jsonl"].decode().splitlines())
    image = rows[0].cells["image"]
    named = {"path": image["path"], "sha256": hashlib.sha256(image["bytes"]).hexdigest(), "width": 200, "height": 190}
    assert first == {**rows[0].cells, "image": named, "negative_image": first["negative_image"]}
    assert second["negative_image"] is None is second["negative_caption"] and list(second) == list(COLUMNS)


def test_jsonl_opens_in_datasets_and_pandas(tmp_path):
    written("jsonl", tmp_path, [row(0, id="007"), row(1, **NO_NEGATIVE), *three_splits()[2:]])
    path = str(tmp_path / "release/jsonl/{}.jsonl")
    data = datasets.load_dataset(
        "json", data_files={split: path.format(split) for split in ("train", "validation", "test")}
    )
    assert data["test"][0]["image"]["width"] == 200 and data["test"][1]["negative_image"] is None
    table = pandas.read_json(path.format("test"), lines=True, dtype=False, convert_dates=False)
    assert list(table["id"]) == data["test"]["id"] == ["007", "item-1", "item-4"]


# The source's own files


def crepe(place: int, **cells) -> dict:
    cells = {"filename": f"{place:012}.jpg", "caption": f"A cup on desk {place}."} | cells
    return cells | {"negative_caption": f"A desk on cup {place}."}


def test_source_has_the_files_of_its_format(tmp_path):
    rows = [row(place, id=f"swap_obj-{place}", image=None) for place in (0, 1)]
    rows[1].line["images"].clear()
    rows[1].line["meta"] |= {"images_left_out": [["positive", "000000000001.jpg"]]}
    assert written("source", tmp_path, rows, source_format="sugarcrepe") == {}
    ((name, content),) = contents(tmp_path).items()
    assert name == "source/swap_obj.json"
    assert json.loads(content)["1"] == crepe(1) | {"words": 1}


def test_source_has_a_folder_a_split_where_there_are_several(tmp_path):
    rows = [row(0, "train", id="swap_obj-0"), row(1, id="swap_obj-1")]
    written("source", tmp_path, rows, source_format="sugarcrepe", splits=("train", "validation", "test"))
    files = contents(tmp_path)
    assert list(files) == ["source/test/swap_obj.json", "source/train/swap_obj.json"]
    assert json.loads(files["source/train/swap_obj.json"]) == {"0": crepe(0) | {"words": 0}}


def test_source_keeps_items_in_memory_without_their_images(tmp_path):
    one = row(0, id="swap_obj-0")
    writer = FORMS["source"].writer(layout(tmp_path, [one], source_format="sugarcrepe"))
    writer.add(one)
    kept = pickle.dumps(writer.records)
    assert b"A cup on desk 0." in kept and one.cells["image"]["bytes"] not in kept


def test_no_source_where_the_benchmark_has_no_such_files(tmp_path):
    assert written("source", tmp_path, three_splits()) == {} == contents(tmp_path)
