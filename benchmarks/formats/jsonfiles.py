"""JSON files by name: loose, or in a folder or archive among others. Pure."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.formats import jsontext, limits, text
from benchmarks.formats.base import ProblemLog, Unreadable
from workers.archives.archive import ArchiveRefused, Source, open_archive


def files(path: Path, wanted: Sequence[str], log: ProblemLog) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the wanted files of a folder or archive, or of the one loose file that `path` is.

    What is missing of them, and what else is there, is noted; NO_ROWS where all of them are missing.
    """
    if path.suffix.lower() == ".json" and path.is_file():
        with path.open("rb") as stream:
            yield path.name, stream.read(limits.MAX_JSON_BYTES + 1)
        return
    try:
        with open_archive(path) as source:
            note_others(source, wanted, path.name, log)
            yield from source.stream(wanted)
    except ArchiveRefused as refused:
        log.archive(refused)
        raise Unreadable from refused


def note_others(source: Source, wanted: Sequence[str], file: str, log: ProblemLog) -> None:
    missing = source.missing(wanted)
    if len(missing) == len(wanted):
        log.error("NO_ROWS", file, None, "", f"None of these files is here: {', '.join(wanted)}.")
        return
    for name in missing:
        log.note("SUBSET_MISSING", file, None, "", f"{name} is not here; what is here is imported.")
    for name in source.unused(wanted):
        log.note("FILE_IGNORED", name, None, "", "Not one of the format's files; left out.")


def value(data: bytes, file: str, log: ProblemLog) -> object | None:
    """What a file holds; None with its problems in the log."""
    try:
        return jsontext.parse(text.read_whole(io.BytesIO(data), file, log), file, None, log)
    except Unreadable:
        return None  # other files may have problems to list too
