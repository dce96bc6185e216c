"""A release imported again is the same items, and a release of these has the same data and the same source's files."""

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command

from annotation.designs.plan import StagePlan
from annotation.exports.export import export_split
from annotation.models import Study
from annotation.protocols.registry import PROTOCOLS
from annotation.releases import build, splitting
from annotation.releases.plan import FORMS, Plan
from annotation.releases.schema import VERSION
from annotation.releases.verification.verifying import verify
from benchmarks import queries
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.registry import FORMATS
from benchmarks.models import Benchmark, ItemImage, Job
from benchmarks.records import ItemRecord, is_own
from benchmarks.runs import material as scoring_material
from tests.annotation.exports import test_imported_again as formats
from tests.annotation.releases.released import contents, lines
from tests.builders import crowds, imports, own_roles, studies, text_annotators
from tests.builders.real_material import material

pytestmark = pytest.mark.django_db(transaction=True)
STUDIES = ("written",)
PARTS = {"train": 80, "test": 20}


@pytest.fixture(autouse=True)
def media(settings, parquet_trial_in_process) -> None:
    Path(settings.MEDIA_ROOT).mkdir()


def released(study: Study, folder: Path, fixed: dict | None = None, **plan) -> Path:
    """The release's folder; below `folder` the export too."""
    export_split(study=study, out=folder / "export", by="test")
    return built(folder / "export", folder, fixed, **plan)


def built(export: Path, folder: Path, fixed: dict | None = None, **plan) -> Path:
    (folder / "release").mkdir()
    build.build(export, Plan("cups", "1.0", **plan), folder / "release", splitting.Earlier(items=fixed or {}))
    return folder / "release"


def again(release: Path) -> Benchmark:
    return text_annotators.imported(release, "release", None, text_only=False)


def holds(benchmark: Benchmark) -> Study:
    """Somebody finds that all of its captions hold."""
    stage = studies.stage(benchmark=benchmark, protocol="verify", overlap=1)
    text_annotators.keep_all(stage, studies.annotator(stage.study), "yes")
    return stage.study


def items(release: Path) -> list[dict]:
    return lines(release / "items.jsonl")


def told(line: dict) -> tuple:
    """What a line says of an item that must come back."""
    captions = [(caption["role"], caption["text"]) for caption in line["captions"]]
    captions += [(role, text) for role, texts in line.get("texts", {}).items() if is_own(role) for text in texts]
    images: dict[str, list] = defaultdict(list)
    for image in sorted(line["images"], key=lambda image: not image["chosen"]):
        role = "negative" if image["chosen"] else image["key"].rpartition("-")[0]
        images[role].append((image["sha256"], *map(image.get, OF_IMAGE)))
    return line["id"], line["type"], line["subtype"], captions, images, line["meta"]


OF_IMAGE = ("source_name", "licence", "attribution", "crop")


def stored(benchmark: Benchmark) -> list[tuple]:
    items = queries.with_material(benchmark.items.order_by("position"))
    return [(item.key, item.type, item.subtype, words(item), images(item), item.meta) for item in items]


def words(item) -> list[tuple[str, str]]:
    return [(caption.role, caption.text) for caption in queries.record_of(item).captions]


def images(item) -> dict[str, list]:
    found: dict[str, list] = defaultdict(list)
    for use in sorted(item.item_images.all(), key=queries.in_record_order):
        found[use.role].append((use.image.sha256, *(getattr(use, name) for name in OF_IMAGE)))
    return found


def same_again(release: Path, folder: Path, **plan) -> Benchmark:
    """The items come back, and released again they are the same but for their votes; `plan` as the release had."""
    benchmark = again(release)
    assert stored(benchmark) == [told(line) for line in items(release)]
    splits = {line["id"]: line["split"] for line in items(release)}
    other = released(holds(benchmark), folder / "again", splits, **plan)
    assert rows(other) == rows(release)
    assert contents(other / "source") == contents(release / "source")
    has_unasked = any([role for role, _ in told(line)[3]].count("negative") > 1 for line in items(release))
    assert evaluation_of(other) == ("" if has_unasked else scoring_material.kind(benchmark))
    return benchmark


def rows(release: Path) -> dict[str, list[dict]]:
    """Of each shard."""
    shards = sorted((release / "data").iterdir())
    return {path.name: pq.read_table(path).drop_columns("votes").to_pylist() for path in shards}


def evaluation_of(release: Path) -> str:
    """Its kind, "" without a measure that fits what the items have."""
    return (json.loads((release / "manifest.json").read_text())["evaluation"] or {"kind": ""})["kind"]


@pytest.mark.real
def test_the_real_items_that_people_kept(real, tmp_path):
    first = text_annotators.imported(
        material(real / "data", tmp_path, coco=8)[0], "jsonl", tmp_path / "images.zip", text_only=False
    )
    study = studies.study(benchmark=first, overlap=2)
    crowds.work(study, people=3)
    release = released(study, tmp_path, splits=PARTS)
    assert len(items(release)) > 5 and {line["split"] for line in items(release)} == set(PARTS)
    assert any(image["licence"] for line in items(release) for image in line["images"])
    benchmark = same_again(release, tmp_path, splits=PARTS)
    assert benchmark.source == "release"
    assert (first.items.count(), benchmark.items.count()) == (20, len(items(release)))


