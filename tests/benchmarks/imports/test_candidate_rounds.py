"""New candidates for items that a benchmark has: a round of their own, all of it or nothing."""

import csv
import threading
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from benchmarks.imports import store as imports_store
from benchmarks.models import Benchmark, Event, ItemImage, Job, JobState
from tests.builders import imports

pytestmark = pytest.mark.django_db


@pytest.fixture
def cups(tmp_path, media) -> Benchmark:
    """Three items with a positive image and one candidate each."""
    assert imports.imported(*imports.small(tmp_path / "given")).state == JobState.DONE
    return Benchmark.objects.get()


def line(number: int, *names: str, **fields) -> dict:
    images = [{"role": "candidate", "file": name, "licence": "CC0"} for name in names or (f"new-{number}.jpg",)]
    return imports.item(number, **{"images": images, **fields})


def given(folder: Path, items: list[dict], start: int = 50, **extra: bytes) -> tuple[Path, Path]:
    """The rows and a zip with a picture of its own for each name; `extra` by name are as they are given."""
    folder.mkdir(exist_ok=True)
    names = dict.fromkeys(image["file"] for item in items for image in item["images"])
    images = folder / "new.zip"
    with zipfile.ZipFile(images, "w") as packed:
        for number, name in enumerate(names):
            packed.writestr(name, extra.get(name) or imports.jpeg(start + number))
    return imports.manifest(folder, items, "new.jsonl"), images


def brought(folder: Path, items: list[dict], **how) -> Job:
    made = {name: how.pop(name) for name in ("start", *[n for n in how if n.endswith(".jpg")]) if name in how}
    return imports.imported(*given(folder, items, **made), new_candidates=True, **how)


def candidates(key: str) -> list[tuple]:
    uses = ItemImage.objects.filter(item__key=key, role="candidate").order_by("position")
    return list(uses.values_list("position", "round", "source_name"))


def all_there() -> tuple:
    return tuple(imports.rows().values()), list(ItemImage.objects.order_by("pk").values())


