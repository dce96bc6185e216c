"""ARO's lists through the import: each item gets its crop, shows it, and the lists come out as they went in."""

import io
import re
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from PIL import Image as Drawing

from benchmarks import queries
from benchmarks.exports import source_layout
from benchmarks.formats import aro, jsonl
from benchmarks.formats.base import ProblemLog
from benchmarks.imports import images as import_images
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Image, Item, ItemImage, JobState
from benchmarks.records import ImageRecord, ItemRecord
from benchmarks.storage.files import kept
from tests.benchmarks.bad_inputs.images import saved
from tests.builders import imports, studies
from tests.builders.aro_rows import ODD, QUARTERS, attribution, listed, relation
from tests.builders.quartered_picture import BLUE, GREEN, YELLOW, quarters, turned

pytestmark = pytest.mark.django_db


def images(folder: Path, **files: bytes) -> Path:
    """A zip; by default of one picture, quartered, as PNG."""
    with zipfile.ZipFile(folder / "images.zip", "w") as packed:
        for name, data in (files or {"a.png": saved(quarters(), "PNG")}).items():
            packed.writestr(name, data)
    return folder / "images.zip"


def imported(folder: Path, rows: list[dict], files: dict[str, bytes] | None = None, **how):
    return imports.imported(listed(folder, rows), images(folder, **(files or {})), format="aro", **how)


def stored(key: str) -> Image:
    return Image.objects.get(uses__item__key=key)


def seen(path: str) -> Drawing.Image:
    return Drawing.open(kept.contents(path))


def all_of(colour: tuple, image: Drawing.Image, by: int = 6) -> bool:
    pairs = zip(image.convert("RGB").getextrema(), colour, strict=True)
    return all(abs(low - channel) <= by and abs(high - channel) <= by for (low, high), channel in pairs)


@pytest.mark.parametrize("file", [saved(quarters(), "PNG"), turned(quarters())], ids=["upright", "orientation 6"])
def test_each_item_has_its_crop(tmp_path, media, file):
    rows = [relation(number, box) for number, box in enumerate(QUARTERS.values())]
    job = imported(tmp_path, rows, {"a.png": file})
    assert job.state == JobState.DONE, job.problems
    for number, colour in enumerate(QUARTERS):
        image = stored(f"vg_relation-{number}")
        assert (image.format, image.width, image.height) == ("PNG", 40, 30)
        assert all_of(colour, seen(image.original_path), by=0)
        assert all_of(colour, seen(image.served_path)) and seen(image.served_path).format == "JPEG"
        assert all_of(colour, seen(image.thumbnail_path))
    assert imports.stored_files(media) == imports.named_files()


def test_a_file_is_read_and_decoded_once_and_the_same_crop_is_stored_once(tmp_path, media, monkeypatch):
    decoded, upright = [], import_images.images.upright
    monkeypatch.setattr(import_images.images, "upright", lambda data: decoded.append(1) or upright(data))
    rows = [relation(number, box) for number, box in enumerate([*QUARTERS.values(), *QUARTERS.values()])]
    job = imported(tmp_path, rows)
    assert len(decoded) == 1 and Image.objects.count() == 4 and ItemImage.objects.count() == 8
    assert job.report["images"] == {"named": 4, "stored": 4, "known": 0, "same": 0}
    assert (job.report["files"]["used"], job.report["files"]["unused"]) == (1, 0)


def test_crops_that_show_the_same_are_one_image_and_the_report_adds_up(tmp_path, media):
    job = imported(tmp_path, [relation(0, (0, 0, 9, 9)), relation(1, (20, 10, 9, 9)), relation(2, (50, 0, 9, 9))])
    assert Image.objects.count() == 2
    assert job.report["images"] == {"named": 3, "stored": 2, "known": 0, "same": 1}
    note = next(note for note in job.report["notes"] if note["code"] == "SAME_CONTENT")
    assert note["file"] == "a.png (x 20, y 10, 9 × 9)" and "a.png (x 0, y 0, 9 × 9)" in note["advice"]


def test_more_crops_of_a_file_than_a_thread_makes_at_once(tmp_path, media, monkeypatch):
    monkeypatch.setattr(jobs, "WRITE_EVERY", 0)
    count, told = 2 * import_images.AT_ONCE + 3, []
    path = listed(tmp_path, [relation(number, (number, 0, 20, 60)) for number in range(count)])
    job = imports.run(imports.queued(path, images(tmp_path), format="aro"), tell=lambda *tick: told.append(tick))
    assert job.state == JobState.DONE
    assert max(tick for tick in told if tick[0] == "checking images") == ("checking images", count, count)
    found = [stored(f"vg_relation-{number}").original_path for number in range(count)]
    for number, path in enumerate(found):
        assert seen(path).tobytes() == quarters().crop((number, 0, number + 20, 60)).tobytes()


