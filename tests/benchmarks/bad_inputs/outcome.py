"""All that can be wrong with an input before anything of it is stored: readers, checks, archives, images."""

import sys
from pathlib import Path

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check, image_names
from benchmarks.formats.registry import FORMATS
from tests.benchmarks.bad_inputs.case import Given
from workers.archives.reader import ArchiveRefused, open_images
from workers.images import ImageRefused, check_and_render


def outcome(given: Given) -> ProblemLog:
    """Everything that can be wrong before anything is stored."""
    log = ProblemLog()
    records = check(FORMATS[given.format].read(given.path, log), log)
    if given.images is not None and not log.count:
        look_at_images(given.images, image_names(records), log)
    return log


def look_at_images(path: Path, wanted: list[str], log: ProblemLog) -> None:
    try:
        with open_images(path) as source:
            for name in source.missing(wanted):
                log.error("MISSING_IMAGE", name, None, "", "Add it.")
            for name, data in source.stream(wanted):
                look_at(name, data, log)
    except ArchiveRefused as refused:
        log.archive(refused)


def look_at(name: str, data: bytes, log: ProblemLog) -> None:
    try:
        check_and_render(data)
    except ImageRefused as refused:
        log.error(refused.code, name, None, "", refused.advice)


def peak_memory() -> int:
    """Bytes that this process held at most. (getrusage would count the parent's memory before exec too.)"""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


if __name__ == "__main__":
    format, path, images = sys.argv[1:]
    outcome(Given(format, Path(path), Path(images) if images else None))
    print(peak_memory())
