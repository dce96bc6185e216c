"""Files from folders, zips and tars: found by name, read within bounds."""

import io
import random
import tarfile
import time
import zipfile
from collections import Counter

import pytest

from tests.benchmarks.bad_inputs.archives import Raw, member, tar_of, zip_named, zip_of, zipped
from tests.benchmarks.bad_inputs.damage import damaged
from workers import limits
from workers.archives import names
from workers.archives.archive import ArchiveRefused, open_archive

FILES = {"val/b.jpg": b"bb", "val/a.jpg": b"aa", "val/sub/c.jpg": b"cc", ".DS_Store": b"x"}


def folder(tmp_path, files):
    for name, data in files.items():
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "images"


def tarred(tmp_path, files, name="images.tar"):
    with tarfile.open(tmp_path / name, "w:gz" if name.endswith("gz") else "w") as packed:
        for entry, data in files.items():
            made = member(f"./{entry}")
            made.size = len(data)
            packed.addfile(made, io.BytesIO(data))
    return tmp_path / name


def tgz(tmp_path, files):
    return tarred(tmp_path, files, "images.tgz")


def refused(path) -> ArchiveRefused:
    with pytest.raises(ArchiveRefused) as caught, open_archive(path) as source:
        list(source.stream(source.names))
    return caught.value


@pytest.mark.parametrize("pack", [folder, zipped, tarred, tgz])
def test_every_kind_of_source_gives_the_same_files(tmp_path, pack):
    with open_archive(pack(tmp_path, FILES)) as source:
        assert sorted(source.names) == ["val/a.jpg", "val/b.jpg", "val/sub/c.jpg"]
        assert [name.removeprefix("./") for name in source.ignored] == [".DS_Store"]
        assert dict(source.stream(["a.jpg", "val/a.jpg", "sub/c.jpg", "gone.jpg"])) == {
            "a.jpg": b"aa",
            "val/a.jpg": b"aa",
            "sub/c.jpg": b"cc",
        }
        assert source.missing(["a.jpg", "gone.jpg"]) == ["gone.jpg"]
        assert source.unused(["a.jpg", "sub/c.jpg"]) == ["val/b.jpg"]
        assert source.read("val/b.jpg") == b"bb"
        with pytest.raises(KeyError):
            source.read("gone.jpg")


def test_names_are_not_shortened_where_there_are_two_top_folders(tmp_path):
    with open_archive(zipped(tmp_path, {"one/a.jpg": b"1", "two/a.jpg": b"2"})) as source:
        assert source.find("a.jpg") is None and source.find("two/a.jpg") == "two/a.jpg"


def test_the_exact_name_wins_over_the_one_in_the_top_folder(tmp_path):
    with open_archive(zipped(tmp_path, {"v/a.jpg": b"1", "v/v/a.jpg": b"2"})) as source:
        assert source.read("v/a.jpg") == b"1" and source.read("v/v/a.jpg") == b"2"


def test_all_bad_entries_are_listed_at_once(tmp_path):
    error = refused(zip_of(tmp_path, {"../a": b"", "/b": b"", "c.zip": b"", "GOOD.jpg": b""}).images)
    codes = [refusal.code for refusal in error.refusals]
    assert codes == ["UNSAFE_PATH", "UNSAFE_PATH", "NESTED_ARCHIVE", "NAME_CLASH"]
    assert (error.entry, error.count) == ("../a", 4)


def test_only_a_hundred_bad_entries_are_kept(tmp_path):
    error = refused(zip_of(tmp_path, {f"../{number}": b"" for number in range(150)}).images)
    assert (len(error.refusals), error.count) == (100, 150)


def test_the_entry_that_cannot_be_read_is_named(tmp_path):
    path = zipped(tmp_path, {"a.jpg": b"a" * 50, "b.jpg": b"b" * 50})
    with zipfile.ZipFile(path) as packed:
        place = packed.getinfo("b.jpg").header_offset + 30 + len("b.jpg")
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)
    error = refused(path)
    assert (error.code, error.entry) == ("ARCHIVE_UNREADABLE", "b.jpg")


