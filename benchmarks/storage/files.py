"""What a place for files offers. Names are paths with slashes, such as `originals/ab/….jpg`."""

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
    """Django's storage and more. Each method may raise Unavailable; those that read one file, FileNotFoundError."""

    in_bucket: bool

    def open(self, name: str) -> File: ...

    def save(self, name: str, content: File) -> str: ...

    def exists(self, name: str) -> bool: ...

    def delete(self, name: str) -> None: ...

    def read(self, name: str) -> bytes: ...

    def size(self, name: str) -> int: ...

    def contents(self, name: str) -> Contents:
        """The file, to be read later and in any thread."""

    def write(self, name: str, content: bytes) -> None:
        """The file is there whole and durably when this returns, or not at all, whoever else writes it now."""

    def copy_in(self, local: Path, name: str) -> None:
        """The file is there whole or not at all, and durable after `sync`. The local file stays."""

    def sync(self) -> None:
        """What was copied in is durable when this returns."""

    def move_in(self, files: Iterable[tuple[Path, str]]) -> None:
        """Local files, each with its name here. All are durable when this returns."""

    def sha256(self, name: str) -> str:
        """Of the bytes as they are, or as they were when stored; empty if nobody knows."""

    def copy_out(self, name: str, local: Path) -> None:
        """Into a new local file, whose folder exists."""

    def move(self, name: str, to: str) -> None: ...

    def remove(self, names: Iterable[str]) -> None:
        """Those that exist."""

    def remove_folder(self, name: str) -> None:
        """With all that is below it, if it exists."""

    def folders(self, name: str) -> list[str]:
        """The names of the folders directly below, in order; none if there is no such folder."""

    def below(self, name: str, after: str = "") -> Iterator[Stored]:
        """All files below a folder ("": all files), one at a time; `after`: those whose names sort after that one."""

    def lookup(self, *folders: str) -> Callable[[str], bool]:
        """Whether a file exists, for many files of these folders."""

    def try_out(self) -> None:
        """Raises Unavailable if files cannot be stored and read."""

    def signed(self, name: str, download: str) -> str:
        """An address that downloads the file for a short while, as `download`. Empty if Winnow sends it itself; then
        nobody has looked whether there is such a file."""


kept = cast(Files, default_storage)
