"""The import is all or nothing: rows, files, and the report that adds up."""

import errno
import json
import threading
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connections
from django.urls import reverse

from benchmarks import locks, queries, tasks
from benchmarks.imports import run as run_import
from benchmarks.imports import staging
from benchmarks.imports import store as imports_store
from benchmarks.imports.order import benchmark_name
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Event, Image, Item, ItemImage, Job, JobState
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Refused
from benchmarks.storage.files import kept
from tests.benchmarks.bad_inputs.archives import zip_named
from tests.builders import imports

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def cups(tmp_path) -> tuple[Path, Path]:
    return imports.small(tmp_path / "given")


def test_items_captions_and_images_come_in(cups, media):
    job = imports.imported(*cups)
    assert job.state == JobState.DONE, job.problems
    assert imports.rows() == {"Benchmark": 1, "Item": 3, "Caption": 6, "ItemImage": 6, "Image": 6}
    record = queries.record_of(queries.with_material(Item.objects.filter(key="i1")).get())
    assert [caption.text for caption in record.captions] == ["A blue cup, 1.", "A red cup, 1."]
    assert [image.name for image in record.images] == ["1-0.jpg", "1.jpg"]


def test_the_files_are_those_that_the_rows_name(cups, media):
    imports.imported(*cups)
    assert imports.stored_files(media) == imports.named_files()
    assert not (media / "staging").exists()


def test_originals_are_kept_byte_for_byte(cups, media):
    imports.imported(*cups)
    kept = {(media / image.original_path).read_bytes() for image in Image.objects.all()}
    assert kept == {imports.jpeg(number) for number in range(6)}


def test_the_report_adds_up(tmp_path, media):
    extra = {"spare.jpg": imports.jpeg(99), ".DS_Store": b"x", "2-0b.jpg": imports.jpeg(0)}
    path, images = imports.small(tmp_path / "given", extra=extra)
    with path.open("a") as file:
        file.write(json.dumps(imports.item(9, images=[{"role": "positive", "file": "2-0b.jpg"}])) + "\n")
    report = imports.imported(path, images).report
    assert report["items"] == 4 == Item.objects.count()
    assert report["images"] == {"named": 7, "stored": 6, "known": 0, "same": 1}
    assert {name: report["files"][name] for name in ("found", "used", "unused", "system")} == {
        "found": 9, "used": 7, "unused": 1, "system": 1
    }  # fmt: skip
    assert report["files"]["unused_names"] == ["spare.jpg"]


def test_images_that_are_stored_already_are_shared(cups, media):
    imports.imported(*cups)
    report = imports.imported(*cups, name="Cups again").report
    assert report["images"] == {"named": 6, "stored": 0, "known": 6, "same": 0}
    assert Image.objects.count() == 6
    assert imports.stored_files(media) == imports.named_files()


def test_twice_into_the_same_benchmark_is_already_imported(cups, media):
    imports.imported(*cups)
    before = imports.rows(), imports.tree(media)
    job = imports.imported(*cups)
    assert imports.codes(job) == ["ALREADY_IMPORTED"]
    assert (imports.rows(), imports.tree(media)) == before
    job = imports.imported(*cups, skip_stored=True)
    assert (job.report["items"], job.report["benchmark"]) == (0, Benchmark.objects.get().pk)
    assert (imports.rows(), imports.tree(media)) == before


def test_two_imports_of_the_same_rows_store_them_once(cups, media, monkeypatch):
    gather = run_import.Run.gather

    def after_another(run):
        monkeypatch.setattr(run_import.Run, "gather", gather)
        imports.imported(*cups)
        return gather(run)

    monkeypatch.setattr(run_import.Run, "gather", after_another)
    report = imports.imported(*cups, skip_stored=True).report
    assert (report["items"], Item.objects.count(), report["benchmark"]) == (0, 3, Benchmark.objects.get().pk)
    assert imports.stored_files(media) == imports.named_files()


def test_stored_items_are_skipped_unless_their_content_has_changed(cups, tmp_path):
    path, _ = cups
    imports.imported(*cups)
    with path.open("a") as file:
        file.write(json.dumps(imports.item(9, images=[])) + "\n")
    job = imports.imported(path, None, skip_stored=True)
    assert (job.state, job.report["items"], job.report["notes"][0]["code"]) == ("done", 1, "ALREADY_IMPORTED")
    images = imports.archive(tmp_path, [], {"1.jpg": imports.jpeg(99)})
    assert imports.codes(imports.imported(path, images, skip_stored=True)) == ["OTHER_CONTENT"]


