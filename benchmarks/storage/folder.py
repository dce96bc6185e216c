"""Files below MEDIA_ROOT, on this machine or on a file system shared by machines."""

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from django.core.exceptions import SuspiciousFileOperation
from django.core.files.storage import FileSystemStorage

from benchmarks.storage.files import Stored


class Folder(FileSystemStorage):
    """benchmarks.storage.files.Files"""

    in_bucket = False

    def contents(self, name: str) -> Path:
        return Path(self._inside(name))

    def read(self, name: str) -> bytes:
        path = self._inside(name)  # a release reads a million of these: a Path would take longer
        with open(path, "rb", opener=_no_link) as file:
            return file.read()

    def _inside(self, name: str) -> str:
        if name.startswith("/") or ".." in name.split("/"):
            raise SuspiciousFileOperation(f"{name} is not the name of a stored file")
        return os.path.join(self.location, name)

    def exists(self, name: str) -> bool:
        return self.contents(name).exists()

    def write(self, name: str, content: bytes) -> None:
        self.appear(name, lambda part: _write_durably(part, content))

    def copy_in(self, local: Path, name: str) -> None:
        self.appear(name, lambda part: shutil.copyfile(local, part))

    def appear(self, name: str, fill: Callable[[Path], object]) -> None:
        """Let `fill` write the file to another path; then it appears complete."""
        target = self.contents(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{secrets.token_hex(8)}")
        try:
            fill(part)
            os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def sync(self) -> None:
        os.sync()

    def sha256(self, name: str) -> str:
        with open(self.contents(name), "rb", opener=_no_link) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def move_in(self, files: Iterable[tuple[Path, str]]) -> None:
        for local, name in files:
            target = self._inside(name)
            try:
                os.replace(local, target)
            except FileNotFoundError:  # the first file in its folder; checking each time would be slow
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.replace(local, target)
        self.sync()

    def copy_out(self, name: str, local: Path) -> None:
        shutil.copyfile(self.contents(name), local)

    def move(self, name: str, to: str) -> None:
        self.contents(to).parent.mkdir(parents=True, exist_ok=True)
        os.replace(self.contents(name), self.contents(to))

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            self.contents(name).unlink(missing_ok=True)
            self._prune(self.contents(name))

    def remove_folder(self, name: str) -> None:
        shutil.rmtree(self.contents(name), ignore_errors=True)
        self._prune(self.contents(name))

    def _prune(self, path: Path) -> None:
        """Remove empty folders above `path`, up to MEDIA_ROOT."""
        with contextlib.suppress(OSError):  # this stops at the first folder that is not empty
            for folder in path.parents:
                if folder == Path(self.location):
                    return
                folder.rmdir()

    def folders(self, name: str) -> list[str]:
        with contextlib.suppress(FileNotFoundError), os.scandir(self.contents(name)) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
        return []

    def below(self, name: str, after: str = "") -> Iterator[Stored]:
        for place, _, files in os.walk(self.contents(name)):
            for file in files:
                path = Path(place, file)
                with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                    found = path.stat()
                    stored = Stored(str(path.relative_to(self.location)), found.st_size, found.st_mtime)
                    if stored.name > after:
                        yield stored

    def lookup(self, *folders: str) -> Callable[[str], bool]:
        return self.exists

    def try_out(self) -> None:
        """Do nothing: a folder's faults show when a file is written."""

    def signed(self, name: str, download: str) -> str:
        return ""


def _no_link(path: str, flags: int) -> int:
    """Refuse links: Winnow does not make any, so somebody left one in order to read another file."""
    try:
        return os.open(path, flags | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileNotFoundError(errno.ENOENT, "It is only a link", path) from None
        raise


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
