"""Files from a tar or tar.gz, read front to back once to list it and once for each `stream`; nothing is extracted."""

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workers import limits
from workers.archives.folder import LINK
from workers.archives.source import TOO_MANY, ArchiveRefused, Budget, EntryNames, Source, unreadable

LONG_HEADERS = {tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME}
LONG_HEADERS |= {tarfile.GNUTYPE_LONGLINK}
ASKED_AFTER_END = 100  # times; for a complete tar it is two or three
BROKEN = (tarfile.TarError, EOFError, OSError, zlib.error, ValueError)


class Tar(Source):
    def __init__(self, path: Path, title: str):
        self._path = path
        super().__init__(title, self._listed(title))

    def _listed(self, title: str) -> EntryNames:
        found, folders = EntryNames(), 0
        for member, _ in members(self._path, title):
            if member.isdir():
                found.add_folder(member.name)
                folders += 1
            elif member.isreg():
                found.add(member.name)
            else:
                found.refuse("LINK_OR_DEVICE", member.name, LINK)
            if folders + found.count > limits.MAX_FILES:
                raise ArchiveRefused("TOO_MANY_FILES", title, TOO_MANY)
        return found

    def _contents(self, asked) -> Iterator[tuple[str, bytes]]:
        names = {self._stored[name]: name for name in asked}
        for member, archive in members(self._path, self.title):
            if member.isreg() and member.name in names:
                yield names[member.name], content(archive, member)


def content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Return at most MAX_ENTRY_BYTES, whatever the header says; a sparse file's holes count as bytes."""
    file = archive.extractfile(member)
    assert file is not None  # it is None only for a folder or a device
    try:
        data = file.read(limits.MAX_ENTRY_BYTES + 1)
    except BROKEN as error:
        raise unreadable(member.name, error) from error
    if len(data) > limits.MAX_ENTRY_BYTES:
        advice = f"Use files of at most {limits.MAX_ENTRY_BYTES:,} bytes."
        raise ArchiveRefused("ARCHIVE_TOO_LARGE", member.name, advice)
    if len(data) != member.size:
        raise unreadable(member.name, "it is cut off")
    return data


def members(path: Path, title: str) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
    """Yield each entry when the reader reaches it. Reads to the very end, to detect truncation or a wrong checksum in
    the last bytes. Raises ArchiveRefused."""
    last = title
    try:
        with unpacked(path, title) as stream:
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=Header, errorlevel=2) as archive:
                for member in archive:
                    last = member.name
                    yield member, archive
                    archive.members.clear()  # type: ignore[attr-defined]  # tarfile would keep every header
            while stream.read(2**20):
                pass
    except BROKEN as error:
        raise unreadable(last, error) from error


@contextmanager
def unpacked(path: Path, title: str):
    """Yield the tar's bytes, counting them."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield Counted(gzip.GzipFile(fileobj=file) if packed else file, Budget(path.stat().st_size), title)


class Counted:
    """A stream that refuses to exceed its budget, or to be read again and again at its end: tarfile skips an entry of a
    claimed 2**95 bytes block by block, even if there are none left."""

    def __init__(self, stream, budget: Budget, title: str):
        self._stream, self._budget, self._title = stream, budget, title
        self._after_end = 0  # how often it was read

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._budget.take(len(data), self._title)
        self._after_end += not data
        if self._after_end > ASKED_AFTER_END:
            raise EOFError("it is cut off")
        return data


class Header(tarfile.TarInfo):
    """A tar header that is strict where tarfile forgives: a broken one in mid-file is an error, not the end."""

    @classmethod
    def fromtarfile(cls, archive):
        try:
            return super().fromtarfile(archive)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError(str(error)) from error

    def _proc_member(self, archive):
        """Limit headers: tarfile's hook for their kinds reads long ones into memory whole."""
        if self.type in LONG_HEADERS and self.size > limits.MAX_TAR_HEADER_BYTES:
            raise tarfile.ReadError("its extended header is too long")
        return super()._proc_member(archive)  # type: ignore[misc]
