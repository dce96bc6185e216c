"""Rows 1 to 10, 25 and 26: archives and the names in them."""

import io
import os
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from pathlib import Path

from tests.benchmarks.bad_inputs.case import Cases, ImportFiles, naming, picture, written

MIB = 2**20
ARCHIVES = Cases()


def zipped(folder: Path, files: dict[str, bytes], name: str = "images.zip") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for entry, data in files.items():
            packed.writestr(entry, data)
    return path


def zip_of(folder: Path, files: dict[str, bytes]) -> ImportFiles:
    """A zip of these files beside `good.jpg`, which the one item names."""
    return naming(folder, ["good.jpg"], zipped(folder, {"good.jpg": picture(), **files}))


def tar_of(folder: Path, *members: tarfile.TarInfo, name: str = "images.tar") -> ImportFiles:
    path = folder / name
    with tarfile.open(path, "w:gz" if name.endswith("gz") else "w") as packed:
        data = picture()
        good = tarfile.TarInfo("good.jpg")
        good.size = len(data)
        packed.addfile(good, io.BytesIO(data))
        for member in members:
            packed.addfile(member, io.BytesIO(bytes(member.size)))
    return naming(folder, ["good.jpg"], path)


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    return made


class Raw:
    """A zip put together by hand, so that its headers may say anything."""

    def __init__(self):
        self.body, self.directory, self.count = bytearray(), bytearray(), 0

    def local(self, name: bytes, size: int, packed: int, crc: int) -> bytes:
        return struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 33, crc, packed, size, len(name), 0) + name

    def list(self, name: bytes, size: int, packed: int, crc: int, offset: int) -> None:
        head = struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 33, crc, packed, size, len(name), 0, 0, 0, 0, 0, offset
        )
        self.directory += head + name
        self.count += 1

    def write(self, path: Path) -> Path:
        count = min(self.count, 0xFFFF)
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(self.directory), len(self.body), 0)
        path.write_bytes(bytes(self.body + self.directory) + end)
        return path


def zip_named(path: Path, *entries: bytes) -> Path:
    """A zip of empty files with these names, without the flag of names in UTF-8."""
    raw = Raw()
    for entry in entries:
        place = len(raw.body)
        raw.body += raw.local(entry, 0, 2, 0) + b"\3\0"  # an empty deflate stream
        raw.list(entry, 0, 2, 0, place)
    return raw.write(path)


def zeros(size: int) -> bytes:
    """A deflate stream of so many zero bytes (whole MiB), made from one MiB repeated."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (size // MIB) + packer.flush()


@ARCHIVES.case(1, "ARCHIVE_TOO_LARGE")
def flat_bomb(folder):
    """4 MB that unpack to 4 GB, in one entry."""
    raw, size = Raw(), 4095 * MIB
    data = zeros(size)
    raw.body += raw.local(b"a.jpg", size, len(data), 0) + data
    raw.list(b"a.jpg", size, len(data), 0, 0)
    return naming(folder, ["a.jpg"], raw.write(folder / "images.zip"))


@ARCHIVES.case(1, "ARCHIVE_TOO_LARGE")
def bomb_of_many_entries(folder):
    """Thirty entries of 8 MB, each small enough: their sum is not."""
    raw = Raw()
    files = [f"{number}.jpg".encode() for number in range(30)]
    data, size = zeros(8 * MIB), 8 * MIB
    crc = zlib.crc32(bytes(size))
    for name in files:
        raw.list(name, size, len(data), crc, len(raw.body))
        raw.body += raw.local(name, size, len(data), crc) + data
    return naming(folder, [name.decode() for name in files], raw.write(folder / "images.zip"))


@ARCHIVES.case(1, "ARCHIVE_TOO_LARGE")
def overlapping_bomb(folder):
    """Each entry quotes the next one's header and then shares its data: 60 entries on one kernel."""
    names = [f"{number:02}.jpg".encode() for number in range(60)]
    raw, data = Raw(), zeros(8 * MIB)
    body, offsets, crc, size = data, [], zlib.crc32(bytes(8 * MIB)), 8 * MIB
    listed, last = [], b""
    for place, name in enumerate(reversed(names)):
        if place:
            quote = body[: len(last)]
            stored = struct.pack("<BHH", 0, len(quote), 0xFFFF ^ len(quote))
            body, size = stored + body, size + len(quote)
        last = raw.local(name, size, len(body), crc)
        listed.append((name, size, len(body), crc))
        body = last + body
        offsets.append(len(body))
    raw.body += body
    for (name, size, packed, crc), end in zip(listed, offsets, strict=True):
        raw.list(name, size, packed, crc, len(body) - end)
    return naming(folder, [name.decode() for name in names], raw.write(folder / "images.zip"))


