"""A release in a folder: the files actually there, not those its manifest names, and readers for some kinds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from annotation.exports.columns import FILES_OF_ITEMS
from annotation.protocols.reading import read_protocol
from annotation.protocols.roles import asked_under
from annotation.protocols.schema import ProtocolFile
from annotation.releases.schema import JUDGMENTS, MANIFEST
from benchmarks.formats.base import ProblemLog, Unreadable

FIGURES = "figures.json"


class Wrong(ValueError):
    """A file's content is not valid in a release; the message names the problem."""


class DuplicateKey(Wrong):
    """A JSON object has a key twice."""


@dataclass
class Place:
    """`digests` has the SHA-256 of each file, by name, once files.py has read them; `decoded` the format, width
    and height of each image in the data, by its SHA-256, once forms.py has decoded it (None if it is not an image).
    """

    folder: Path
    digests: dict[str, str] = field(default_factory=dict)
    decoded: dict[str, tuple[str, int, int] | None] = field(default_factory=dict)
    _protocols: dict[str, ProtocolFile] = field(default_factory=dict)  # files read so far, by path
    _distinct: set[str] = field(default_factory=set)  # .jsonl files read before, in which no object has a key twice

    @cached_property
    def names(self) -> list[str]:
        """Return the names of existing files, except links, and only below the folder."""
        return sorted(path.relative_to(self.folder).as_posix() for path in self._below() if not path.is_symlink())

    @cached_property
    def links(self) -> list[str]:
        return sorted(path.relative_to(self.folder).as_posix() for path in self._below() if path.is_symlink())

    def _below(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_symlink() or not path.is_dir()]

    @cached_property
    def manifest(self) -> dict:
        """Return the manifest. Raises OSError or ValueError."""
        return self.json(MANIFEST)

    @cached_property
    def figure_parts(self) -> list[str]:
        """Return the names of the parts of figures.json. Raises OSError or ValueError."""
        return list(self.json(FIGURES))  # in which no object has a key twice

    def part_of_figures(self, name: str) -> Any:
        """Return only one part, since it may have a million values."""
        return msgspec.json.decode(_parts((self.folder / FIGURES).read_bytes())[name])

    @property
    def public(self) -> frozenset[str]:
        return frozenset(self.manifest["release"]["public"])

    @property
    def splits(self) -> list[str]:
        return list(self.manifest["splits"])

    def json(self, name: str) -> dict:
        return as_object((self.folder / name).read_text(encoding="utf-8"))

    def lines_of_items(self) -> Iterator[dict]:
        """Yield the lines of every item that is not open."""
        for name in FILES_OF_ITEMS.values():
            yield from self.lines(name)

    def lines(self, name: str) -> Iterator[dict]:
        """Yield the lines of a .jsonl file, one at a time."""
        decode = _decode if name in self._distinct else _decode_distinct  # decoding it takes four times as long
        with (self.folder / name).open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield _only_object(decode(line))
                except DuplicateKey as why:
                    raise Wrong(f"line {number}: {why}") from None
                except ValueError:
                    raise Wrong(f"line {number} is not a JSON object") from None
        self._distinct.add(name)

    def judgments(self, columns: Sequence[str] | None = None, rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Yield `rows` rows of judgments.parquet at a time, with all columns or only these."""
        with streamed(self.folder / JUDGMENTS) as file:
            yield from file.iter_batches(rows, columns=columns, use_threads=False)

    @property
    def judgment_count(self) -> int:
        """Return the number of judgments, from judgments.parquet's metadata."""
        with streamed(self.folder / JUDGMENTS) as file:
            return file.metadata.num_rows

    def protocol_file(self, stage: Mapping[str, Any]) -> ProtocolFile:
        """Return the protocol file of a stage in the manifest that uses one, with its roles' names there. Raises
        OSError or ValueError.
        """
        path = stage["protocol_file"]["path"]
        if path not in self._protocols:
            if path not in self.names:  # files outside the folder are not read
                raise Wrong(f"{path} is missing")
            log = ProblemLog()
            try:
                self._protocols[path] = read_protocol((self.folder / path).read_text(encoding="utf-8"), path, log)
            except Unreadable:
                one = log.problems[0]
                raise Wrong(f"it is not a protocol file: line {one.row}, {one.column}: {one.advice}") from None
        return asked_under(self._protocols[path], stage["protocol"])

    def below(self, folder: str, ending: str = "") -> list[str]:
        """Return the names of the files there, sorted."""
        return [name for name in self.names if name.startswith(f"{folder}/") and name.endswith(ending)]


def as_object(text: str | bytes) -> dict:
    return _only_object(json.loads(text, object_pairs_hook=_with_distinct_keys))


def _only_object(found: Any) -> dict:
    if not isinstance(found, dict):
        raise Wrong("it is not a JSON object")
    return found


def _with_distinct_keys(pairs: list[tuple[str, Any]]) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise DuplicateKey(f"it has the key {next(name for name in names if names.count(name) > 1)!r:.60} twice")
    return found


_parts = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_distinct = json.JSONDecoder(object_pairs_hook=_with_distinct_keys).decode
_decode = msgspec.json.Decoder().decode


def streamed(path: Path) -> pq.ParquetFile:
    """Open a file to be read in batches, without keeping whole columns of what was read."""
    return pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False)