def test_an_id_that_is_there_already_is_named_with_its_row(tmp_path, cups, media):
    imports.imported(*cups)
    other = imports.manifest(tmp_path, [imports.item(7, images=[]), imports.item(1, images=[])])
    job = imports.imported(other, None)
    assert [(p["code"], p["row"], p["column"]) for p in job.problems] == [("DUPLICATE_ID", 2, "id")]
    assert "other content" in job.problems[0]["advice"]


def test_a_second_part_is_added_after_the_first(tmp_path, cups, media):
    imports.imported(*cups)
    more = imports.manifest(tmp_path, [imports.item(7, images=[])])
    job = imports.imported(more, None)
    assert job.report["new"] is False
    assert list(Item.objects.values_list("key", "position")) == [("i0", 0), ("i1", 1), ("i2", 2), ("i7", 3)]


@pytest.mark.parametrize(
    ("images", "code"), [(None, "NO_IMAGES"), ("empty.zip", "EMPTY_FILE"), ("none.zip", "FILE_UNREADABLE")]
)
def test_images_must_be_given(tmp_path, cups, media, images, code):
    (tmp_path / "empty.zip").touch()
    job = imports.imported(cups[0], images and tmp_path / images)
    assert imports.codes(job) == [code]
    assert set(imports.rows().values()) == {0}


def test_a_missing_image_that_is_in_another_folder_is_suggested(tmp_path, media):
    path = imports.manifest(tmp_path, [imports.item(1, images=[{"role": "positive", "file": "x/1.jpg"}])])
    images = imports.archive(tmp_path, ["y/1.JPG", "z/2.jpg"])
    assert imports.imported(path, images).problems[0]["advice"].endswith("Did you mean “y/1.JPG”?")


@pytest.mark.parametrize("skip", [False, True])
def test_a_missing_image_may_have_a_name_in_another_encoding(tmp_path, media, skip):
    path = imports.manifest(tmp_path, [imports.item(1, images=[{"role": "positive", "file": "日本.jpg"}])])
    images = zip_named(tmp_path / "images.zip", "日本.jpg".encode("cp932"))
    job = imports.imported(path, images, skip_missing_images=skip)
    assert "The names in this archive are in another encoding" in job.problems[0]["advice"]


def test_a_file_of_another_format_is_one_problem(tmp_path, media):
    path = imports.manifest(tmp_path, [{"filename": "1.jpg", "caption": "A cup.", "negative_caption": "No cup."}] * 9)
    job = imports.imported(path, None)
    assert (imports.codes(job), job.problem_count) == (["OTHER_FORMAT"], 1)
    assert [kind["code"] for kind in job.report["kinds"]] == ["OTHER_FORMAT"]


def test_every_missing_image_is_listed_with_its_row(tmp_path, media):
    path, _ = imports.small(tmp_path / "given")
    images = imports.archive(tmp_path, ["0.jpg", "0-0.jpg", "1.jpg"])
    job = imports.imported(path, images)
    assert [(p["code"], p["row"]) for p in job.problems] == [
        ("MISSING_IMAGE", 2),
        ("MISSING_IMAGE", 3),
        ("MISSING_IMAGE", 3),
    ]


