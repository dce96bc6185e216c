"""A released split is imported again and gives the same items, and these the same file."""

from collections import defaultdict
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from annotation.exports.item_table import write_data
from annotation.exports.items import ExportedItem, in_batches
from benchmarks import queries
from benchmarks.models import Benchmark, JobState
from benchmarks.records import ItemRecord
from tests.benchmarks.bad_inputs.images import saved
from tests.benchmarks.bad_inputs.sources import sides, triplet, tsv, vl_row
from tests.benchmarks.bad_inputs.texts import cells, crepe_row, text_of
from tests.builders import aro_rows, imports, text_annotators
from tests.builders.parquet_files import bivlc
from tests.builders.quartered_picture import quarters

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("parquet_trial_in_process")]
SIDES = "first/swap_obj.json", "second/swap_obj.json"


@pytest.fixture
def media(settings) -> Path:
    path = Path(settings.MEDIA_ROOT)
    path.mkdir()
    return path


def table(folder: Path) -> Benchmark:
    (folder / "table.csv").write_text(text_of(cells(1), cells(2, index="007", caption="NA")))
    names = [f"{number}{part}.jpg" for number in (1, 2) for part in ("", "-0", "-1")]
    return text_annotators.imported(folder / "table.csv", "bivlc-candidates", imports.archive(folder, names))


def manifest(folder: Path) -> Benchmark:
    return text_annotators.imported(*swapped(*imports.small(folder / "given")))


def swapped(path: Path, images: Path) -> tuple:
    return path, "jsonl", images


def several(folder: Path) -> Benchmark:
    """Items with several members of the known roles."""
    captions = {"positive": ["A.", "B."], "second_positive": "C.", "negative": ["D.", "E.", "F."]}
    lines = [
        {"id": "1", "captions": captions, "images": {"positive": ["1.jpg", "2.jpg"], "negative": ["3.jpg", "4.jpg"]}},
        {"id": "2", "captions": captions | {"negative": "G."}, "images": {"positive": "5.jpg", "candidate": ["6.jpg"]}},
    ]
    (folder / "given").mkdir()
    path = imports.manifest(folder / "given", lines)
    return text_annotators.imported(path, "jsonl", imports.archive(folder, [f"{one}.jpg" for one in range(1, 7)]))


def text_alone(folder: Path) -> Benchmark:
    return text_annotators.imported(imports.small(folder / "given")[0], "jsonl", None)


def crepe(folder: Path) -> Benchmark:
    given = sides(folder, "sugarcrepe", {"swap_obj.json": {"0": crepe_row(), "12": crepe_row(filename="2.jpg")}})
    return text_annotators.imported(given.path, "sugarcrepe", imports.archive(folder, ["1.jpg", "2.jpg"]))


def compare(folder: Path) -> Benchmark:
    both = {"0": crepe_row()}, {"0": crepe_row(negative_caption="A cup of red.")}
    given = sides(folder, "sugarcrepe-compare", dict(zip(SIDES, both, strict=True)))
    return text_annotators.imported(given.path, "sugarcrepe-compare", imports.archive(folder, ["1.jpg"]))


def visla(folder: Path) -> Benchmark:
    (folder / "Generic_VISLA.tsv").write_text(tsv(triplet(1), triplet(2, negative_caption="A cup on 2 books.")))
    return text_annotators.imported(folder / "Generic_VISLA.tsv", "visla", imports.archive(folder, ["1.jpg", "2.jpg"]))


def hard(folder: Path) -> Benchmark:
    name = "vl_checklist_relations.json"
    rows = {f"original/{name}": [vl_row()], f"hard_positive/{name}": [vl_row(caption="cup atop book")]}
    given = sides(folder, "hard-positives", rows)
    return text_annotators.imported(given.path, "hard-positives", imports.archive(folder, ["data/1.jpg"]))


def aro(folder: Path) -> Benchmark:
    rows = [aro_rows.relation(number, box) for number, box in enumerate(aro_rows.QUARTERS.values())]
    path = aro_rows.listed(folder / "in", rows)
    (folder / "images").mkdir()
    (folder / "images/a.png").write_bytes(saved(quarters(), "PNG"))
    return text_annotators.imported(path, "aro", folder / "images")


