"""Tar files: pinned to the byte, and read by the library that they are named after."""

import io
import json
import tarfile
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest

from annotation.releases.verification.forms import READERS
from annotation.releases.verification.place import Place, Wrong
from tests.annotation.releases.kept import COLUMNS, contents, picture, row, written
from tests.lazy import LazyModule

_, webdataset_rows = READERS["webdataset"]
data, datasets, webdataset = map(LazyModule, ("open_clip_train.data", "datasets", "webdataset"))
pytestmark = pytest.mark.usefixtures("offline")


def shards(folder: Path) -> list[str]:
    return sorted(map(str, folder.glob("release/webdataset/test/*.tar")))


def loaded(folder: Path, **options) -> list[dict]:
    return list(datasets.load_dataset("webdataset", data_files={"test": shards(folder)}, split="test", **options))


def test_an_entry_says_nothing_of_the_machine_that_wrote_it(tmp_path):
    written("webdataset", tmp_path, [row(0), row(1, image=None, id="a.b/c")])
    content = contents(tmp_path)["webdataset/test/0.tar"]
    with tarfile.open(fileobj=io.BytesIO(content)) as file:
        entries = file.getmembers()
    assert [entry.name for entry in entries] == [
        "00000000.jpg", "00000000.negative_image.png", "00000000.txt", "00000000.json",
        "00000001.negative_image.png", "00000001.txt", "00000001.json",
    ]  # fmt: skip
    facts = {(one.mtime, one.uid, one.gid, one.uname, one.gname, one.mode, one.isreg()) for one in entries}
    assert facts == {(0, 0, 0, "", "", 0o644, True)}
    assert content[257:265] == b"ustar\x0000" and not any(entry.pax_headers for entry in entries)


def test_shards_end_by_their_images(tmp_path):
    size = sum(len(image["bytes"]) for _, image in row(0).images())
    rows = [row(place, image=picture(0), negative_image=picture(1, "png")) for place in range(3)]
    files = written("webdataset", tmp_path, rows, shard_bytes=2 * size)
    assert files == {"webdataset/test/0.tar": 2, "webdataset/test/1.tar": 1}
    lists = {"webdataset/test/nshards.txt": b"2\n", "webdataset/dataset_type.txt": b"retrieval\n"}
    there = contents(tmp_path)
    assert {**lists, **there} == there and there.keys() == lists.keys() | files.keys()


@pytest.mark.parametrize("blocks", range(20))
def test_a_shard_is_verified_wherever_in_a_record_its_last_entry_ends(tmp_path, blocks):
    image = {"bytes": b"x" * (blocks * tarfile.BLOCKSIZE), "path": f"{sha256(b'x' * blocks * 512).hexdigest()}.png"}
    written("webdataset", tmp_path, [row(0, image=image, negative_image=None)])
    release = Place(tmp_path / "release")
    release.manifest = {"columns": COLUMNS}
    assert len(list(webdataset_rows(release, "test"))) == 1
    (shard,) = map(Path, shards(tmp_path))
    shard.write_bytes(shard.read_bytes() + bytes(tarfile.BLOCKSIZE))
    with pytest.raises(Wrong, match="more data after its last entry"):
        list(webdataset_rows(release, "test"))


def test_the_library_reads_every_item_with_its_images(tmp_path):
    rows = [row(place, id=f"v1.{place}/ü") for place in range(4)] + [row(4, negative_image=None)]
    written("webdataset", tmp_path, rows, shard_bytes=12_000)
    assert len(shards(tmp_path)) > 1
    found = list(webdataset.WebDataset(shards(tmp_path), shardshuffle=False).decode("pil"))
    assert [one["json"]["id"] for one in found] == [one.key for one in rows]
    assert all(one["jpg"].size == (200, 190) for one in found)
    assert [one.get("negative_image.png") is None for one in found] == [False] * 4 + [True]
    raw = next(iter(webdataset.WebDataset(shards(tmp_path), shardshuffle=False)))
    assert raw["jpg"] == rows[0].cells["image"]["bytes"]


def test_the_datasets_library_reads_them_too(tmp_path):
    written("webdataset", tmp_path, [row(place) for place in range(3)])
    found = loaded(tmp_path)
    assert [one["json"]["caption"] for one in found] == [row(place).cells["caption"] for place in range(3)]
    assert found[2]["negative_image.png"].size == (200, 190) and found[0]["__key__"] == "00000000"


def test_where_items_lack_images_or_have_them_in_several_formats_it_needs_the_features(tmp_path):
    written("webdataset", tmp_path, [row(0), row(1, negative_image=None), row(2, image=picture(5, "png"))])
    with pytest.raises(ValueError, match="don't share"):
        loaded(tmp_path)
    images = {name: datasets.Image() for name in ("jpg", "png", "negative_image.png")}
    plain = {name: datasets.Value("string") for name in ("__key__", "__url__", "txt")}
    found = loaded(tmp_path, features=datasets.Features(images | plain | {"json": {"id": datasets.Value("string")}}))
    assert [[one[name] is not None for name in images] for one in found] == [
        [True, False, True],
        [True, False, False],
        [False, True, True],
    ]


def test_a_split_without_rows_is_an_empty_file(tmp_path):
    assert written("webdataset", tmp_path, [], splits=("train",)) == {"webdataset/train/0.tar": 0}
    assert (
        list(
            webdataset.WebDataset(
                [str(tmp_path / "release/webdataset/train/0.tar")], shardshuffle=False, empty_check=False
            )
        )
        == []
    )


def test_the_text_is_the_line_of_json_lines(tmp_path):
    rows = [row(0), row(1, caption=None)]
    for form in ("webdataset", "jsonl"):
        written(form, tmp_path, rows)
    with tarfile.open(tmp_path / "release/webdataset/test/0.tar") as file:
        texts = [file.extractfile(f"{place:08}.json").read() for place in (0, 1)]
    lines = contents(tmp_path)["jsonl/test.jsonl"].splitlines()
    assert list(map(json.loads, texts)) == list(map(json.loads, lines))


def test_open_clip_trains_on_every_item_with_an_image_and_a_caption(tmp_path):
    """Read by the function that its training calls; several lines would be several captions to clip_benchmark."""
    rows = [
        row(0, caption="A cup\non a desk."),
        row(1, image=None),
        row(2, image=picture(5, "png")),
        row(3, caption=""),
    ]
    written("webdataset", tmp_path, rows)
    asked = SimpleNamespace(
        val_data=shards(tmp_path)[0], val_num_samples=4, batch_size=8, workers=0, seed=0, dataset_resampled=False
    )
    found = data.get_wds_dataset(
        asked, lambda image: numpy.asarray(image), is_train=False, tokenizer=lambda text: [text]
    )
    ((images, texts),) = found.dataloader
    assert (len(images), list(texts)) == (2, ["A cup on a desk.", "A cup on desk 2."])