def test_a_name_with_a_number_sign_stays_a_name(tmp_path, media):
    name = "a.png#xywh=0,0,40,30"
    files = {"a.png": saved(quarters(), "PNG"), name: saved(quarters().rotate(180), "PNG")}
    job = imported(tmp_path, [relation(0, (40, 30, 9, 9)), relation(1, (0, 0, 9, 9), image_path=name)], files)
    assert job.state == JobState.DONE, job.problems
    for number in (0, 1):
        assert all_of(YELLOW, seen(stored(f"vg_relation-{number}").original_path), by=0)
    kept = queries.record_of(queries.with_material(Item.objects.filter(key="vg_relation-1")).get())
    assert kept.images[0].part == (name, (0, 0, 9, 9))
    assert queries.material_of(Item.objects.get(key="vg_relation-1").pk).images == kept.images


@pytest.mark.parametrize("box", [(41, 0, 40, 30), (0, 0, 81, 60), (0, 31, 40, 30), (500, 500, 1, 1), (0, 0, 10**39, 1)])
def test_a_box_outside_the_image_refuses_the_import(tmp_path, media, box):
    before = imports.rows(), imports.tree(media)
    job = imported(tmp_path, [relation(0), relation(1, box)])
    problem = job.problems[0]
    assert job.state == JobState.FAILED and job.problem_count == 1
    assert (problem["code"], problem["row"], problem["column"]) == ("CROP_OUTSIDE", 2, "positive")
    assert problem["advice"].startswith(f"a.png (x {box[0]}") and "80 × 60" in problem["advice"]
    assert (imports.rows(), imports.tree(media)) == before


@pytest.mark.parametrize(
    ("data", "code"),
    [(saved(quarters(), "JPEG")[:500], "IMAGE_CORRUPT"), (b"", "EMPTY_FILE"), (b"<svg/>", "FORMAT_NOT_ALLOWED")],
)
def test_a_file_that_cannot_be_used_is_one_problem_for_all_its_crops(tmp_path, media, data, code):
    rows = [relation(number, (number, 0, 9, 9)) for number in range(import_images.AT_ONCE + 1)]
    job = imported(tmp_path, rows, {"a.png": data})
    assert imports.codes(job) == [code] and job.problem_count == 1 and Image.objects.count() == 0
    assert imports.tree(media) == []


def test_a_missing_file_is_a_problem_a_row(tmp_path, media):
    job = imported(tmp_path, [relation(0), relation(1, image_path="b.png"), relation(2, image_path="b.png")])
    assert [(p["code"], p["row"]) for p in job.problems] == [("MISSING_IMAGE", 2), ("MISSING_IMAGE", 3)]


def test_a_second_import_is_refused_and_another_box_is_other_content(tmp_path, media):
    rows = [relation(0)]
    assert imported(tmp_path, rows).state == JobState.DONE
    assert imports.codes(imported(tmp_path, rows)) == ["ALREADY_IMPORTED"]
    job = imported(tmp_path, [relation(0, (0, 0, 39, 30))])
    assert imports.codes(job) == ["DUPLICATE_ID"] and "other content" in job.problems[0]["advice"]


def test_crops_that_another_benchmark_has_are_known(tmp_path, media):
    rows = [relation(number, box) for number, box in enumerate(QUARTERS.values())]
    imported(tmp_path, rows)
    job = imported(tmp_path, rows, name="Again")
    assert job.report["images"] == {"named": 4, "stored": 0, "known": 4, "same": 0}
    assert Image.objects.count() == 4 and imports.stored_files(media) == imports.named_files()


def test_the_manifest_carries_a_crop_beside_the_whole_image(tmp_path, media):
    imported(tmp_path, [relation(0)])
    record = queries.record_of(queries.with_material(Item.objects.all()).get())
    whole = ImageRecord("candidate", "a.png")
    both = ItemRecord("both", "", "", record.captions, (*record.images, whole))
    (tmp_path / "items.jsonl").write_text(jsonl.to_line(both))
    job = imports.imported(tmp_path / "items.jsonl", images(tmp_path), name="Other")
    assert job.state == JobState.DONE and job.report["note_count"] == 0
    again = queries.record_of(queries.with_material(Item.objects.filter(key="both")).get())
    assert {image.part for image in again.images} == {image.part for image in both.images}
    sizes = ItemImage.objects.filter(item__key="both").values_list("role", "image__width", "image__height")
    assert set(sizes) == {("positive", 40, 30), ("candidate", 80, 60)}
    assert job.report["images"] == {"named": 2, "stored": 1, "known": 1, "same": 0}