@pytest.mark.usefixtures("studies_exported")
def test_words_that_people_wrote(exports, tmp_path):
    release = built(exports("written"), tmp_path)
    edited = [line for line in items(release) if any("changed_by" in caption for caption in line["captions"])]
    assert edited
    assert same_again(release, tmp_path).source == "visla"
    assert list(contents(release / "source")) == ["Generic_VISLA.tsv"]


def test_both_sides_of_hard_positives(tmp_path):
    stages = [StagePlan("hard-positive-rank", name="ranked", settings={"overlap": 2})]
    study = studies.study(benchmark=text_annotators.hard_positives(tmp_path / "in", rows=3), stages=stages)
    text_annotators.work(study, people=2, changes=0)
    release = released(study, tmp_path)
    assert len(contents(release / "source")) == 4
    benchmark = same_again(release, tmp_path)
    [ranked], people = json.loads((release / "figures.json").read_text())["stages"], benchmark.runs.get().figures
    assert people["measures"]["augmented"]["share"] == ranked["paper"]["share"]
    call_command("export_source", benchmark.name, out=tmp_path / "out", verbosity=0)
    assert contents(tmp_path / "out") == contents(tmp_path / "in")


@pytest.mark.parametrize(
    ("made", "source"),
    [
        (formats.table, "release"), (formats.several, "release"), (formats.crepe, "sugarcrepe"),
        (formats.compare, "sugarcrepe-compare"), (formats.aro, "aro"),
    ],
)  # fmt: skip
def test_a_release_of_each_source(tmp_path, made, source):
    (tmp_path / "in").mkdir()
    release = released(holds(made(tmp_path / "in")), tmp_path)
    assert same_again(release, tmp_path).source == source


def test_roles_of_the_users_own(tmp_path, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "verify", own_roles.protocol())
    study = own_roles.study(tmp_path / "in")
    release = released(study, tmp_path, forms=list(FORMS))
    assert verify(release).problems == []
    benchmark = again(release)
    first, second = (
        [queries.record_of(item) for item in queries.with_material(one.items.order_by("position"))]
        for one in (study.benchmark, benchmark)
    )
    assert first == second and first == manifest_records(tmp_path / "in/items.jsonl")
    assert [len(record.attributes()) for record in first] == [4, 2, 1]
    assert images_of(study.benchmark) == images_of(benchmark)
    other = released(holds(benchmark), tmp_path / "again", forms=list(FORMS))
    assert contents(other / "data") == contents(release / "data") and verify(other).problems == []
    manifest = json.loads((release / "manifest.json").read_text())
    columns, readable = manifest["columns"], (release / "croissant.json").read_text()
    assert {"type", "subtype", "id", "first_image"} <= set(columns) and not {"image", "caption"} & set(columns)
    assert columns["picture_image_4"] == "image:picture-3" and columns["question_caption_2"] == "caption:question-1"
    assert "Image 4 in the role picture." in readable and "captions.attributes" in readable
    assert manifest["schema_version"] == VERSION
    assert [line["split"] for line in items(release)] == ["test"] * 3


def manifest_records(path: Path) -> list[ItemRecord]:
    """In the order in which they are stored."""
    found = [replace(one, origin=None) for one in FORMATS["jsonl"].read(path, ProblemLog())]
    return [replace(one, captions=tuple(sorted(one.captions, key=lambda caption: caption.role))) for one in found]


def images_of(benchmark: Benchmark) -> list[tuple[str, str]]:
    uses = ItemImage.objects.filter(item__benchmark=benchmark).order_by("item__position", "role", "position")
    return [(use.key, use.image.sha256) for use in uses.select_related("image")]


@pytest.mark.parametrize(("made", "format"), [(formats.hard, "hard-positives-parquet"), (formats.aro, "aro-parquet")])
def test_without_the_source_its_columns_and_its_evaluation_come_back(tmp_path, made, format):
    (tmp_path / "in").mkdir()
    release = released(holds(made(tmp_path / "in")), tmp_path, forms=["jsonl"])
    benchmark = same_again(release, tmp_path, forms=["jsonl"])
    assert (benchmark.source, scoring_material.kind(benchmark)) == (format, evaluation_of(release))


def test_items_of_several_formats_are_evaluated_as_the_first(tmp_path):
    (tmp_path / "in").mkdir()
    benchmark = formats.aro(tmp_path / "in")
    data, images = imports.small(tmp_path / "more")
    job = imports.imported(data, images, name=benchmark.name, format="jsonl")
    assert job.state == "done", job.problems
    release = released(holds(benchmark), tmp_path)
    assert not (release / "source").exists()
    assert evaluation_of(release) == scoring_material.kind(benchmark) == scoring_material.kind(again(release)) == "aro"


def test_by_command(tmp_path):
    release = released(holds(formats.manifest(tmp_path)), tmp_path)
    call_command("import_benchmark", "release", str(release), name="Again", verbosity=0)
    assert Job.objects.first().report["items"] == Benchmark.objects.get(name="Again").items.count() == 3
    assert imports.stored_files(tmp_path / "media") == imports.named_files()
