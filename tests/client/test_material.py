"""Rows as the manifest has them: columns named as in releases, DataFrames, and no folder of the sender in a name."""

import json
import zipfile
from pathlib import Path

import pandas
import pytest

from winnow_client.material import Material

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
    assert Material([row], tmp_path).items == [{"id": "1", **item}]


def test_a_dataframe_has_nothing_where_it_has_nan():
    rows = pandas.DataFrame({"id": [1, 2], "caption": ["A.", "C."], "type": ["swap", None], "share": [0.5, None]})
    rows["when"] = [pandas.Timestamp("2026-03-02"), pandas.NaT]
    first, second = Material(rows).items
    assert second == {"id": "2", "captions": [{"role": "positive", "text": "C."}]}
    assert first["meta"]["share"] == 0.5 and "2026-03-02" in json.dumps(first, default=str)


def test_images_are_named_below_the_folder_that_they_share(tmp_path):
    for name in ("here/a/1.jpg", "here/b/1.jpg"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(name)
    rows = [{"image": tmp_path / "here/a/1.jpg"}, {"image": "../here/b/1.jpg"}, {"image": "../here/b/1.jpg"}]
    found = Material(rows, tmp_path / "other")
    assert [item["images"][0]["file"] for item in found.items] == ["a/1.jpg", "b/1.jpg", "b/1.jpg"]
    archive = found.write_images(tmp_path)
    with zipfile.ZipFile(archive) as packed:
        assert [(name, packed.read(name)) for name in packed.namelist()] == [
            ("a/1.jpg", b"here/a/1.jpg"),
            ("b/1.jpg", b"here/b/1.jpg"),
        ]
    content = archive.read_bytes()
    assert Material(rows, tmp_path / "other").write_images(tmp_path).read_bytes() == content


def test_a_missing_image_is_named_before_anything_is_sent(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"row 2: .*/none\.jpg"):
        Material([{"caption": "A."}, {"image": "none.jpg"}], tmp_path)
    with pytest.raises(ValueError, match="no rows"):
        Material([])