@pytest.mark.parametrize("pack", [folder, zipped, tarred, tgz])
def test_too_many_files_are_refused(tmp_path, pack, monkeypatch):
    monkeypatch.setattr(limits, "MAX_FILES", 5)
    path = pack(tmp_path, {f"{number}.jpg": b"x" for number in range(6)})
    assert refused(path).code == "TOO_MANY_FILES"


@pytest.mark.parametrize("pack", [folder, zipped, tarred, tgz])
def test_one_file_may_have_so_many_bytes(tmp_path, pack, monkeypatch):
    monkeypatch.setattr(limits, "MAX_ENTRY_BYTES", 1000)
    assert refused(pack(tmp_path, {"a.jpg": b"x" * 1001})).code in {"ARCHIVE_TOO_LARGE", "FILE_TOO_LARGE"}
    with open_archive(pack(tmp_path, {"a.jpg": b"x" * 1000})) as source:
        assert len(source.read("a.jpg")) == 1000


def test_the_sum_is_counted_and_not_believed(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE_BYTES", 0)
    monkeypatch.setattr(limits, "MAX_RATIO", 2)
    assert refused(zipped(tmp_path, {f"{n}.jpg": bytes(9000) for n in range(9)})).code == "ARCHIVE_TOO_LARGE"


def test_a_sparse_tar_entry_counts_its_holes(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_ENTRY_BYTES", 1000)
    hole = member("a.jpg")
    hole.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.size": "5000000000", "GNU.sparse.map": "0,0"}
    with tarfile.open(tmp_path / "images.tar", "w", format=tarfile.PAX_FORMAT) as packed:
        packed.addfile(hole)
    assert refused(tmp_path / "images.tar").code in {"ARCHIVE_TOO_LARGE", "ARCHIVE_UNREADABLE"}


def test_a_long_tar_header_is_not_read_into_memory(tmp_path):
    long = member("a.jpg")
    long.pax_headers = {"comment": "x" * (limits.MAX_TAR_HEADER_BYTES + 1)}
    with tarfile.open(tmp_path / "images.tar", "w", format=tarfile.PAX_FORMAT) as packed:
        packed.addfile(long)
    assert refused(tmp_path / "images.tar").code == "ARCHIVE_UNREADABLE"


def tar_saying(path, name="a.jpg", **headers):
    """A tar of two files of which the first has these extended headers."""
    first, second = member(name), member("b.jpg")
    first.size = second.size = 3
    first.pax_headers = {key.replace("_", "."): value for key, value in headers.items()}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as packed:
        packed.addfile(first, io.BytesIO(b"abc"))
        packed.addfile(second, io.BytesIO(b"xyz"))
    return path


@pytest.mark.parametrize(
    "headers",
    [
        {"size": "9" * 30},  # tarfile would pass over so many bytes block by block, for years
        {"GNU_sparse_realsize": "9" * 30},  # found out while the file is read
        {"GNU_sparse_size": "inf"},
        {"size": "-9999999999999"},
    ],
    ids=str,
)
def test_a_tar_entry_of_an_impossible_size(tmp_path, headers):
    started = time.monotonic()
    assert refused(tar_saying(tmp_path / "images.tar", **headers)).code == "ARCHIVE_UNREADABLE"
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("name", [b"", b"\0a.jpg"])
def test_a_zip_entry_without_a_name(tmp_path, name):
    raw = Raw()
    raw.body += raw.local(name, 0, 0, 0)
    raw.list(name, 0, 0, 0, 0)
    assert refused(raw.write(tmp_path / "images.zip")).code == "UNSAFE_PATH"


@pytest.mark.parametrize(
    ("stored", "name", "other"),
    [
        ("p/cafe\u0301 – 日本.jpg".encode(), "p/café – 日本.jpg", False),  # as macOS Finder packs it
        ("Zoë.jpg".encode("cp437"), "Zoë.jpg", True),  # what a zip's names are by its specification
        ("日本.jpg".encode("cp932"), "日本.jpg".encode("cp932").decode("cp437"), True),
    ],
)
def test_zip_names_without_the_flag_are_utf8_where_their_bytes_are(tmp_path, stored, name, other):
    with open_archive(zip_named(tmp_path / "images.zip", b"plain.jpg", stored)) as source:
        assert source.names == ["plain.jpg", name]
        assert dict(source.stream([name])) == {name: b""}
        assert source.other_encoding is other


@pytest.mark.parametrize(
    ("entries", "code", "advice"),
    [
        (["../é.jpg".encode()], "UNSAFE_PATH", "Remove .."),
        (["\N{FULLWIDTH SOLIDUS}/C:\\é.jpg".encode()], "UNSAFE_PATH", "Use / between folders"),
        (["é.jpg".encode(), "e\u0301.jpg".encode()], "NAME_CLASH", "Rename one"),
        (["表.jpg".encode("cp932")], "UNSAFE_PATH", "another encoding"),  # its second byte is a backslash
    ],
)
def test_zip_names_without_the_flag_are_checked_like_others(tmp_path, entries, code, advice):
    error = refused(zip_named(tmp_path / "images.zip", *entries))
    assert error.code == code and advice in error.advice


def test_what_a_damaged_archive_says_can_be_stored(tmp_path):
    """A name in no encoding, before the entry that cannot be read."""
    path = tar_saying(tmp_path / "images.tar", name="caf\udcff.jpg")
    path.write_bytes(path.read_bytes().replace(b"b.jpg", b"c.jpg"))
    error = refused(path)
    assert error.code == "ARCHIVE_UNREADABLE" and "\\udcff" in error.entry
    assert f"{error} {error.refusals}".isprintable()


DAMAGED = {"images.zip": zipped, "images.tar": tarred, "images.tgz": tgz}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("most", [300, pytest.param(5_000, marks=pytest.mark.nightly)])
def test_a_damaged_archive_is_refused_or_read_within_bounds(tmp_path, name, most):
    """Bytes changed or cut off, at seeded places."""
    path, rng = DAMAGED[name](tmp_path, {**FILES, "val/é.jpg": b"e" * 300}), random.Random(7)
    whole, codes = path.read_bytes(), Counter()
    for number in range(most):
        path.write_bytes(damaged(whole, rng))
        started = time.monotonic()
        try:
            with open_archive(path) as source:
                codes["read"] += len(dict(source.stream(source.names))) <= len(FILES) + 1
        except ArchiveRefused as error:
            codes[error.code] += 1
            assert error.advice and f"{error.refusals}".isprintable(), number
        assert time.monotonic() - started < 5, number
    assert codes.total() == most and codes["ARCHIVE_UNREADABLE"] > most / 4


def test_a_link_inside_a_folder_is_refused_too(tmp_path):
    path = folder(tmp_path, {"a.jpg": b"a"})
    (path / "b.jpg").symlink_to("a.jpg")
    (path / "sub").symlink_to(path)
    assert [refusal.entry for refusal in refused(path).refusals] == ["b.jpg", "sub"]


def test_a_file_that_became_a_link_is_not_followed(tmp_path):
    path = folder(tmp_path, {"a.jpg": b"a"})
    with open_archive(path) as source:
        (path / "a.jpg").unlink()
        (path / "a.jpg").symlink_to("/etc/hostname")
        with pytest.raises(ArchiveRefused) as caught:
            source.read("a.jpg")
    assert caught.value.code == "FILE_UNREADABLE"


def test_the_title_is_the_name_that_the_user_knows(tmp_path):
    path = zipped(tmp_path, {"a.jpg": b"a"}, "upload-1234")
    assert refused(path).code == "WRONG_TYPE"
    with open_archive(path, "images.zip") as source:
        assert source.names == ["a.jpg"]


def test_names_that_cannot_be_stored_are_printed_safely():
    assert names.printable("a\0\ud800" + "x" * 400) == "a\\0\\ud800" + "x" * 297


def test_tar_folders_and_owners_are_nothing_to_us(tmp_path):
    with open_archive(tar_of(tmp_path, member("./", tarfile.DIRTYPE), member("sub", tarfile.DIRTYPE)).images) as source:
        assert source.names == ["good.jpg"]