@pytest.mark.parametrize("crop", [[1, 2, 3], [1, 2, 3, "4"], [1, 2, 3, 4.0], [True, 0, 1, 1], "1,2,3,4"])
def test_a_manifest_s_crop_is_four_whole_numbers(tmp_path, crop):
    image = {"role": "positive", "file": "a.png", "crop": crop}
    log = ProblemLog()
    found = list(jsonl.FORMAT.read(imports.manifest(tmp_path, [imports.item(1, images=[image])]), log))
    assert found == [] and [(p.code, p.column) for p in log.problems] == [("WRONG_VALUE", "images[0].crop")]


def test_new_candidates_may_be_crops_and_the_positive_must_be_the_stored_crop(tmp_path, media):
    imported(tmp_path, [relation(0)])
    record = queries.record_of(queries.with_material(Item.objects.all()).get())
    candidate = ImageRecord("candidate", "a.png", crop=QUARTERS[BLUE])
    other = ItemRecord(record.key, record.type, record.subtype, record.captions, (ImageRecord("positive", "a.png"),))
    codes = []
    for positives in (other.images, record.images):
        row = ItemRecord(record.key, record.type, record.subtype, record.captions, (*positives, candidate))
        (tmp_path / "new.jsonl").write_text(jsonl.to_line(row))
        codes.append(imports.codes(imports.imported(tmp_path / "new.jsonl", images(tmp_path), new_candidates=True)))
    assert codes == [["OTHER_CONTENT"], []]
    assert list(ItemImage.objects.filter(role="candidate").values_list("crop", flat=True)) == [list(QUARTERS[BLUE])]


# Out of the database


@pytest.mark.parametrize("text_only", [False, True])
def test_the_lists_come_out_of_the_database_with_the_same_bytes(tmp_path, media, text_only):
    given = tmp_path / "lists"
    relations = [relation(number, box) for number, box in enumerate(QUARTERS.values())] + [relation(4, **ODD)]
    attributions = [attribution(0, image_id=3), {"image_id": 2, **attribution(1, attributes=["black", "white"])}]
    paths = [listed(given, relations, aro.FILES["relation"]), listed(given, attributions, aro.FILES["attribution"])]
    job = imports.imported(given, None if text_only else images(tmp_path), format="aro", text_only=text_only)
    assert job.state == JobState.DONE, job.problems
    assert dict(source_layout.files(Benchmark.objects.get())) == {path.name: path.read_bytes() for path in paths}


@pytest.mark.django_db(transaction=True)
def test_the_command(tmp_path, media, capsys):
    path = listed(tmp_path, [relation(number, box) for number, box in enumerate(QUARTERS.values())])
    call_command("import_benchmark", "aro", path, images=images(tmp_path), name="ARO")
    assert "4 items, 8 captions, 4 uses of images." in capsys.readouterr().out
    call_command("export_source", "ARO", out=tmp_path / "out")
    assert (tmp_path / "out/visual_genome_relation.json").read_bytes() == path.read_bytes()
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_benchmark", "aro", listed(tmp_path, [relation(0, (70, 0, 40, 30))]),
                     images=images(tmp_path), name="Bad")  # fmt: skip
    assert "CROP_OUTSIDE · list.json · 1 · positive · a.png (x 70" in capsys.readouterr().out


# On the screen


def test_a_screen_shows_the_crop_and_not_the_whole_picture(client, tmp_path, media):
    imported(tmp_path, [relation(0, QUARTERS[GREEN])], {"a.png": turned(quarters())})
    study = studies.study(benchmark=Benchmark.objects.get(), protocol="verify")
    page = client.get(f"/judge/{studies.annotator(study).token}/").content.decode()
    addresses = set(re.findall(r"/[it]/[0-9a-f]{32}\.jpg", page))
    pictures = [Drawing.open(io.BytesIO(client.get(address).content)) for address in addresses]
    assert pictures and all(picture.size == (40, 30) and all_of(GREEN, picture) for picture in pictures)
    assert "a.png" not in page and "xywh" not in page
