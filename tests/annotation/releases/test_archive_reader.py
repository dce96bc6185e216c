"""A release is read where it lies, a folder or a .zip; nothing leads out of it."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from annotation.releases.archive_reader import NotARelease, ReleaseFiles

MANIFEST = json.dumps({"made_by": "Winnow", "kind": "release", "schema_version": 1})
FILES = {"manifest.json": MANIFEST, "items.jsonl": '{"id": "1"}\n{"id": "2"}\n', "csv/test.csv": "id\n"}


@pytest.fixture
def folder(tmp_path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "split-1.0" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "split-1.0"


def zipped(path: Path, files: dict[str, str], kind: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_a_folder_and_its_zip_are_the_same_release(folder, tmp_path):
    path = zipped(tmp_path / "a.zip", {f"split-1.0/{name}": text for name, text in FILES.items()})
    for place in (folder, str(folder), path, io.BytesIO(path.read_bytes())):
        with ReleaseFiles(place) as found:
            assert found.names() == sorted(FILES)
            assert found.read("csv/test.csv") == b"id\n"
            assert [line["id"] for line in found.lines("items.jsonl")] == ["1", "2"]
            assert found.manifest["kind"] == "release"


def test_unpacked_it_is_the_same_again(folder, tmp_path):
    with ReleaseFiles(zipped(tmp_path / "a.zip", {f"top/{name}": text for name, text in FILES.items()})) as found:
        found.unpack(tmp_path / "out")
    assert {name: (tmp_path / "out" / name).read_text() for name in ReleaseFiles(folder).names()} == FILES


@pytest.mark.parametrize("name", ["../secret", "secret", "/etc/passwd", "csv", "split-1.0/items.jsonl", ""])
def test_what_is_not_in_it_cannot_be_read(folder, name):
    (folder.parent / "secret").write_text("")
    with pytest.raises(NotARelease, match="is not in the release"):
        ReleaseFiles(folder).read(name)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"top/../../secret": ""}, "in one top-level folder"),
        ({"/top/a": ""}, "in one top-level folder"),
        ({"C:/a": ""}, "in one top-level folder"),
        ({"top/..\\a": ""}, "in one top-level folder"),
        ({"manifest.json": MANIFEST}, "in one top-level folder"),
        ({"one/a": "", "two/b": ""}, "2 top-level folders"),
        ({"top/a": "", "top//a": ""}, "twice"),
    ],
)
def test_a_zip_whose_names_lead_elsewhere_is_refused(tmp_path, files, problem):
    with pytest.raises(NotARelease, match=problem):
        ReleaseFiles(zipped(tmp_path / "a.zip", files))


def test_a_zip_that_is_packed_is_refused(tmp_path):
    with pytest.raises(NotARelease, match=r"Unpack the \.zip"):
        ReleaseFiles(zipped(tmp_path / "a.zip", {"top/manifest.json": MANIFEST}, zipfile.ZIP_DEFLATED))


def test_a_link_out_of_the_folder_is_refused(folder):
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(NotARelease, match="is a link"):
        ReleaseFiles(folder)


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ('{"made_by": "Winnow"}', "Make a release from it first"),
        ('{"kind": "release"}', "does not state"),
        ("[]", "not a JSON object"),
        ("{", "not valid JSON"),
    ],
)
def test_what_no_release_is_says_so(folder, manifest, problem):
    (folder / "manifest.json").write_text(manifest)
    with pytest.raises(NotARelease, match=problem):
        ReleaseFiles(folder).manifest  # noqa: B018


def test_what_is_not_there_or_no_zip_says_so(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"no")
    for name, problem in (("b.zip", "does not exist"), ("a.zip", "cannot be read as a .zip")):
        with pytest.raises(NotARelease, match=problem):
            ReleaseFiles(tmp_path / name)


def test_a_broken_line_is_named(folder):
    (folder / "items.jsonl").write_text('{"id": "1"}\n{"id":\n')
    with pytest.raises(NotARelease, match=r"items\.jsonl, line 2"):
        list(ReleaseFiles(folder).lines("items.jsonl"))
