"""Releases with videos: in every form as they were imported, by the right type, verified, and imported again."""

import json
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from annotation.releases.plan import FORMS
from annotation.releases.verification.verifying import verify
from benchmarks.models import Image
from tests.annotation.releases.test_round_trip import again, holds, released
from tests.builders import imports
from tests.builders.videos import video
from tests.lazy import LazyModule

datasets = LazyModule("datasets")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def media(settings, parquet_trial_in_process) -> None:
    Path(settings.MEDIA_ROOT).mkdir()


def clips() -> dict[str, bytes]:
    return {"a.mp4": video("libx264", "mp4", secret=True), "b.webm": video(size=(48, 64))}


def release(folder: Path, files: dict[str, bytes]) -> Path:
    items = [
        imports.item(number) | {"images": [{"role": "positive", "file": name}]} for number, name in enumerate(files)
    ]
    return released(holds(imports.benchmark_of(folder / "given", items, files, "Clips")), folder, forms=FORMS)


def feature(made: Path) -> dict:
    [shard] = made.glob("data/*.parquet")
    return json.loads(pq.read_schema(shard).metadata[b"huggingface"])["info"]["features"]["image"]


def test_every_form_has_the_videos_as_they_were_imported_and_one_called_an_image_is_found(tmp_path):
    files = clips()
    made = release(tmp_path, files)
    assert verify(made).problems == []
    assert feature(made) == {"_type": "Video"}
    rows = datasets.load_dataset(str(made), split="test").cast_column("image", datasets.Video(decode=False))
    assert [row["image"]["bytes"] for row in rows] == list(files.values())
    names = [row["image"]["path"] for row in rows]
    assert [name.rpartition(".")[2] for name in names] == ["mp4", "webm"]
    assert [(made / "imagefolder/test/images" / name).read_bytes() for name in names] == list(files.values())
    with tarfile.open(made / "webdataset/test/0.tar") as packed:
        assert {"00000000.mp4", "00000001.webm"} < {*packed.getnames()}
    described = json.loads((made / "croissant.json").read_text())
    kinds = {one["@id"]: one.get("dataType") for table in described["recordSet"] for one in table["field"]}
    assert (kinds["data/image"], kinds["data/negative_image"]) == ("sc:VideoObject", "sc:ImageObject")
    assert not (made / "score.py").exists()  # a model that sees images cannot answer it
    before = set(Image.objects.values_list("sha256", "format", "width", "height"))
    assert [use.image.format for item in again(made).items.all() for use in item.item_images.all()] == ["MP4", "WEBM"]
    assert set(Image.objects.values_list("sha256", "format", "width", "height")) == before
    [shard] = made.glob("data/*.parquet")
    table = pq.read_table(shard)
    found = table.schema.metadata[b"huggingface"].replace(b'"Video"', b'"Image"')
    pq.write_table(table.replace_schema_metadata({b"huggingface": found}), shard)
    assert "its metadata does not match its columns" in str(verify(made).problems)


def test_a_column_of_videos_and_images_is_decoded_as_neither(tmp_path):
    made = release(tmp_path, files := clips() | {"c.jpg": imports.jpeg(7)})
    assert verify(made).problems == []
    assert feature(made) == {
        "bytes": {"_type": "Value", "dtype": "binary"},
        "path": {"_type": "Value", "dtype": "string"},
    }
    rows = datasets.load_dataset(str(made), split="test")
    assert [row["image"]["bytes"] for row in rows] == list(files.values())