class TestRowsWithMissingImages:
    @pytest.fixture
    def gaps(self, tmp_path, media):
        """Rows 2 and 3 name images that were not given."""
        path, _ = imports.small(tmp_path / "given")
        return path, imports.archive(tmp_path, ["0.jpg", "0-0.jpg", "1.jpg", "spare.jpg"])

    def test_they_are_skipped_where_that_is_asked_and_named(self, gaps, client):
        job = imports.imported(*gaps, skip_missing_images=True)
        assert (job.state, job.report["items"], imports.rows()["Item"]) == (JobState.DONE, 1, 1), job.problems
        assert job.report["missing_images"] == {"rows": 2, "ids": ["i1", "i2"]}
        notes = [note for note in job.report["notes"] if note["code"] == "MISSING_IMAGE"]
        assert [(note["row"], note["column"]) for note in notes] == [
            (2, "candidate image"),
            (3, "positive image, candidate image"),
        ]
        client.force_login(User.objects.create_superuser("ana"))
        for page in (reverse("job-detail", args=[job.pk]), Benchmark.objects.get().pk):
            page = page if isinstance(page, str) else reverse("benchmark-detail", args=[page])
            text = client.get(page).text
            assert "2 rows skipped because images are missing" in text and '<bdi dir="auto">i2</bdi>' in text

    def test_nothing_else_is_relaxed(self, gaps, tmp_path):
        path, _ = gaps
        images = imports.archive(tmp_path, ["0.jpg"], extra={"0-0.jpg": b"\xff\xd8\xff cut off"})
        assert imports.codes(imports.imported(path, images, skip_missing_images=True)) == ["IMAGE_CORRUPT"]
        assert imports.codes(imports.imported(path, None, skip_missing_images=True)) == ["NO_IMAGES"]
        images = imports.archive(tmp_path, ["spare.jpg"])
        assert imports.codes(imports.imported(path, images, skip_missing_images=True)) == ["NO_ROWS"]
        assert set(imports.rows().values()) == {0}

    def test_by_command(self, gaps):
        out = StringIO()
        given = {"images": gaps[1], "name": "Cups", "skip_missing_images": True}
        call_command("import_benchmark", "jsonl", str(gaps[0]), **given, stdout=out)
        assert (
            "2 rows skipped because images are missing" in out.getvalue() and "Row “i2” was skipped" in out.getvalue()
        )


class TestRowsWithUnreadableImages:
    DAMAGED = b"\xff\xd8\xff cut off"

    @pytest.fixture
    def damaged(self, tmp_path, media):
        """Image of row 2 is damaged, of row 3 has its bytes, of row 4 is too long; row 5 is sound but for a crop."""
        path, _ = imports.small(tmp_path / "given", 5)
        sound = ["0.jpg", "0-0.jpg", "1.jpg", "2.jpg", "3.jpg", "4.jpg", "4-0.jpg"]
        bad = {"1-0.jpg": self.DAMAGED, "2-0.jpg": self.DAMAGED, "3-0.jpg": imports.jpeg(1, (20_001, 1))}
        return path, imports.archive(tmp_path, sound, extra=bad)

    @pytest.mark.parametrize("check_only", [False, True])
    def test_they_are_skipped_where_that_is_asked_and_named(self, damaged, client, check_only):
        job = imports.imported(*damaged, skip_unreadable_images=True, check_only=check_only)
        assert (job.state, job.report["items"]) == (JobState.DONE, 2), job.problems
        assert job.report["unreadable_images"] == {"rows": 3, "ids": ["i1", "i2", "i3"]}
        assert "missing_images" not in job.report
        notes = [(note["code"], note["row"], note["column"]) for note in job.report["notes"]]
        assert notes == [
            ("IMAGE_CORRUPT", 2, "candidate image"),
            ("IMAGE_CORRUPT", 3, "candidate image"),
            ("IMAGE_TOO_LARGE", 4, "candidate image"),
        ]
        assert job.report["images"] == {"named": 4, "stored": 4, "known": 0, "same": 0}
        assert imports.rows()["Image"] == 4 * (not check_only)  # none of the skipped rows
        client.force_login(User.objects.create_superuser("ana"))
        pages = [reverse("job-detail", args=[job.pk])]
        pages += [reverse("benchmark-detail", args=[one.pk]) for one in Benchmark.objects.all()]
        assert len(pages) == 2 - check_only
        for page in pages:
            text = client.get(page).text
            assert "3 rows skipped because images are unreadable" in text and '<bdi dir="auto">i3</bdi>' in text

    def test_nothing_else_is_relaxed(self, damaged, tmp_path):
        path, images = damaged
        assert imports.codes(imports.imported(path, images)) == ["IMAGE_CORRUPT", "IMAGE_TOO_LARGE"]
        missing = imports.archive(tmp_path / "given", ["0.jpg"], extra={"0-0.jpg": self.DAMAGED})
        job = imports.imported(path, missing, skip_unreadable_images=True)
        assert set(imports.codes(job)) == {"MISSING_IMAGE"}
        job = imports.imported(path, missing, skip_unreadable_images=True, skip_missing_images=True)
        assert imports.codes(job) == ["NO_ROWS"]
        assert set(imports.rows().values()) == {0}

    def test_with_missing_ones_both_are_listed(self, damaged, tmp_path):
        path, _ = damaged
        images = imports.archive(tmp_path, ["0.jpg", "0-0.jpg", "1.jpg"], extra={"1-0.jpg": self.DAMAGED})
        out = StringIO()
        given = {"images": images, "name": "Cups", "skip_missing_images": True, "skip_unreadable_images": True}
        call_command("import_benchmark", "jsonl", str(path), **given, stdout=out)
        for line in ("3 rows skipped because images are missing", "1 rows skipped because images are unreadable"):
            assert line in out.getvalue()
        verbs = Event.objects.filter(verb__startswith="skipped rows").values_list("verb", "data__rows")
        assert sorted(verbs) == [("skipped rows with missing images", 3), ("skipped rows with unreadable images", 1)]

    def test_a_damaged_file_takes_all_its_crops_along(self, tmp_path, media):
        crop = [{"role": "positive", "file": "a.png", "crop": [0, 0, 4, 4]}]
        items = [imports.item(0), imports.item(1, images=crop), imports.item(2, images=[*crop, *crop])]
        path = imports.manifest(tmp_path, items)
        images = imports.archive(tmp_path, ["0.jpg", "0-0.jpg"], extra={"a.png": b"\x89PNG\r\n\x1a\n cut off"})
        job = imports.imported(path, images, skip_unreadable_images=True)
        assert job.report["unreadable_images"]["ids"] == ["i1", "i2"], job.problems


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("check_only", [False, True])
def test_the_time_left_includes_storing_what_is_checked(cups, media, monkeypatch, check_only):
    follows, begin = {}, jobs.Progress.begin

    def noted(progress: jobs.Progress, phase: str, total: int | None = None, then: float = 0) -> None:
        begin(progress, phase, total, then)
        follows[phase] = Job.objects.get(pk=progress.job.pk).then

    monkeypatch.setattr(jobs.Progress, "begin", noted)
    assert imports.imported(*cups, check_only=check_only).state == JobState.DONE
    assert (follows["checking images"] == 0) == check_only and not follows.get("storing")


