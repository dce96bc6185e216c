"""What both places for files promise, and what only a bucket has to: windows, faults, signed addresses."""

import io
import itertools
import zipfile
from pathlib import Path

import pytest
from django.core.exceptions import SuspiciousFileOperation
from django.core.files import File
from django.core.files.base import ContentFile

from benchmarks.apps import storage_works
from benchmarks.storage import bucket as bucket_module
from benchmarks.storage.files import Unavailable, kept
from tests.builders import object_storage


def names(folder: str = "") -> list[str]:
    return sorted(found.name for found in kept.below(folder))


def test_files_come_back_as_they_were_stored(place, tmp_path):
    here = {tmp_path / number: f"served/ab/{number}.jpg" for number in "12"}
    for local, name in here.items():
        local.write_bytes(name.encode())
    kept.move_in(here.items())
    kept.write("framed/ab/1.jpg", b"first")
    kept.write("framed/ab/1.jpg", b"framed")
    (tmp_path / "long").write_bytes(b"long" * 10)
    kept.copy_in(tmp_path / "long", "exports/1/long.zip")
    kept.sync()
    kept.save("exports/2/saved.zip", File(io.BytesIO(b"saved")))
    assert names() == [
        "exports/1/long.zip", "exports/2/saved.zip", "framed/ab/1.jpg", "served/ab/1.jpg", "served/ab/2.jpg",
    ]  # fmt: skip
    assert [found.name for found in kept.below("served", after="served/ab/1.jpg")] == ["served/ab/2.jpg"]
    assert names("served") == ["served/ab/1.jpg", "served/ab/2.jpg"] and names("nothing") == []
    assert kept.read("framed/ab/1.jpg") == kept.contents("framed/ab/1.jpg").read_bytes() == b"framed"
    assert kept.contents("framed/ab/1.jpg").name == "1.jpg"
    assert (kept.folders("exports"), kept.folders("nothing")) == (["1", "2"], [])
    assert [kept.sha256(f"exports/{path}")[:8] for path in ("1/long.zip", "2/saved.zip")] == ["df9a6a18", "d81c55f4"]
    exists = kept.lookup("framed", "small")
    assert (exists("framed/ab/1.jpg"), exists("framed/ab/2.jpg")) == (True, False)
    assert (kept.exists("served/ab/1.jpg"), kept.exists("served/ab/3.jpg")) == (True, False)
    with kept.open("exports/1/long.zip") as file:
        file.seek(4)
        assert file.read(8) == b"longlong"
    kept.copy_out("exports/2/saved.zip", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"saved"
    kept.move("exports/2/saved.zip", "exports/3/moved.zip")
    kept.remove(["served/ab/1.jpg", "served/ab/gone.jpg"])
    kept.remove_folder("framed")
    kept.remove_folder("nothing")
    assert names() == ["exports/1/long.zip", "exports/3/moved.zip", "served/ab/2.jpg"]
    assert kept.signed("exports/3/moved.zip", "moved.zip") == "" and storage_works() == []


OUTSIDE = [
    kept.read, kept.open, kept.exists, kept.contents, kept.sha256, kept.folders, kept.delete, kept.remove_folder,
    lambda name: kept.write(name, b"new"), lambda name: kept.save(name, ContentFile(b"new")),
    lambda name: kept.copy_in(Path(__file__), name), lambda name: kept.copy_out(name, Path("never")),
    lambda name: kept.move_in([(Path(__file__), name)]), lambda name: kept.move("served/ab/1.jpg", name),
    lambda name: kept.move(name, "served/ab/1.jpg"), lambda name: kept.remove([name]), lambda name: [*kept.below(name)],
]  # fmt: skip


@pytest.mark.parametrize("name", ["{}/secret", "../secret", "served/../../secret", ".."])
@pytest.mark.parametrize("act", OUTSIDE)
def test_no_name_leads_out_of_the_folder(media, act, name):
    media.with_name("secret").write_text("secret")
    with pytest.raises(SuspiciousFileOperation):
        act(name.format(media.parent))
    assert media.with_name("secret").read_text() == "secret"


@pytest.mark.parametrize("act", [kept.read, kept.sha256])
def test_a_link_among_the_files_is_no_file(media, act):
    (media.parent / "secret").write_text("secret")
    (media / "served").mkdir()
    (media / "served" / "1.jpg").symlink_to(media.parent / "secret")
    with pytest.raises(FileNotFoundError):
        act("served/1.jpg")


@pytest.mark.parametrize("act", [kept.read, kept.open, kept.sha256, lambda name: kept.copy_out(name, Path("never"))])
def test_a_missing_file_is_not_found(place, act):
    with pytest.raises(FileNotFoundError):
        act("originals/ab/none.jpg")


class TestWindows:
    """Of a large object, what is read is asked for, in windows that grow where it is read on."""

    CONTENT = bytes(range(256)) * 8192  # 2 MB

    @pytest.fixture
    def asked(self, bucket, monkeypatch) -> list[str]:
        asked, read = [], bucket_module.Bucket._bytes_of
        monkeypatch.setattr(
            bucket_module.Bucket,
            "_bytes_of",
            lambda self, name, **given: asked.append(given.get("Range", "")) or read(self, name, **given),
        )
        return asked

    def test_a_file_is_read_whole_in_few_requests(self, asked):
        kept.save("long", ContentFile(self.CONTENT))
        with kept.open("long") as file:
            assert b"".join(iter(lambda: file.read(4096), b"")) == self.CONTENT
        assert asked == [f"bytes={a}-{b - 1}" for a, b in itertools.pairwise((0, 2**18, 3 * 2**18, 7 * 2**18, 2**21))]

    def test_one_file_of_a_zip_needs_a_part_of_it(self, asked):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name in "abcdefgh":
                archive.writestr(name, self.CONTENT)
            archive.writestr("small", "found")
        kept.save("long.zip", ContentFile(packed.getvalue()))
        with kept.open("long.zip") as file, zipfile.ZipFile(file) as archive:
            assert archive.read("small") == b"found"
        assert len(asked) < 6


class TestFaults:
    @pytest.mark.parametrize(
        "options, answer, says",
        [
            (
                {"bucket_name": "nowhere-at-all"},
                None,
                "has no bucket “nowhere-at-all”. Create it, or correct WINNOW_S3",
            ),
            ({"endpoint_url": "http://127.0.0.1:1"}, None, "http://127.0.0.1:1 does not respond. Check that it is run"),
            ({}, (403, object_storage.error("InvalidAccessKeyId")), "rejects the key .*Correct WINNOW_S3_ACCESS_KEY"),
            (
                {},
                (500, object_storage.error("InternalError")),
                r"failed with status 500 \(InternalError\)\. Try again later",
            ),
            ({}, (503, ""), r"failed with status 503\. Try again later"),
            ({}, (200, "<html>"), r"failed with status 500"),
        ],
    )
    def test_each_is_told_in_a_sentence(self, bucket, settings, options, answer, says):
        server = object_storage.server()
        settings.STORAGES = object_storage.storages(server.url, bucket, **options)
        with server.failing(lambda *asked: answer):
            for act in (kept.try_out, lambda: kept.folders("served")):
                with pytest.raises(Unavailable, match=says):
                    act()
            assert says[:10] in str(storage_works()) or answer

    def test_a_wrong_key_is_refused(self, bucket, monkeypatch):
        """By moto's own check of signatures."""
        from moto.core.responses import ActionAuthenticatorMixin
        from moto.settings import INITIAL_NO_AUTH_ACTION_COUNT as OFF

        monkeypatch.setattr(ActionAuthenticatorMixin, "request_count", OFF)
        with pytest.raises(Unavailable, match=f"rejects the key for bucket “{bucket}” .InvalidAccessKeyId"):
            kept.read("served/1.jpg")

    def test_a_slow_storage_is_given_up(self, bucket, monkeypatch, settings):
        monkeypatch.setattr(bucket_module, "READ_SECONDS", 0.05)
        settings.STORAGES = object_storage.storages(object_storage.server().url, bucket)
        with object_storage.server().failing(object_storage.slow(0.2)), pytest.raises(Unavailable, match="not respond"):
            kept.read("served/1.jpg")

    def test_a_failure_that_passes_is_not_seen(self, bucket):
        kept.write("served/1.jpg", b"picture")
        fails = iter([(500, object_storage.error("InternalError"))])
        with object_storage.server().failing(lambda *asked: next(fails, None)):
            assert kept.read("served/1.jpg") == b"picture"

    def test_half_an_upload_leaves_nothing(self, bucket, monkeypatch, settings, tmp_path):
        (tmp_path / "long").write_bytes(bytes(9 * 2**20))  # more than one part
        with object_storage.server().failing(object_storage.broken_after(2, "PUT")), pytest.raises(Unavailable):
            kept.copy_in(tmp_path / "long", "releases/1/long.zip")
        assert names() == []
        assert (
            not object_storage.client(object_storage.server().url).list_multipart_uploads(Bucket=bucket).get("Uploads")
        )

    def test_damaged_bytes_are_not_copied_out(self, bucket, tmp_path):
        client = object_storage.client(object_storage.server().url)
        client.put_object(Bucket=bucket, Key="originals/1", Body=b"other", Metadata={"sha256": "0" * 64})
        with pytest.raises(Unavailable, match="originals/1 is damaged"):
            kept.copy_out("originals/1", tmp_path / "out")


@pytest.mark.parametrize("name", ["exports/../../outside", "/outside"])
def test_an_object_that_would_leave_a_local_folder_is_refused(bucket, name):
    """As in a backup: whoever can write to the bucket must not write to the machine."""
    object_storage.client(object_storage.server().url).put_object(Bucket=bucket, Key=name, Body=b"other")
    with pytest.raises(Unavailable, match=f"stored “{name}” in the bucket"):
        list(kept.below(""))


def test_a_signed_address_names_no_more_than_the_download(bucket, settings):
    import httpx

    url = object_storage.server().url
    settings.STORAGES = object_storage.storages(url, bucket, downloads=url)
    kept.write("exports/7/cups.zip", b"zip")
    with pytest.raises(FileNotFoundError):
        kept.signed("exports/8/cups.zip", "cups.zip")
    address = kept.signed("exports/7/cups.zip", "cups.zip")
    answer = httpx.get(address)
    assert (answer.content, answer.headers["Content-Disposition"]) == (b"zip", 'attachment; filename="cups.zip"')
    assert "X-Amz-Expires=300" in address and object_storage.SECRET not in address
