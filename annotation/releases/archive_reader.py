"""An export or a release in a folder or a .zip, read a file at a time; nothing is unpacked or kept. Pure.

In a .zip all files are stored uncompressed below one top folder. Other archives, or names that lead out of the folder,
are refused.
"""

import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Self

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from annotation.protocols.library import read_stored
from annotation.protocols.roles import asked_under
from annotation.protocols.schema import ProtocolFile
from annotation.releases.schema import MANIFEST, UnknownSchemaVersion, check_version

MADE_BY, KIND = "Winnow", "release"
LONGEST = 64 * 1024 * 1024  # bytes in a line
BUFFER = 2**20  # bytes read at once from a parquet file, instead of whole columns


class NotARelease(ValueError):
    """The files cannot be read as a release; the message explains why."""


class Files:
    """The files in `place`: a folder, a .zip, or an open .zip. Every method raises NotARelease."""

    def __init__(self, place: Path | str | IO[bytes]):
        self.place = place = Path(place) if isinstance(place, str) else place
        self._archive: zipfile.ZipFile | None = None
        self._found: Mapping[str, Path | zipfile.ZipInfo]
        if isinstance(place, Path) and place.is_dir():
            self._found = _files(place)
            return
        self._archive = _archive(place)
        try:
            self._found = _entries(self._archive)
        except NotARelease:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        if self._archive:
            self._archive.close()

    def names(self) -> list[str]:
        """Return the names of all files, as paths below the folder, sorted."""
        return sorted(self._found)

    def open(self, name: str) -> IO[bytes]:
        """Open a file for reading, with seeking."""
        found = self._found.get(name)
        if found is None:
            raise NotARelease(f"{name} is not in the release.")
        if isinstance(found, Path):
            return found.open("rb")
        assert self._archive
        return self._archive.open(found)

    def read(self, name: str) -> bytes:
        with self.open(name) as file:
            return file.read()

    def json(self, name: str) -> dict:
        return as_object(self.read(name), name)

    def raw_lines(self, name: str) -> Iterator[bytes]:
        with self.open(name) as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                if len(line) > LONGEST:
                    raise NotARelease(f"{name}, line {number}: longer than {LONGEST:,} bytes.")
                yield line

    def lines(self, name: str) -> Iterator[dict]:
        """Yield the lines of a .jsonl file, one at a time."""
        for number, line in enumerate(self.raw_lines(name), 1):
            yield as_object(line, f"{name}, line {number}")

    def protocol_files(self, stages: Iterable[Mapping]) -> dict[str, ProtocolFile]:
        """Return protocol files by stage name, for the stages (as in the manifest) that use one, in order."""
        return {
            stage["name"]: asked_under(read_stored(self.read(file["path"]).decode(), file["name"]), stage["protocol"])
            for stage in sorted(stages, key=lambda stage: stage["position"])
            if (file := stage["protocol_file"])
        }

    def schema(self, name: str) -> pa.Schema:
        """Return the schema of a .parquet file."""
        with self.open(name) as file:
            return pq.read_schema(file)

    def batches(self, name: str, rows: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield `rows` rows of a .parquet file at a time, with all columns or only these. If it read ahead, pyarrow
        would keep whole columns until the end."""
        with self.open(name) as source, pq.ParquetFile(source, buffer_size=BUFFER, pre_buffer=False) as file:
            yield from file.iter_batches(rows, columns=columns, use_threads=False)


class ReleaseFiles(Files):
    """A release, refused if this Winnow does not know its manifest's schema version."""

    @cached_property
    def manifest(self) -> dict:
        found = self.json(MANIFEST)
        if found.get("made_by") != MADE_BY:
            raise NotARelease(f"{MANIFEST} does not state that {MADE_BY} made it.")
        if found.get("kind") != KIND:
            raise NotARelease("This is a study’s export. Make a release from it first.")
        try:
            check_version(found)
        except UnknownSchemaVersion as why:
            raise NotARelease(str(why)) from None
        return found

    def unpack(self, folder: Path) -> None:
        """Write every file below the folder, creating it."""
        for name in self.names():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with self.open(name) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)


def as_object(text: bytes, where: str) -> dict:
    """Parse a JSON object; NotARelease names the place if it is not one."""
    try:
        found = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        raise NotARelease(f"{where}: not valid JSON.") from None
    if not isinstance(found, dict):
        raise NotARelease(f"{where}: not a JSON object.")
    return found


def _files(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for at, folders, names in os.walk(folder):
        for name in (*folders, *names):
            if (Path(at) / name).is_symlink():
                raise NotARelease(f"{Path(at) / name} is a link; a release holds only files.")
        found |= {(Path(at) / name).relative_to(folder).as_posix(): Path(at) / name for name in names}
    return found


def _archive(place: Path | IO[bytes]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(place)
    except FileNotFoundError:
        raise NotARelease(f"{place} does not exist. Name a folder or a .zip.") from None
    except (zipfile.BadZipFile, OSError) as problem:
        raise NotARelease(f"{place} cannot be read as a .zip: {problem}") from None


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    tops = set()
    for entry in archive.infolist():
        if entry.is_dir():
            continue
        parts = PurePosixPath(entry.filename).parts
        if len(parts) < 2 or {"/", "..", "."} & set(parts) or "\\" in entry.filename or ":" in parts[0]:
            raise NotARelease(f"The .zip has an entry {entry.filename!r}; all entries must be in one top-level folder.")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            raise NotARelease(f"{entry.filename} is compressed or encrypted. Unpack the .zip and name its folder.")
        tops.add(parts[0])
        name = "/".join(parts[1:])
        if name in found:
            raise NotARelease(f"The .zip contains {entry.filename!r} twice.")
        found[name] = entry
    if len(tops) > 1:
        raise NotARelease(f"The .zip has {len(tops)} top-level folders; a release has one.")
    return found