@ARCHIVES.case(1, "ARCHIVE_TOO_LARGE")
def tar_gz_bomb(folder):
    """A tar.gz whose one entry, which nobody names, holds 150 MB of zeros."""
    header = member("zeros.bin")
    header.size = 150 * MIB
    packer = zlib.compressobj(9, wbits=31)
    data = packer.compress(header.tobuf()) + b"".join(packer.compress(bytes(MIB)) for _ in range(150))
    return naming(folder, ["a.jpg"], written(folder, "images.tar.gz", data + packer.flush()))


@ARCHIVES.case(2, "NESTED_ARCHIVE")
def zip_in_zip_in_zip(folder):
    data = picture()
    for depth in range(5):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as packed:
            packed.writestr(f"inner{depth}.zip" if depth else "a.jpg", data)
        data = file.getvalue()
    return zip_of(folder, {"outer.zip": data})


@ARCHIVES.case(3, "TOO_MANY_FILES")
def a_million_entries(folder):
    raw = Raw()
    raw.body += raw.local(b"0000000", 0, 0, 0)
    raw.list(b"0000000", 0, 0, 0, 0)
    head = bytes(raw.directory[:-7])
    raw.directory = bytearray(b"".join(head + b"%07d" % number for number in range(1_000_001)))
    raw.count = 1_000_001
    return naming(folder, ["0000000"], raw.write(folder / "images.zip"))


for place, name in enumerate(["../../x.jpg", "a/../../x.jpg", "a/.."]):
    ARCHIVES.add(4, "UNSAFE_PATH", lambda folder, name=name: zip_of(folder, {name: picture()}), f"zip_slip_{place}")
ARCHIVES.add(4, "UNSAFE_PATH", lambda folder: tar_of(folder, member("../../x.jpg")), "tar_slip")
ARCHIVES.add(5, "UNSAFE_PATH", lambda folder: zip_of(folder, {"/etc/passwd": b"x"}), "absolute_in_zip")
ARCHIVES.add(5, "UNSAFE_PATH", lambda folder: tar_of(folder, member("/etc/passwd")), "absolute_in_tar")
for place, name in enumerate(["C:\\x.jpg", "C:/x.jpg", "..\\x.jpg", "\\\\host\\share\\x.jpg", "a\\b.jpg"]):
    ARCHIVES.add(6, "UNSAFE_PATH", lambda folder, name=name: zip_of(folder, {name: picture()}), f"windows_name_{place}")

LINKS = {
    "symbolic_link": (member("l.jpg", tarfile.SYMTYPE, "/etc/passwd"),),
    "hard_link": (member("l.jpg", tarfile.LNKTYPE, "good.jpg"),),
    "link_chain": (member("d", tarfile.SYMTYPE, ".."), member("d/e", tarfile.SYMTYPE, "..")),
    "device": (member("null", tarfile.CHRTYPE),),
    "pipe": (member("pipe", tarfile.FIFOTYPE),),
}
for name, members in LINKS.items():
    ARCHIVES.add(7, "LINK_OR_DEVICE", lambda folder, members=members: tar_of(folder, *members), f"tar_{name}")


@ARCHIVES.case(7, "LINK_OR_DEVICE")
def zip_symbolic_link(folder):
    link = zipfile.ZipInfo("l.jpg")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    return zip_of(folder, {link: b"/etc/passwd"})


@ARCHIVES.case(7, "LINK_OR_DEVICE")
def folder_with_a_link_out(folder):
    (folder / "images").mkdir()
    written(folder, "images/good.jpg", picture())
    os.symlink("/etc/hostname", folder / "images/l.jpg")
    return naming(folder, ["good.jpg"], folder / "images")


