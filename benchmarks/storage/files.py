"""The interface of a file storage. Names are paths with slashes, such as `originals/ab/….jpg`."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from django.core.files import File
from django.core.files.storage import default_storage

from workers.contents import Contents


class Unavailable(OSError):
    """The storage cannot be used now. The message is a sentence for whoever runs Winnow."""


class Stored(NamedTuple):
    """`modified`: in seconds since 1970."""

    name: str
    size: int
    modified: float


class Files(Protocol):
    """Extends Django's storage. All methods may raise Unavailable; those reading a file, FileNotFoundError."""

    in_bucket: bool

    def open(self, name: str) -> File: ...

    def save(self, name: str, content: File) -> str: ...

    def exists(self, name: str) -> bool: ...

    def delete(self, name: str) -> None: ...

    def read(self, name: str) -> bytes: ...

    def size(self, name: str) -> int: ...

    def contents(self, name: str) -> Contents:
        """Return a handle that can be read later, from any thread."""

    def write(self, name: str, content: bytes) -> None:
        """Write the file completely and durably or not at all, even if others write it at the same time."""

    def copy_in(self, local: Path, name: str) -> None:
        """Copy the local file in completely or not at all; it is durable after `sync`. The local file stays."""

    def sync(self) -> None:
        """Make copied files durable."""

    def move_in(self, files: Iterable[tuple[Path, str]]) -> None:
        """Move local files in, each with its name in the storage. All are durable on return."""

    def sha256(self, name: str) -> str:
        """Return the hash of the bytes, now or when stored; empty if unknown."""

    def copy_out(self, name: str, local: Path) -> None:
        """Copy it to a new local file, whose folder exists."""

    def move(self, name: str, to: str) -> None: ...

    def remove(self, names: Iterable[str]) -> None:
        """Remove the files that exist."""

    def remove_folder(self, name: str) -> None:
        """Remove the folder with everything in it, if it exists."""

    def folders(self, name: str) -> list[str]:
        """Return the names of its direct subfolders, in order; none if there is no such folder."""

    def below(self, name: str, after: str = "") -> Iterator[Stored]:
        """Yield all files below a folder ("": all files); `after`: only those whose names sort after that one."""

    def lookup(self, *folders: str) -> Callable[[str], bool]:
        """Return a function that checks whether a file exists, for many files in these folders."""

    def try_out(self) -> None:
        """Raise Unavailable if files cannot be stored and read."""

    def signed(self, name: str, download: str) -> str:
        """Return a short-lived URL that downloads the file as `download`. Empty if Winnow sends it itself, in which
        case the file may not exist."""


kept = cast(Files, default_storage)