class TestCheckOnly:
    def test_it_says_what_an_import_brings_and_stores_nothing(self, cups, media, client):
        """With an image that is stored already, the others new."""
        imports.imported(*imports.small(cups[0].parent.parent / "first", 1), name="First")
        before = imports.rows(), imports.tree(media)
        job = imports.imported(*cups, check_only=True)
        assert (job.state, imports.rows(), imports.tree(media)) == (JobState.DONE, *before), job.problems
        report = job.report
        assert (report["items"], report["kinds"], report["sizes"]) == (3, [["swap", "att", 3]], [[16, 16, 6]])
        assert report["images"] == {"named": 6, "stored": 4, "known": 2, "same": 0}
        assert report["bytes"] == sum(len(imports.jpeg(number)) for number in range(6))
        assert [len(item["pictures"]) for item in report["first"]] == [2, 2, 2]
        client.force_login(User.objects.create_superuser("ana"))
        page = client.get(reverse("job-detail", args=[job.pk])).text
        assert "No problems found" in page and "creates the benchmark" in page
        assert page.count('src="data:image/jpeg;base64,/9j/') == 6
        assert reverse("job-detail", args=[job.pk]) in client.get(reverse("benchmark-list")).text
        done = imports.imported(*cups).report
        same = ("items", "captions", "uses", "images", "files", "notes")
        assert {name: done[name] for name in same} == {name: report[name] for name in same}

    def test_problems_are_those_of_an_import(self, tmp_path, media):
        path, _ = imports.small(tmp_path / "given")
        images = imports.archive(tmp_path, ["0.jpg", "0-0.jpg", "1.jpg"])
        job, again = imports.imported(path, images, check_only=True), imports.imported(path, images)
        assert (job.state, job.problems, job.report) == (JobState.FAILED, again.problems, again.report)

    def test_by_command(self, cups, media):
        out = StringIO()
        given = {"images": cups[1], "name": "Cups", "check_only": True}
        call_command("import_benchmark", "jsonl", str(cups[0]), **given, stdout=out)
        assert "nothing was stored" in out.getvalue() and "6 images of 16 × 16 pixels" in out.getvalue()
        assert set(imports.rows().values()) == {0}


