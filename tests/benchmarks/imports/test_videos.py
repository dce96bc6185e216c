"""Videos among the images of an import: stored with a poster, served in ranges under an opaque name, and removed."""

import pytest
from django.urls import reverse

from benchmarks.housekeeping.backup import backup
from benchmarks.housekeeping.delete import delete_benchmark
from benchmarks.models import Benchmark, Image, ItemImage, JobState
from tests.builders import imports
from tests.builders.videos import video

pytestmark = pytest.mark.django_db


def clips(folder, files: dict[str, bytes], **options):
    """An import of an item for each of these files."""
    folder.mkdir(exist_ok=True)
    captions = [{"role": "positive", "text": "It pans."}, {"role": "negative", "text": "It tilts."}]
    items = [{"id": name, "captions": captions, "images": [{"role": "scene", "file": name}]} for name in files]
    return imports.imported(imports.manifest(folder, items), imports.archive(folder, [], files), **options)


@pytest.fixture
def clip(tmp_path, media) -> Image:
    job = clips(tmp_path / "given", {"a.mp4": video("libx264", "mp4", seconds=2, secret=True)})
    assert job.state == JobState.DONE, job.problems
    return Image.objects.get()


def asked(client, image: Image, ending: str = "mp4", **headers: str):
    return client.get(reverse("video", args=[image.opaque, ending]), headers=headers)


def test_a_video_is_stored_with_its_poster_and_served_in_ranges(clip, media, client):
    assert (clip.format, clip.width, clip.height, clip.is_video) == ("MP4", 64, 48, True)
    assert imports.stored_files(media) == imports.named_files()
    assert (media / clip.original_path).read_bytes() == video("libx264", "mp4", seconds=2, secret=True)
    whole = asked(client, clip)
    content = b"".join(whole)
    assert (whole.status_code, whole["Content-Type"], whole["Accept-Ranges"]) == (200, "video/mp4", "bytes")
    assert not {"Last-Modified", "Content-Disposition"} & set(whole.headers)
    assert b"ftyp" in content[:12] and b"canary" not in content
    part = asked(client, clip, Range="bytes=100-199")
    assert (part.status_code, b"".join(part)) == (206, content[100:200])
    assert part["Content-Range"] == f"bytes 100-199/{len(content)}" and "immutable" in part["Cache-Control"]
    assert asked(client, clip, Range=f"bytes={len(content)}-").status_code == 416
    assert client.get(reverse("image", args=[clip.opaque]))["Content-Type"] == "image/jpeg"
    assert asked(client, Image(opaque="0" * 32)).status_code == 404


def test_nginx_is_told_where_it_lies(clip, client, settings):
    settings.ACCEL_REDIRECT = "/images/"
    answer = asked(client, clip, "webm")
    assert (answer["X-Accel-Redirect"], answer["Content-Type"]) == (f"/images/{clip.video_path}", "video/webm")


def test_one_that_cannot_be_used_is_named_with_its_remedy_or_left_out(tmp_path, media):
    files = {"good.webm": video(), "bad.mp4": video("libx265", "mp4"), "cut.webm": video()[:500]}
    job = clips(tmp_path / "given", files)
    assert sorted(imports.codes(job)) == ["VIDEO_CORRUPT", "VIDEO_NOT_ALLOWED"] and not ItemImage.objects.exists()
    assert "bad.mp4: Not every browser plays the codec hevc in MP4. Convert it: ffmpeg" in str(job.problems)
    job = clips(tmp_path / "again", files, skip_unreadable_images=True)
    assert job.report["unreadable_images"] == {"rows": 2, "ids": ["bad.mp4", "cut.webm"]}
    assert [use.source_name for use in ItemImage.objects.all()] == ["good.webm"]
    assert imports.stored_files(media) == imports.named_files()


def test_a_video_is_not_cropped(tmp_path, media):
    item = imports.item(0) | {"images": [{"role": "scene", "file": "a.webm", "crop": [0, 0, 8, 8]}]}
    given = imports.manifest(tmp_path, [item]), imports.archive(tmp_path, [], {"a.webm": video()})
    job = imports.imported(*given)
    assert imports.codes(job) == ["VIDEO_CROPPED"] and "A video cannot be cropped." in job.problems[0]["advice"]


def test_a_deletion_removes_it(clip, media):
    delete_benchmark(benchmark=Benchmark.objects.get(), by="test")
    assert imports.stored_files(media) == []


@pytest.mark.django_db(transaction=True)
def test_backups_have_it(clip, tmp_path, media):
    backup(out=tmp_path / "backup")
    assert (tmp_path / "backup/media" / clip.video_path).read_bytes() == (media / clip.video_path).read_bytes()


def test_the_page_of_its_benchmark_shows_the_poster_and_opens_the_video(clip, admin_client):
    page = admin_client.get(reverse("benchmark-detail", args=[Benchmark.objects.get().pk])).content.decode()
    assert reverse("thumbnail", args=[clip.opaque]) in page and f'href="{clip.address}"' in page
    assert clip.address == reverse("video", args=[clip.opaque, "mp4"])
