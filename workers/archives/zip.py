"""Files from a zip, each decompressed into memory under a count of its bytes; nothing is extracted."""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from workers import limits
from workers.archives import names
from workers.archives.folder import LINK
from workers.archives.source import TOO_MANY, ArchiveRefused, Budget, EntryNames, Source, unreadable

CHUNK = 2**16
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_UTF8 = 0x800  # the flag for names in UTF-8
_OTHER_ENCODING = "Create the archive again with names in UTF-8: its names are in another encoding, such as cp932."
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, struct.error, OSError, ValueError)
internals: Any = zipfile  # finds the directory; missing in the type stubs


class Zip(Source):
    def __init__(self, path: Path, title: str):
        refuse_many(path, title)
        try:
            self._zip = zipfile.ZipFile(path)
        except BROKEN as error:
            raise unreadable(title, error) from error
        try:
            refuse_overlap(self._zip)
            self._infos = {name_of(info): info for info in self._zip.infolist()}
            super().__init__(title, listed(self._zip))
            self.other_encoding = any(map(is_in_other_encoding, self._zip.infolist()))
        except ArchiveRefused:
            self._zip.close()
            raise
        self._budget = Budget(path.stat().st_size)

    def _contents(self, asked) -> Iterator[tuple[str, bytes]]:
        infos = {name: self._infos[self._stored[name]] for name in asked}
        for name, info in sorted(infos.items(), key=lambda pair: pair[1].header_offset):
            yield name, self._read(info)

    def _read(self, info: zipfile.ZipInfo) -> bytes:
        parts, size, name = [], 0, name_of(info)
        try:
            with self._zip.open(info) as file:
                while chunk := file.read(CHUNK):
                    size += len(chunk)
                    self._budget.take(len(chunk), name)
                    if size > limits.MAX_ENTRY_BYTES:
                        advice = f"Use files of at most {limits.MAX_ENTRY_BYTES:,} bytes."
                        raise ArchiveRefused("ARCHIVE_TOO_LARGE", name, advice)
                    parts.append(chunk)
        except BROKEN as error:
            raise unreadable(name, error) from error
        return b"".join(parts)

    def close(self) -> None:
        self._zip.close()


def name_of(info: zipfile.ZipInfo) -> str:
    """Return the entry's name. Even without the UTF-8 flag it is UTF-8 if its bytes are valid, as written by macOS and
    many programs; otherwise it is cp437, according to the zip specification (APPNOTE 4.4.4, appendix D).

    zipfile's own `metadata_encoding` is one encoding for all entries, and fails on the first name in another.
    """
    if not info.flag_bits & _UTF8:
        with suppress(UnicodeError):
            return info.orig_filename.encode("cp437").decode()  # cp437 has a character for every byte
    return info.orig_filename


def is_in_other_encoding(info: zipfile.ZipInfo) -> bool:
    """Return whether the name is neither ASCII nor UTF-8: cp437 is then only a guess."""
    name = name_of(info)
    return not info.flag_bits & _UTF8 and not name.isascii() and name == info.orig_filename


def listed(archive: zipfile.ZipFile) -> EntryNames:
    found = EntryNames()
    for info in archive.infolist():
        name, mode = name_of(info), info.external_attr >> 16
        kind = stat.S_IFMT(mode)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            found.refuse("LINK_OR_DEVICE", name, LINK)
        elif info.flag_bits & 0x1:
            found.refuse("ARCHIVE_UNREADABLE", name, "Create the archive again without a password.")
        elif info.compress_type not in METHODS:
            advice = "Create the archive again with ordinary compression (deflate)."
            found.refuse("ARCHIVE_UNREADABLE", name, advice)
        elif is_in_other_encoding(info) and names.unsafe(name):  # the second byte of 表 in cp932 is a backslash
            found.refuse("UNSAFE_PATH", name, _OTHER_ENCODING)
        elif name.endswith("/"):  # is_dir() fails on a name without letters
            found.add_folder(name)
        else:
            found.add(name)
    return found


def refuse_overlap(archive: zipfile.ZipFile) -> None:
    """Refuse entries that share bytes, with which a small file can unpack to a very large one."""
    end = 0
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
        if info.header_offset < end:
            advice = "Entries overlap, as in a zip bomb. Create the archive again."
            raise ArchiveRefused("ARCHIVE_TOO_LARGE", name_of(info), advice)
        end = info.header_offset + internals.sizeFileHeader + info.compress_size


def refuse_many(path: Path, title: str) -> None:
    """Count the entries before creating objects for them. Raises ArchiveRefused above MAX_FILES.

    zipfile builds an object for each entry of the directory, however few its end record claims; so this first walks the
    directory. Its position comes from zipfile itself, because a separate search could be made to differ.
    """
    with path.open("rb") as file:
        try:
            end = internals._EndRecData(file)
        except BROKEN as error:
            raise unreadable(title, error) from error
        if end is None:
            raise unreadable(title, "its end is missing")
        size, location = end[internals._ECD_SIZE], end[internals._ECD_LOCATION]
        zip64 = internals.sizeEndCentDir64 + internals.sizeEndCentDir64Locator
        ends_in_zip64 = end[internals._ECD_SIGNATURE] == internals.stringEndArchive64
        start = location - size - (zip64 if ends_in_zip64 else 0)  # it ends at the end records
        if start < 0:
            raise unreadable(title, "its list of entries is missing")
        if size > limits.MAX_DIRECTORY_BYTES:
            raise ArchiveRefused("TOO_MANY_FILES", title, TOO_MANY)
        file.seek(start)
        if count_entries(file.read(size)) > limits.MAX_FILES:
            raise ArchiveRefused("TOO_MANY_FILES", title, TOO_MANY)


def count_entries(directory: bytes) -> int:
    """Return the number of entries in a zip's central directory; stops counting past MAX_FILES."""
    place = count = 0
    while place + 46 <= len(directory) and count <= limits.MAX_FILES:
        place += 46 + sum(struct.unpack_from("<3H", directory, place + 28))
        count += 1
    return count