def test_candidates_go_in_without_the_positive_images_where_none_is_given(tmp_path, media):
    path, _ = imports.small(tmp_path / "given")
    images = imports.archive(tmp_path, [f"{number}-0.jpg" for number in range(3)])
    job = imports.imported(path, images)
    assert set(ItemImage.objects.values_list("role", flat=True)) == {"candidate"}
    assert [note["code"] for note in job.report["notes"]].count("POSITIVE_IMAGES_ABSENT") == 1
    assert imports.codes(imports.imported(path, images)) == ["ALREADY_IMPORTED"]


def test_the_text_alone_can_be_imported(cups, media):
    job = imports.imported(cups[0], None, text_only=True)
    assert job.state == JobState.DONE
    assert imports.rows() == {"Benchmark": 1, "Item": 3, "Caption": 6, "ItemImage": 0, "Image": 0}


def test_a_broken_image_refuses_all_and_leaves_nothing(tmp_path, media):
    path, _ = imports.small(tmp_path / "given", 20)
    names = [f"{n}{part}.jpg" for n in range(20) for part in ("", "-0")]
    images = imports.archive(tmp_path, names[:-1], extra={names[-1]: imports.jpeg(7, (200, 200))[:-400]})
    job = imports.imported(path, images)
    assert [(p["code"], p["row"], p["column"]) for p in job.problems] == [("IMAGE_CORRUPT", 20, "candidate")]
    assert set(imports.rows().values()) == {0}
    assert imports.tree(media) == []


@pytest.mark.parametrize("where", ["store_items", "store_images"])
def test_a_failure_in_the_transaction_leaves_nothing(cups, media, monkeypatch, where):
    monkeypatch.setattr(imports_store, where, lambda *args: 1 / 0)
    job = imports.imported(*cups)
    assert imports.codes(job) == ["UNEXPECTED"]
    assert set(imports.rows().values()) == {0}
    assert imports.tree(media) == []


def test_a_failure_after_the_files_moved_takes_them_away_again(cups, media, monkeypatch):
    imports.imported(*imports.small(cups[0].parent.parent / "first", 2), name="First")
    before = imports.tree(media)
    monkeypatch.setattr(run_import.audit, "record", fails_at(run_import.audit.record, "imported"))
    assert imports.codes(imports.imported(*cups)) == ["UNEXPECTED"]
    assert imports.tree(media) == before
    assert Benchmark.objects.count() == 1


def fails_at(record, verb):
    def fail(**event):
        if event["verb"] == verb:
            raise RuntimeError("planted")
        return record(**event)

    return fail


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_said_and_its_space_given_back(cups, media, monkeypatch, code):
    def full(self, *moves):
        raise OSError(code, "planted")

    monkeypatch.setattr(staging.Staging, "place", full)
    assert imports.codes(imports.imported(*cups)) == ["STORAGE_FULL"]
    assert set(imports.rows().values()) == {0}
    assert imports.tree(media) == []


def test_an_import_that_starts_over_clears_what_its_dead_process_had_placed(cups, media):
    """Where the worker's child alone was killed, no worker starts that would clear it."""
    job = imports.queued(*cups)
    placed, dead = Image(sha256="a" * 64, opaque="b" * 32), staging.Staging(job.pk)
    for path in staging.places(placed):
        (media / path).parent.mkdir(parents=True)
        (media / path).write_bytes(b"placed")
    kept.write(dead.journal, f"{placed.sha256} {placed.opaque}\n".encode())
    assert imports.run(job).state == JobState.DONE
    assert imports.stored_files(media) == imports.named_files()


def test_what_a_dead_process_had_placed_is_cleared_but_not_what_another_import_stored(cups, media):
    """Both brought the same image."""
    imports.imported(*cups)
    stored, before = Image.objects.first(), imports.tree(media)
    placed, dead = Image(sha256=stored.sha256, opaque="b" * 32), staging.Staging(imports.queued(*cups, name="More").pk)
    kept.write(dead.journal, f"{placed.sha256} {placed.opaque}\n".encode())
    for path in (placed.served_path, placed.thumbnail_path):
        kept.write(path, b"placed")
    staging.sweep_staging()
    assert imports.tree(media) == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("during", ["checking images", "storing"])
