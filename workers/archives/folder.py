"""Files from a folder. Symbolic links are refused and never followed."""

import os
from collections.abc import Iterator
from pathlib import Path

from workers import limits
from workers.archives.source import TOO_MANY, ArchiveRefused, EntryNames, Source

LINK = "Include the file itself: links, devices and pipes are not read."


class Folder(Source):
    def __init__(self, path: Path, title: str):
        self._path = path
        super().__init__(title, listed(path))

    def _contents(self, asked):
        for name in self.names:
            if name in asked:
                yield name, self._read(name)

    def _read(self, name: str) -> bytes:
        try:
            handle = os.open(self._path / self._stored[name], os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(handle, "rb") as file:
                data = file.read(limits.MAX_ENTRY_BYTES + 1)
        except OSError as error:
            raise ArchiveRefused("FILE_UNREADABLE", name, f"Make the file readable ({error.strerror}).") from error
        if len(data) > limits.MAX_ENTRY_BYTES:
            raise ArchiveRefused("FILE_TOO_LARGE", name, f"Use files of at most {limits.MAX_ENTRY_BYTES:,} bytes.")
        return data


def listed(path: Path) -> EntryNames:
    found = EntryNames()
    for entry in walk(path):
        name = Path(entry.path).relative_to(path).as_posix()
        if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
            found.refuse("LINK_OR_DEVICE", name, LINK)
        else:
            found.add(name)
    return found


def walk(path: Path) -> Iterator[os.DirEntry]:
    """Yield everything that is not a folder, sorted by name, folder by folder."""
    with os.scandir(path) as found:
        entries = sorted(bounded(found), key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from walk(Path(entry.path))
        else:
            yield entry


def bounded(found: Iterator[os.DirEntry]) -> Iterator[os.DirEntry]:
    for number, entry in enumerate(found):
        if number >= limits.MAX_FILES:
            raise ArchiveRefused("TOO_MANY_FILES", entry.name, TOO_MANY)
        yield entry
