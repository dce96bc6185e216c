"""Copying all kept files from a folder to a bucket, or back. The source stays; existing files are skipped."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from benchmarks.storage.bucket import WIDEST, Bucket, all_at_once
from benchmarks.storage.files import Stored
from benchmarks.storage.folder import Folder

IN_PROGRESS = {"staging", "uploads"}  # top folders
ORIGINALS = "originals"  # their files are named by their SHA-256
Tell = Callable[[int, int], None]  # called with the numbers of files and bytes so far


@dataclass(slots=True)
class Copied:
    """The numbers of files copied and skipped, and the bytes copied."""

    files: int = 0
    bytes: int = 0
    there: int = 0


class Damaged(Exception):
    """A file's bytes are not what they should be. The message names it."""


def to_bucket(folder: Folder, bucket: Bucket, tell: Tell) -> Copied:
    """Copy all files. Raises Damaged for a file that is wrong in the folder or changes, and Unavailable."""

    def copy(file: Stored) -> int | None:
        try:
            sha256 = _checked(file.name, folder.sha256(file.name), folder)
        except FileNotFoundError:  # deleted meanwhile
            return None
        if _stored_sha256(bucket, file.name) == sha256:
            return None
        bucket.copy_in(folder.contents(file.name), file.name)
        with bucket.open(file.name) as copied:
            digest = hashlib.sha256()
            while piece := copied.read(WIDEST):
                digest.update(piece)
        if digest.hexdigest() != sha256:
            bucket.delete(file.name)
            raise Damaged(f"{file.name} arrived with another SHA-256. Run this again.")
        return file.size

    return _copy_all(copy, folder.below(""), tell)


def to_folder(bucket: Bucket, folder: Folder, tell: Tell) -> Copied:
    """Copy all files. Raises Damaged for a file that is wrong in the bucket, and Unavailable."""

    def copy(file: Stored) -> int | None:
        sha256 = bucket.sha256(file.name)
        if (
            sha256
            and _checked(file.name, sha256, bucket)
            and folder.exists(file.name)
            and folder.sha256(file.name) == sha256
        ):
            return None
        folder.appear(file.name, lambda part: bucket.copy_out(file.name, part))
        _checked(file.name, folder.sha256(file.name), bucket)
        return file.size

    copied = _copy_all(copy, bucket.below(""), tell)
    folder.sync()
    return copied


def only_in(target: Folder | Bucket, source: Folder | Bucket) -> list[str]:
    """Return the files that the source does not have."""
    there = {file.name for file in source.below("")}
    return [file.name for file in target.below("") if file.name not in there and _is_kept(PurePosixPath(file.name))]


def _copy_all(copy: Callable[[Stored], int | None], files: Iterator[Stored], tell: Tell) -> Copied:
    found = Copied()
    wanted = (file for file in files if _is_kept(PurePosixPath(file.name)))
    for size in all_at_once(copy, wanted):
        if size is None:
            found.there += 1
        else:
            found.files, found.bytes = found.files + 1, found.bytes + size
        tell(found.files + found.there, found.bytes)
    return found


def _is_kept(path: PurePosixPath) -> bool:
    return path.parts[0] not in IN_PROGRESS and not path.name.startswith(".")  # a leading dot: still being written


def _checked(name: str, sha256: str, place: Folder | Bucket) -> str:
    path = PurePosixPath(name)
    if path.parts[0] == ORIGINALS and path.stem != sha256:
        raise Damaged(f"{place.contents(name)} is damaged: it differs from the imported file. Restore it.")
    return sha256


def _stored_sha256(bucket: Bucket, name: str) -> str:
    try:
        return bucket.sha256(name)
    except FileNotFoundError:
        return ""