def test_cancelled_at_half_leaves_nothing(tmp_path, media, monkeypatch, during):
    monkeypatch.setattr(jobs, "WRITE_EVERY", 0)
    job = imports.queued(*imports.small(tmp_path / "given", 20))

    def tell(phase, done, total):
        if phase == during and total and done >= total // 2:
            jobs.cancel_job(job=job, by="user:1")

    job = imports.run(job, tell=tell)
    assert (job.state, job.phase) == (JobState.CANCELLED, during)
    assert job.total // 2 <= job.done < job.total
    assert set(imports.rows().values()) == {0}
    assert imports.tree(media) == []


def test_a_job_that_is_over_does_nothing_when_it_runs_again(cups, media):
    job = imports.imported(*cups)
    before = imports.rows(), Event.objects.count()
    assert imports.run(job).state == JobState.DONE
    assert (imports.rows(), Event.objects.count()) == before


def test_captions_are_formatted_when_asked(tmp_path, media):
    captions = [{"role": "positive", "text": "a cat in Rome"}, {"role": "negative", "text": "a dog in Rome"}]
    imports.imported(
        imports.manifest(tmp_path, [imports.item(1, captions=captions, images=[])]), None, format_captions=True
    )
    assert queries.record_of(Item.objects.get()).caption("positive") == "A cat in Rome."


class Drawn:
    """Pictures made on demand: what a source must have at the least."""

    names = ("one.jpg", "two.jpg")

    def stream(self, wanted):
        for name in wanted:
            yield name, imports.jpeg(self.names.index(name))


def test_records_in_memory_with_pictures_made_on_demand(media):
    captions = CaptionRecord("positive", "One."), CaptionRecord("negative", "Two.")
    record = ItemRecord(
        "1", "swap", "obj", captions, (ImageRecord("candidate", "two.jpg"), ImageRecord("candidate", "one.jpg"))
    )
    benchmark = run_import.import_items(name="Drawn", records=[record], images=Drawn(), source="demo", by="test")
    uses = benchmark.items.get().item_images.all()
    assert [(use.key, use.source_name) for use in uses] == [("candidate-0", "two.jpg"), ("candidate-1", "one.jpg")]
    with pytest.raises(Refused, match="ALREADY_IMPORTED"):
        run_import.import_items(name="Drawn", records=[record], images=Drawn(), source="demo", by="test")


def test_the_command_prints_the_report(cups, media):
    out = StringIO()
    call_command("import_benchmark", "jsonl", str(cups[0]), images=cups[1], name="Cups", stdout=out)
    assert "3 items, 6 captions, 6 uses of images." in out.getvalue()
    assert "6 image names = 6 stored + 0 already stored + 0 identical" in out.getvalue()


def test_the_command_prints_a_line_for_each_problem(cups, media):
    out = StringIO()
    with pytest.raises(CommandError, match=r"Nothing was imported: 1 problem\."):
        call_command("import_benchmark", "jsonl", str(cups[0]), name="Cups", stdout=out)
    assert out.getvalue().startswith("NO_IMAGES · items.jsonl ·  ·  · The rows name 6 images.")


@pytest.mark.nightly
@pytest.mark.real
def test_the_whole_of_sugarcrepe(real, tmp_path, media):
    """7,511 rows of the seven files, with a stand-in for each of the images they name."""
    folder = real / "data" / "sugarcrepe"
    rows = [row for path in folder.glob("*.json") for row in json.loads(path.read_text()).values()]
    job = imports.imported(folder, imports.archive(tmp_path, [row["filename"] for row in rows]), format="sugarcrepe")
    assert job.state == JobState.DONE, job.problems
    assert job.report["items"] == len(rows) == 7511 == Item.objects.count()
    counts = {(kind["type"], kind["subtype"]): kind["count"] for kind in queries.kinds(Item.objects.all())}
    assert counts[("swap", "obj")] == 245
    assert job.report["images"]["stored"] == len({row["filename"] for row in rows})
    assert imports.stored_files(media) == imports.named_files()


