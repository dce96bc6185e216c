"""The files of an installation go to a bucket and back: whole, again after an interruption, and only if undamaged."""

import hashlib
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from benchmarks.storage.files import kept
from benchmarks.storage.folder import Folder
from tests.builders import installation, object_storage


def told(what: str) -> str:
    out = StringIO()
    call_command("object_storage", what, stdout=out)
    return out.getvalue()


@pytest.fixture
def files(bucket) -> dict[str, str]:
    """Of a folder: an original, a large export, work in progress."""
    folder, original = Folder(), b"picture"
    folder.write(f"originals/{hashlib.sha256(original).hexdigest()}", original)
    folder.write("exports/1/cups.zip", bytes(range(256)) * 40_000)
    folder.write("served/ab/1.jpg", b"served")
    before = installation.files(settings.MEDIA_ROOT)
    folder.write("staging/7/journal", b"work")
    return before


def in_bucket() -> dict[str, str]:
    return {found.name: kept.sha256(found.name) for found in kept.below("")}


def test_there_and_back(files, tmp_path, settings):
    fails = object_storage.server().failing(object_storage.broken_after(2, "PUT"))
    with fails, pytest.raises(CommandError, match=r"failed with .*Copied files are kept; run this again to continue"):
        call_command("object_storage", "from-folder")
    assert "Copied" in told("from-folder") and in_bucket() == files
    assert told("from-folder").startswith("Copied 0 files (0 bytes). All have")
    assert "there already: 3." in told("from-folder")
    settings.MEDIA_ROOT = tmp_path / "another"
    Folder().write("served/ab/1.jpg", b"another")
    assert (
        told("to-folder").startswith("Copied 3 files (10,240,013 bytes)")
        and installation.files(settings.MEDIA_ROOT) == files
    )
    Folder().write("served/ab/gone.jpg", b"deleted from the bucket meanwhile")
    assert told("to-folder").endswith("Files that only the target had: 1, left in place; --delete deletes them.\n")
    call_command("object_storage", "to-folder", delete=True)
    assert installation.files(settings.MEDIA_ROOT) == files
    kept.write("served/ab/gone.jpg", b"deleted from the folder meanwhile")
    call_command("object_storage", "from-folder", delete=True)
    assert in_bucket() == files


def test_a_damaged_original_goes_nowhere(files):
    name = next(name for name in files if name.startswith("originals"))
    Folder().write(name, b"other")
    with pytest.raises(CommandError, match=f"{settings.MEDIA_ROOT}/{name} is damaged"):
        call_command("object_storage", "from-folder")
    assert not kept.exists(name)
    kept.write(name, b"other")
    with pytest.raises(CommandError, match=f"s3://.*{name} is damaged"):
        call_command("object_storage", "to-folder")


def test_the_bucket_is_created(settings):
    url = object_storage.server().url
    settings.STORAGES = object_storage.storages(url, next(object_storage.names), region_name="eu-central-1")
    assert told("create") == told("create") != "" and not list(kept.below(""))


def test_without_a_bucket_it_says_what_to_set():
    with pytest.raises(CommandError, match="Set WINNOW_S3_BUCKET"):
        call_command("object_storage", "from-folder")