def released(benchmark: Benchmark, path: Path) -> Path:
    """All items of a benchmark as a study that keeps them exports them, the first candidate chosen if need be."""
    lines = [line(item) for item in chain.from_iterable(in_batches(benchmark.pk))]
    write_data(path, benchmark, lambda: lines, {})
    return path


def line(item: ExportedItem) -> dict:
    keys = {image.key for image in item.images} & {"candidate-0", "negative-0"}
    return {
        "id": item.key, "type": item.type, "subtype": item.subtype, "meta": item.meta, "decisions": [],
        "captions": [{"role": caption.role, "text": caption.text} for caption in item.captions],
        "images": [{"key": image.key, "sha256": image.sha256, "format": image.format} for image in item.images],
        "negative_image": max(keys, default=None),
    }  # fmt: skip


def content(benchmark: Benchmark) -> list[tuple[ItemRecord, list]]:
    """What a released split holds of the items: their words, and the hashes of their images by role."""
    found = []
    for item in queries.with_material(benchmark.items.order_by("position")):
        images = defaultdict(list)
        for use in sorted(item.item_images.all(), key=queries.in_record_order):
            images[use.role].append(use.image.sha256)
        if "negative" not in images and "candidate" in images:
            images["negative"] = [images["candidate"].pop(0)]
        record = queries.record_of(item)
        captions = tuple(sorted(record.captions, key=lambda caption: caption.role))
        shown = {role: hashes for role, hashes in images.items() if hashes}
        found.append((replace(record, captions=captions, images=(), meta={}, truth={}), shown))
    return found


@pytest.mark.parametrize(
    ("made", "format"),
    [
        (manifest, "bivlc"), (several, "bivlc"), (text_alone, "bivlc"), (crepe, "sugarcrepe"), (visla, "visla"),
        (compare, "sugarcrepe-compare"), (hard, "hard-positives"), (aro, "aro"),
    ],
)  # fmt: skip
def test_a_split_of_each_format_comes_back(tmp_path, media, made, format):
    first = made(tmp_path)
    path = released(first, tmp_path / "data.parquet")
    again = imports.benchmark(path, None, name="Again", format=f"{format}-parquet")
    assert content(again) == content(first)
    assert released(again, tmp_path / "again.parquet").read_bytes() == path.read_bytes()
    assert imports.stored_files(media) == imports.named_files()


def test_what_a_column_keeps_as_json_comes_back_as_it_was(tmp_path, media):
    path = released(compare(tmp_path), tmp_path / "data.parquet")
    imports.imported(path, None, name="Again", format="sugarcrepe-compare-parquet")
    assert Benchmark.objects.get(name="Again").items.get().meta == {"origins": ["SUGARCREPE", "ARO+CREPE"]}


@pytest.mark.real
def test_the_real_photographs_of_bivlc(real, tmp_path, media):
    """The twelve of the released rows that are at hand, laid out as the release is."""
    folder = real / "data" / "bivlc" / "images"
    rows = [release_row(path, number) for number, path in enumerate(sorted(folder.glob("*_positive.jpg")))]
    assert len(rows) == 12
    first = text_annotators.imported(bivlc(tmp_path, *rows), "bivlc-parquet", None, text_only=False)
    path = released(first, tmp_path / "data.parquet")
    assert imports.imported(path, None, name="Again", format="bivlc-parquet").state == JobState.DONE
    assert content(Benchmark.objects.get(name="Again")) == content(first)
    names = {image.name for item in first.items.all() for image in queries.record_of(item).images}
    assert names == {row[column]["path"] for row in rows for column in ("image", "negative_image")}


def release_row(positive: Path, number: int) -> dict:
    negative = positive.with_name(positive.name.replace("positive", "negative_selected"))
    images = {"image": positive, "negative_image": negative}
    found = {column: {"bytes": path.read_bytes(), "path": path.name} for column, path in images.items()}
    texts = {"caption": f"A photograph, {number}.", "negative_caption": f"Another, {number}."}
    return {**found, **texts, "type": "replace", "subtype": "obj"}
