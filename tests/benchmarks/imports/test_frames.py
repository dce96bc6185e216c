"""Images in the frame of their item: which get one, when it is made, and when it goes."""

import io
from pathlib import Path

import pytest
from django.urls import reverse
from PIL import Image as Drawing

from benchmarks import locks
from benchmarks.housekeeping.delete import delete_benchmark
from benchmarks.imports import frames
from benchmarks.models import Benchmark, Image, ItemImage, JobState
from tests.builders import imports

pytestmark = pytest.mark.django_db


@pytest.fixture
def cups(tmp_path, media) -> Benchmark:
    """Three items with a positive image and a candidate each, all of one size."""
    assert imports.imported(*imports.small(tmp_path / "given")).state == JobState.DONE
    return Benchmark.objects.get()


def framed_files(media: Path) -> dict[str, bytes]:
    return {f"framed/{path.parent.name}/{path.name}": path.read_bytes() for path in media.glob("framed/*/*")}


def names() -> set[str]:
    return {use.framed_path for use in ItemImage.objects.all()}


def test_an_import_frames_images_of_different_roles(cups, media):
    files = framed_files(media)
    assert set(files) == names() and len(files) == 6
    for item in cups.items.all():
        assert len({len(files[use.framed_path]) for use in item.item_images.all()}) == 1


def test_images_that_nothing_sets_apart_stay_as_they_are(tmp_path, media):
    made = imports.item(0)
    alone = made | {"images": made["images"][:1]}
    imports.imported(imports.manifest(tmp_path, [alone]), imports.archive(tmp_path, [alone["images"][0]["file"]]))
    assert ItemImage.objects.count() == 1 and framed_files(media) == {}


def test_what_a_killed_import_or_an_earlier_version_left_is_made_later(cups, media):
    before = framed_files(media)
    for path in list(before)[:4]:
        (media / path).unlink()
    with locks.alone("frames"):  # as if by another worker
        frames.make_missing_everywhere()
    assert len(framed_files(media)) == 2
    frames.make_missing_everywhere()
    assert framed_files(media) == before
    assert frames.make_missing(cups) == 0


def test_one_that_is_not_there_is_made_when_it_is_asked_for_with_the_others_of_its_item(cups, media, client):
    before = framed_files(media)
    item = cups.items.first()
    paths = [use.framed_path for use in item.item_images.all()]
    for path in paths:
        (media / path).unlink()
    answer = client.get(reverse("image", args=[item.item_images.first().opaque]))
    assert answer.content == before[item.item_images.first().framed_path]
    assert framed_files(media) == before


def test_without_what_it_would_be_made_from_there_is_none(cups, media, client):
    use = ItemImage.objects.select_related("image").first()
    for path in (use.framed_path, use.image.served_path):
        (media / path).unlink()
    assert client.get(reverse("image", args=[use.opaque])).status_code == 404


def test_new_candidates_change_the_frame_and_the_names(cups, tmp_path, media, django_capture_on_commit_callbacks):
    before, other = names(), {use.framed_path for use in ItemImage.objects.exclude(item__key="i1")}
    (tmp_path / "two").mkdir()
    new = imports.item(1) | {"images": [{"role": "candidate", "file": "new.jpg"}]}
    rows = imports.manifest(tmp_path / "two", [new])
    images = tmp_path / "two"
    (images / "new.jpg").write_bytes(imports.jpeg(99, (40, 24)))
    with django_capture_on_commit_callbacks(execute=True):
        assert imports.imported(rows, images, new_candidates=True).state == JobState.DONE
    files = framed_files(media)
    assert set(files) == names() and len(files) == 7 and names() & before == other
    item = cups.items.get(key="i1")
    assert len({len(files[use.framed_path]) for use in item.item_images.all()}) == 1


@pytest.fixture
def large(tmp_path, media) -> Benchmark:
    """An item with two images that are served large, of unlike shape; and one whose only image is."""
    items = [imports.item(0), imports.item(1)]
    del items[1]["images"][1]
    (tmp_path / "large").mkdir()
    sizes = {"0.jpg": (1200, 900), "0-0.jpg": (900, 1000), "1.jpg": (2400, 600)}
    files = {name: imports.jpeg(number, size) for number, (name, size) in enumerate(sizes.items())}
    rows = imports.manifest(tmp_path / "large", items)
    assert imports.imported(rows, imports.archive(tmp_path / "large", [], files)).state == JobState.DONE
    return Benchmark.objects.get()


def small_files(media: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in media.glob("small/*/*")}


def test_large_images_have_smaller_copies_which_framed_ones_have_with_equal_bytes(large, media, client):
    files = small_files(media)
    uses = list(ItemImage.objects.filter(item__key="i0"))
    assert set(files) == {image.opaque for image in Image.objects.all()} | {use.opaque for use in uses}
    framed = [files[use.opaque] for use in uses]
    assert {Drawing.open(io.BytesIO(one)).size for one in framed} == {(800, 667)}
    assert len({len(one) for one in framed}) == 1 and len(set(framed)) == 2
    alone = ItemImage.objects.get(item__key="i1").image
    assert Drawing.open(io.BytesIO(files[alone.opaque])).size == (800, 200)
    for name, content in files.items():
        answer = client.get(reverse("small-image", args=[name]))
        assert answer.content == content and "immutable" in answer.headers["Cache-Control"]


def test_smaller_copies_are_made_again_and_go_with_their_images(large, media, client):
    before = small_files(media)
    for path in media.glob("small/*/*"):
        path.unlink()
    assert client.get(reverse("small-image", args=[Image.objects.first().opaque])).status_code == 200
    for use in ItemImage.objects.all():
        assert client.get(reverse("small-image", args=[use.opaque])).status_code == (
            200 if use.item.key == "i0" else 404
        )
    for path in list(media.glob("small/*/*"))[:2]:
        path.unlink()
    frames.make_missing_everywhere()
    assert small_files(media) == before
    delete_benchmark(benchmark=large, by="test")
    assert small_files(media) == {}


def test_an_image_that_is_served_small_enough_has_no_smaller_copy(cups, media, client):
    assert small_files(media) == {}
    assert client.get(reverse("small-image", args=[Image.objects.first().opaque])).status_code == 404


def test_they_go_with_the_benchmark(cups, media):
    delete_benchmark(benchmark=cups, by="test")
    assert Image.objects.count() == 0 and framed_files(media) == {}