@pytest.mark.real
def test_thirty_rows_of_bivlc_candidates(real, tmp_path, media):
    source = (real / "data" / "bivlc" / "BiVLC_negative_imgs.csv").read_text().splitlines(keepends=True)[:31]
    (tmp_path / "part.csv").write_text("".join(source))
    names = [cell for line in source[1:] for cell in line.replace('"', "").strip().split(",") if cell.endswith(".jpg")]
    job = imports.imported(tmp_path / "part.csv", imports.archive(tmp_path, names), format="bivlc-candidates")
    assert job.state == JobState.DONE, job.problems
    assert (job.report["items"], job.report["uses"]) == (30, 150)
    assert job.report["images"]["stored"] == len(set(names))


@pytest.mark.django_db(transaction=True)
class TestProcesses:
    """What only separate connections and processes can show."""

    @pytest.mark.parametrize("moment", ["moved", "staged"])
    def test_killed_in_mid_import_then_swept_and_done_by_the_next_worker(self, cups, media, moment):
        job = imports.queued(*cups)
        imports.killed(job, moment)
        assert set(imports.rows().values()) == {0}
        assert imports.stored_files(media) != []
        staging.sweep_staging()
        assert imports.tree(media) == []
        job.refresh_from_db()
        assert job.state == JobState.RUNNING
        assert imports.run(job).state == JobState.DONE
        assert imports.stored_files(media) == imports.named_files()

    def test_a_sweep_leaves_shared_originals_alone(self, cups, media):
        job = imports.queued(*cups)
        imports.killed(job, "moved")
        imports.imported(*cups, name="Other")
        staging.sweep_staging()
        assert imports.stored_files(media) == imports.named_files()

    def test_a_starting_worker_sends_a_dead_ones_job_again(self, cups, media, eager_tasks):
        job = imports.queued(*cups)
        imports.killed(job, "moved")
        tasks.tidy_up()
        job.refresh_from_db()
        assert job.state == JobState.DONE

    def test_a_job_that_kills_its_worker_again_and_again_is_failed(self, cups, media):
        job = imports.queued(*cups)
        for _ in range(jobs.TRIES):
            imports.killed(job, "staged")
        tasks.run_import(job.pk)
        job.refresh_from_db()
        assert (job.state, imports.codes(job)) == (JobState.FAILED, ["WORKER_LOST"])

    def test_a_job_that_runs_is_left_alone_by_a_second_worker(self, cups, media):
        job = imports.queued(*cups)
        seen = []

        def second():
            seen.append(imports.run(job).state)
            seen.append(jobs.revive_jobs(by="worker"))
            connections.close_all()

        with locks.alone(f"job:{job.pk}"):
            thread = threading.Thread(target=second)
            thread.start()
            thread.join()
        assert seen == [JobState.QUEUED, []]

    def test_two_at_once_import_it_once(self, cups, media):
        pending = [imports.queued(*cups), imports.queued(*cups)]
        threads = [threading.Thread(target=run_and_close, args=[job]) for job in pending]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        states = sorted(Job.objects.values_list("state", flat=True))
        assert states == [JobState.DONE, JobState.FAILED]
        assert imports.rows()["Item"] == 3
        assert imports.stored_files(media) == imports.named_files()


def run_and_close(job: Job) -> None:
    imports.run(job)
    connections.close_all()


def test_a_stopped_commands_job_is_failed_with_a_sentence(cups):
    job = imports.queued(*cups)
    Job.objects.filter(pk=job.pk).update(params={**job.params, "foreground": True})
    jobs.start_job(job=job, by="command")
    tasks.tidy_up()
    job.refresh_from_db()
    assert (job.state, imports.codes(job)) == (JobState.FAILED, ["WORKER_LOST"])
    assert "Run it again" in job.problems[0]["advice"]


@pytest.mark.parametrize(
    ("name", "why"),
    [("\u200b", "U\\+200B"), ("Cups\nand plates", "U\\+000A"), ("Cups\u2028", ""), ("Cu\u00adps", "U\\+00AD"),
     (" ", "empty"), ("\u3164", "U\\+3164"), ("Cups \u202eslup", "U\\+202E")],
)  # fmt: skip
def test_a_name_that_cannot_be_seen_is_refused(name, why):
    if why:
        with pytest.raises(Refused, match=why):
            benchmark_name(name)
    else:
        assert benchmark_name(name) == "Cups"  # what stands at the end goes


def test_a_name_is_kept_composed():
    assert benchmark_name(" Cafe\u0301 ") == benchmark_name("Caf\u00e9") == "Caf\u00e9"