def test_they_come_after_those_that_are_there_in_a_round_of_their_own(
    cups, tmp_path, media, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        job = brought(tmp_path / "two", [line(1, "x.jpg", "y.jpg"), line(0)])
    assert job.state == JobState.DONE, job.problems
    assert candidates("i1") == [(0, 1, "1-0.jpg"), (1, 2, "x.jpg"), (2, 2, "y.jpg")]
    assert candidates("i0") == [(0, 1, "0-0.jpg"), (1, 2, "new-0.jpg")] and len(candidates("i2")) == 1
    assert ItemImage.objects.filter(licence="CC0").count() == 3
    assert imports.rows() | {"Item": 3, "Caption": 6, "ItemImage": 9, "Image": 9} == imports.rows()
    assert imports.stored_files(media) == imports.named_files()
    # The report and the event say how many.
    assert job.title == "New candidates for Cups"
    assert (job.report["items"], job.report["new_candidates"], job.report["benchmark"]) == (2, 3, cups.pk)
    event = Event.objects.get(verb="imported new candidates")
    assert (event.data["items"], event.data["images"], event.by) == (2, 3, "test")


def test_a_check_says_how_many_and_finds_those_that_are_there(cups, tmp_path):
    rows = all_there()
    job = brought(tmp_path / "two", [line(1, "x.jpg", "y.jpg"), line(0)], check_only=True)
    assert (job.report["new_candidates"], job.report["new"], all_there()) == (3, False, rows), job.problems
    brought(tmp_path / "three", [line(1)])
    assert imports.codes(brought(tmp_path / "four", [line(1)], check_only=True)) == ["ALREADY_IMPORTED"]


def test_rounds_follow_one_another_item_by_item(cups, tmp_path):
    brought(tmp_path / "two", [line(1)])
    brought(tmp_path / "three", [line(1, "again.jpg"), line(0)], start=80)
    assert [round for _, round, _ in candidates("i1")] == [1, 2, 3]
    assert [round for _, round, _ in candidates("i0")] == [1, 2]


def test_the_positive_image_may_be_repeated_and_is_not_stored_again(cups, tmp_path):
    images = [{"role": "positive", "file": "1.jpg"}, {"role": "candidate", "file": "x.jpg"}]
    path, _ = given(tmp_path / "two", [line(1, images=images)])
    archive = imports.archive(tmp_path / "two", ["x.jpg"], {})  # the positive one need not be there
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("x.jpg", imports.jpeg(70))
    job = imports.imported(path, archive, new_candidates=True)
    assert job.state == JobState.DONE, job.problems
    assert ItemImage.objects.filter(item__key="i1", role="positive").count() == 1


def test_the_same_name_may_be_another_picture(cups, tmp_path):
    assert brought(tmp_path / "two", [line(1, "1-0.jpg")]).state == JobState.DONE
    assert len(set(ItemImage.objects.filter(source_name="1-0.jpg").values_list("image__sha256", flat=True))) == 2


CAPTIONS = imports.item(1)["captions"]
OTHER = [CAPTIONS[0], {"role": "negative", "text": "A green cup, 1."}]
MORE = [*CAPTIONS, {"role": "second_positive", "text": "A cup that is red, 1."}]


REFUSED = [
    (line(9), "UNKNOWN_ID", "id"),
    (line(1, type="add"), "OTHER_CONTENT", "type"),
    (line(1, subtype="obj"), "OTHER_CONTENT", "subtype"),
    (line(1, captions=OTHER), "OTHER_CONTENT", "negative caption"),
    (line(1, captions=MORE), "OTHER_CONTENT", "second_positive caption"),
    (line(1, captions=CAPTIONS[:1]), "OTHER_CONTENT", "negative caption"),
    (line(1, images=[]), "VALUE_MISSING", "candidate image"),
    (line(1, images=[{"role": "positive", "file": "1.jpg"}]), "VALUE_MISSING", "candidate image"),
    (
        line(1, images=[{"role": "candidate", "file": "x.jpg"}, {"role": "positive", "file": "other.jpg"}]),
        "OTHER_CONTENT",
        "positive image",
    ),
]


def test_rows_that_are_not_the_stored_items_are_refused_with_their_place(cups, tmp_path):
    before = all_there()
    for number, (row, code, column) in enumerate(REFUSED):
        job = brought(tmp_path / f"{number}", [line(0), row])
        assert job.state == JobState.FAILED and all_there() == before
        assert [(p["code"], p["file"], p["row"], p["column"]) for p in job.problems] == [(code, "new.jsonl", 2, column)]


def test_an_item_comes_once(cups, tmp_path):
    job = brought(tmp_path / "two", [line(1), line(1, "y.jpg")])
    assert imports.codes(job) == ["DUPLICATE_ID"]


def test_images_are_checked_as_ever(cups, tmp_path, media):
    before = all_there(), imports.stored_files(media)
    job = brought(tmp_path / "two", [line(0), line(1, "x.jpg")], **{"x.jpg": b"no picture"})
    assert job.state == JobState.FAILED and job.problems[0]["row"] == 2
    assert (all_there(), imports.stored_files(media)) == before
    path, _ = given(tmp_path / "three", [line(0)])
    assert imports.codes(imports.imported(path, None, new_candidates=True)) == ["NO_IMAGES"]
    path, _ = given(tmp_path / "four", [line(0, "lost.jpg")])
    archive = imports.archive(tmp_path / "four", ["found.jpg"])
    assert imports.codes(imports.imported(path, archive, new_candidates=True)) == ["MISSING_IMAGE"]


def test_an_unknown_benchmark_is_refused_and_not_made(cups, tmp_path):
    job = brought(tmp_path / "two", [line(1)], name="Plates")
    assert imports.codes(job) == ["UNKNOWN_BENCHMARK"] and Benchmark.objects.count() == 1


def test_twice_is_already_imported(cups, tmp_path):
    assert brought(tmp_path / "two", [line(1), line(0)]).state == JobState.DONE
    before = all_there()
    assert imports.codes(brought(tmp_path / "again", [line(1), line(0)])) == ["ALREADY_IMPORTED"]
    skipped = brought(tmp_path / "skipped", [line(1), line(0)], skip_stored=True)
    assert skipped.report["new_candidates"] == 0 and skipped.report["benchmark"]
    assert all_there() == before


def test_the_very_image_that_an_item_has_is_named(cups, tmp_path):
    brought(tmp_path / "two", [line(1, "x.jpg")])
    job = brought(tmp_path / "three", [line(0, "new.jpg"), line(1, "renamed.jpg")], **{"renamed.jpg": imports.jpeg(50)})
    assert [(p["code"], p["row"]) for p in job.problems] == [("SAME_CANDIDATE", 2)]


def test_captions_are_formatted_as_they_were(tmp_path, media):
    """The names in them are told by all captions of the benchmark, of which the new file has few."""
    captions = [{"role": "positive", "text": "a Red cup"}, {"role": "negative", "text": "a blue cup"}]
    others = [
        {"role": role, "text": f"A {size} red pot."} for role, size in (("positive", "big"), ("negative", "tall"))
    ]
    folder = tmp_path / "one"
    folder.mkdir()
    items = [imports.item(1, captions=captions), *(imports.item(n, captions=others, images=[]) for n in (2, 3, 4))]
    path = imports.manifest(folder, items)
    imports.imported(path, imports.archive(folder, ["1.jpg", "1-0.jpg"]), format_captions=True)
    assert imports.codes(brought(tmp_path / "two", [line(1, captions=captions)])) == ["OTHER_CONTENT"] * 2
    assert brought(tmp_path / "two", [line(1, captions=captions)], format_captions=True).state == JobState.DONE


def test_meta_and_truth_are_not_taken_and_that_is_said(cups, tmp_path):
    job = brought(tmp_path / "two", [line(1, meta={"a": 1}, truth={"bivlc-choose": ["candidate-1"]})])
    assert [note["code"] for note in job.report["notes"]] == ["NOT_TAKEN"]
    item = cups.items.get(key="i1")
    assert (item.meta, item.truth) == ({}, {})


def test_a_failure_in_the_transaction_leaves_nothing(cups, tmp_path, media, monkeypatch):
    before = all_there(), imports.stored_files(media)

    def broken(*_):
        raise RuntimeError

    monkeypatch.setattr(imports_store, "image_ids", broken)
    assert brought(tmp_path / "two", [line(1)]).state == JobState.FAILED
    assert (all_there(), imports.stored_files(media)) == before


@pytest.mark.django_db(transaction=True)
def test_two_at_once_bring_it_once(tmp_path, settings):
    Path(settings.MEDIA_ROOT).mkdir()
    imports.imported(*imports.small(tmp_path / "given"))
    pending = [imports.queued(*given(tmp_path / "two", [line(1)]), new_candidates=True) for _ in range(2)]

    def run(job):
        imports.run(job)
        connections.close_all()

    threads = [threading.Thread(target=run, args=[job]) for job in pending]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(Job.objects.values_list("state", flat=True)) == [JobState.DONE, JobState.DONE, JobState.FAILED]
    assert len(candidates("i1")) == 2


class TestTables:
    FIELDS = ("filename", "caption", "negative_caption", "type", "subtype", "index", "hn_img_0", "hn_img_1", "seed")

    def table(self, folder: Path, *rows) -> Path:
        path = folder / "new.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([self.FIELDS, *rows])
        return path

    def row(self, number: int, *names: str) -> tuple:
        return (
            f"{number}.jpg",
            f"A red cup, {number}.",
            f"A blue cup, {number}.",
            "swap",
            "att",
            f"i{number}",
            *names,
            "7",
        )

    def test_a_csv_brings_them_too_by_the_command(self, cups, tmp_path, capsys):
        path = self.table(tmp_path, self.row(1, "a.jpg", "b.jpg"), self.row(2, "c.jpg", "d.jpg"))
        images = imports.archive(tmp_path, [f"spare-{n}.jpg" for n in range(10)] + [f"{n}.jpg" for n in "abcd"])
        call_command("import_benchmark", "bivlc-candidates", str(path), images=images, name="Cups", new_candidates=True)
        said = capsys.readouterr().out
        assert "2 items received 4 new candidates." in said and "NOT_TAKEN" in said and "EXTRA_COLUMN" not in said
        assert [round for _, round, _ in candidates("i1")] == [1, 2, 2]

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"format": "sugarcrepe"}, "bivlc-candidates, jsonl"),
            ({"format": "jsonl", "text_only": True}, "New candidates are images"),
        ],
    )
    def test_what_carries_no_candidates_is_refused_by_the_command(self, cups, tmp_path, options, words):
        path = imports.manifest(tmp_path, [line(1)])
        with pytest.raises(CommandError, match=words):
            call_command(
                "import_benchmark", options.pop("format"), str(path), name="Cups", new_candidates=True, **options
            )
