"""What an import finds wrong with an input before it stores anything: the readers, checks, archives and images alone.

No database and no storage. `test_import.py` shows that an import stops at what is found here.
"""

import sys
from pathlib import Path

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.writing import without_images
from benchmarks.predictions.plan import kind_of
from benchmarks.records import Crop, ItemRecord
from tests.benchmarks.bad_inputs.case import ImportFiles
from tests.peak_memory import peak_memory
from workers.archives.archive import ArchiveRefused, Source, open_archive
from workers.images import ImageRefused, check_and_render, crop, upright


def outcome(files: ImportFiles, *, text_only: bool = False, skip_incomplete: bool = False) -> ProblemLog:
    return checked(files, text_only=text_only, skip_incomplete=skip_incomplete)[1]


def checked(files: ImportFiles, *, text_only: bool, skip_incomplete: bool) -> tuple[list[ItemRecord], ProblemLog]:
    """The records, and the log with every problem and note, in the order of an import's own steps."""
    log, format = ProblemLog(skip_incomplete), FORMATS[files.format]
    read = format.read(files.path, log)
    records = check_records(map(without_images, read) if text_only else read, log, format.keeps_same)
    if format.first_format and not log.count:
        format.first_format(files.path, records, kind_of)
    if format.images and not log.count and not text_only:
        with format.images(files.path) as source:
            check_images(source, records, log)
    elif files.images is not None:
        try:
            with open_archive(files.images) as source:
                check_images(source, [] if log.count else records, log)
        except ArchiveRefused as refused:
            log.archive(refused)
    return records, log


def check_images(source: Source, records: list[ItemRecord], log: ProblemLog) -> None:
    """Every image that the records name, and every crop of it, is there and can be rendered."""
    parts: dict[str, set[Crop | None]] = {}
    for record in records:
        for image in record.images:
            parts.setdefault(image.part[0], set()).add(image.part[1])
    for name in source.missing(parts):
        log.error("MISSING_IMAGE", name, None, "", "Add it.")
    if log.count:
        return
    for name, data in source.stream(parts):
        try:
            render(data, parts[name])
        except ImageRefused as refused:
            log.error(refused.code, name, None, "", refused.advice)


def render(data: bytes, crops: set[Crop | None]) -> None:
    if None in crops:
        check_and_render(data)
    if cut := crops - {None}:
        whole = upright(data)
        for one in cut:
            crop(whole, *one)


if __name__ == "__main__":
    format, path, images = sys.argv[1:]
    outcome(ImportFiles(format, Path(path), Path(images) if images else None))
    print(peak_memory())