@ARCHIVES.case(8, None)
def odd_owner_mode_and_times(folder):
    odd = member("odd.txt")
    odd.mode, odd.uid, odd.gid, odd.mtime = 0o6777, 0, 0, 4323456789
    return tar_of(folder, odd)


def patched(folder: Path, at: bytes, change, skip: int) -> ImportFiles:
    """A zip in which the byte `skip` after the last `at` is changed."""
    given = zip_of(folder, {})
    data = bytearray(given.images.read_bytes())
    place = data.rindex(at) + skip
    data[place] = change(data[place])
    given.images.write_bytes(data)
    return given


ARCHIVES.add(
    9, "ARCHIVE_UNREADABLE", lambda folder: patched(folder, b"PK\1\2", lambda old: old | 1, 8), "encrypted_zip"
)
ARCHIVES.add(
    9, "ARCHIVE_UNREADABLE", lambda folder: patched(folder, b"PK\1\2", lambda old: old ^ 1, 16), "bad_checksum"
)


def cut(given: ImportFiles, keep: float) -> ImportFiles:
    data = given.images.read_bytes()
    given.images.write_bytes(data[: int(len(data) * keep)])
    return given


ARCHIVES.add(9, "ARCHIVE_UNREADABLE", lambda folder: cut(zip_of(folder, {"b.jpg": picture(2)}), 0.6), "cut_off_zip")
ARCHIVES.add(9, "ARCHIVE_UNREADABLE", lambda folder: cut(tar_of(folder), 0.05), "cut_off_tar")
ARCHIVES.add(9, "ARCHIVE_UNREADABLE", lambda folder: cut(tar_of(folder, name="images.tar.gz"), 0.9), "cut_off_tar_gz")


@ARCHIVES.case(9, "ARCHIVE_UNREADABLE")
def broken_header_in_mid_tar(folder):
    given = tar_of(folder, member("b.txt"))
    data = given.images.read_bytes().replace(b"b.txt", b"c.txt")  # the header's checksum no longer fits
    given.images.write_bytes(data)
    return given


def called_zip(folder: Path, content: bytes) -> ImportFiles:
    return naming(folder, ["good.jpg"], written(folder, "really.zip", content))


ARCHIVES.add(10, "WRONG_TYPE", lambda folder: called_zip(folder, tar_of(folder).images.read_bytes()), "zip_that_is_tar")
ARCHIVES.add(
    10, "WRONG_TYPE", lambda folder: called_zip(folder, b"<!doctype html><title>x</title>"), "zip_that_is_html"
)
ARCHIVES.add(10, "EMPTY_FILE", lambda folder: called_zip(folder, b""), "empty_zip")

NFC, NFD = (unicodedata.normalize(form, "caf\u00e9.jpg") for form in ("NFC", "NFD"))
ARCHIVES.add(25, None, lambda folder: naming(folder, [NFC], zipped(folder, {NFD: picture()})), "accent_in_two_parts")
ARCHIVES.add(
    25, "NAME_CLASH", lambda folder: zip_of(folder, {NFC: picture(1), NFD: picture(2)}), "accent_in_both_forms"
)
for place, pair in enumerate([("A.jpg", "a.jpg"), ("a.jpg", "a.jpg."), ("a /b.jpg", "a/b.jpg")]):
    files = {name: picture(number) for number, name in enumerate(pair)}
    ARCHIVES.add(26, "NAME_CLASH", lambda folder, files=files: zip_of(folder, files), f"clash_{place}")


@ARCHIVES.case(26, None)
def odd_but_safe_names(folder):
    names = ["CON.jpg", "n" * 300 + ".jpg", " spaced .jpg"]
    files = {name: picture(number) for number, name in enumerate(names)}
    left_behind = {".DS_Store": b"x", "__MACOSX/._CON.jpg": b"x", "Thumbs.db": b"x"}
    return naming(folder, names, zipped(folder, {**files, **left_behind}))


@ARCHIVES.case(29, "MISSING_IMAGE")
def image_that_is_not_there(folder):
    return naming(folder, ["good.jpg", "gone.jpg"], zip_of(folder, {}).images)


ARCHIVES.add(29, None, lambda folder: zip_of(folder, {"extra.jpg": picture(7)}), "image_that_no_row_names")
