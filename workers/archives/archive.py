"""Files from a folder, a zip or a tar(.gz), read as streams and never extracted.

with open_archive(path) as source:
    source.names, source.ignored, source.missing(wanted), source.unused(wanted)
    for name, data in source.stream(wanted): ...
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workers.archives.folder import Folder
from workers.archives.source import ArchiveRefused, Refusal, Source
from workers.archives.tar import Tar
from workers.archives.zip import Zip

__all__ = ["ArchiveRefused", "Refusal", "Source", "open_archive"]

KINDS = {".zip": "zip", ".tar": "tar", ".tar.gz": "gzip", ".tgz": "gzip"}
ACCEPTED = "Use a folder, a .zip, a .tar or a .tar.gz."


@contextmanager
def open_archive(path: Path, title: str = "") -> Iterator[Source]:
    """Open the files of a folder or archive; `title` is its name as the user knows it (default: the path's).

    Every entry's name and kind is checked first. Raises ArchiveRefused, on opening and while reading files.
    """
    path, title = Path(path), title or Path(path).name
    if not (path.is_dir() or path.is_file()):
        raise ArchiveRefused("FILE_UNREADABLE", title, f"The file does not exist. {ACCEPTED}")
    kind = Folder if path.is_dir() else Zip if _packing(path, title) == "zip" else Tar
    source = kind(path, title)
    try:
        yield source
    finally:
        source.close()


def _packing(path: Path, title: str) -> str:
    """Return the kind by the first bytes, which must match the file's extension."""
    with path.open("rb") as file:
        start = file.read(512)
    if not start:
        raise ArchiveRefused("EMPTY_FILE", title, f"The file is empty. {ACCEPTED}")
    named = next((kind for ending, kind in KINDS.items() if title.lower().endswith(ending)), "")
    if not named or named != _kind_by_magic(start):
        raise ArchiveRefused("WRONG_TYPE", title, f"The file's content does not match its name. {ACCEPTED}")
    return named


def _kind_by_magic(start: bytes) -> str:
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    return "tar" if start[257:262] == b"ustar" else ""
