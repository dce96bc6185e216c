"""Every image that an import names: read from its source in one pass, checked and rendered by several threads."""

import hashlib
import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field

from benchmarks.formats.base import ProblemLog
from benchmarks.jobs import Progress
from benchmarks.models import Image
from benchmarks.records import ImageRecord, ItemRecord, Origin
from benchmarks.staging import Staging
from workers import images
from workers.archive_source import Names
from workers.archives import ArchiveRefused, Source
from workers.names import normal

THREADS = min(4, os.cpu_count() or 1)
WAITING = 4 * THREADS  # images read and not yet done, at most
WAITING_BYTES = 64 * 2**20  # and their bytes, about
LARGE = 8_000_000  # pixels; larger ones are decoded one at a time, so that memory stays bounded
one_large = threading.Lock()


@dataclass
class Gathered:
    """`sha256` of each name. Each name is one of: `new`, by content, a row not saved yet whose files are staged;
    `same`, with the earlier name that had the same bytes; or among the `known`, whose content is stored already."""

    sha256: dict[str, str] = field(default_factory=dict)
    new: dict[str, Image] = field(default_factory=dict)
    same: list[tuple[str, str]] = field(default_factory=list)
    known: int = 0


def uses(records: Iterable[ItemRecord]) -> Iterator[tuple[Origin, ImageRecord]]:
    for number, record in enumerate(records, 1):
        for image in record.images:
            yield record.origin or Origin("", number), image


def gather(
    *, source: Source | None, records: list[ItemRecord], staging: Staging, progress: Progress, log: ProblemLog
) -> Gathered:
    """Check and stage what the records name. What is wrong with an image is logged at the first row that names it."""
    if source is None:
        return Gathered()
    first: dict[str, tuple[Origin, ImageRecord]] = {}
    for origin, image in uses(records):
        first.setdefault(image.name, (origin, image))
    progress.begin("checking images", len(first))
    pass_ = Pass(staging, progress, log, first)
    try:
        for name, data in source.stream(first):
            pass_.add(name, data)
        pass_.settle(0)
    except ArchiveRefused as refused:
        log.archive(refused)
    finally:
        pass_.pool.shutdown(wait=True, cancel_futures=True)
    return pass_.gathered


class Made(Source):
    """Wraps whatever has `names` and `stream(wanted)`, such as pictures that are drawn on demand."""

    def __init__(self, maker):
        found = Names()
        for name in maker.names:
            found.add(name)
        self._maker = maker
        super().__init__("the images", found)

    def _contents(self, asked):
        for name, data in self._maker.stream(list(asked)):
            yield normal(name), data


class Pass:
    """One reading of the source: a bounded number of images is in the hands of the threads at any time."""

    def __init__(self, staging: Staging, progress: Progress, log: ProblemLog, first: dict):
        self.staging, self.progress, self.log, self.first = staging, progress, log, first
        self.gathered = Gathered()
        self.pool = ThreadPoolExecutor(THREADS, thread_name_prefix="images")
        self.waiting: deque[tuple[str, int, Future]] = deque()
        self.bytes = 0
        self.names: dict[str, str] = {}  # content -> the first name that had it

    def add(self, name: str, data: bytes) -> None:
        """Hand one image to the threads, unless its content has been met or is stored already."""
        content = hashlib.sha256(data).hexdigest()
        self.gathered.sha256[name] = content
        if content in self.names:
            self.gathered.same.append((name, self.names[content]))
            self.progress.step()
            return
        self.names[content] = name
        if Image.objects.filter(sha256=content).exists():
            self.gathered.known += 1
            self.progress.step()
            return
        self.waiting.append((name, len(data), self.pool.submit(check_and_keep, data, self.staging)))
        self.bytes += len(data)
        self.settle(WAITING)

    def settle(self, most: int) -> None:
        """Wait until at most so many images are unfinished."""
        while self.waiting and (len(self.waiting) > most or self.bytes > WAITING_BYTES):
            name, size, future = self.waiting.popleft()
            self.bytes -= size
            self._take(name, future)
            self.progress.step()

    def _take(self, name: str, future: Future) -> None:
        origin, image = self.first[name]
        try:
            kept, notes = future.result()
        except images.ImageRefused as refused:
            self.log.error(refused.code, origin.file, origin.row, image.role, f"{name}: {refused.advice}")
            return
        self.gathered.new[kept.sha256] = kept
        for note in notes:
            self.log.note("IMAGE_CHANGED", origin.file, origin.row, image.role, f"{name}: {note}")


def check_and_keep(data: bytes, staging: Staging) -> tuple[Image, tuple[str, ...]]:
    """What a thread does. Raises ImageRefused, or OSError when the disk is full."""
    with one_large if pixels(data) > LARGE else nullcontext():
        rendered = images.check_and_render(data)
    return staging.keep(data, rendered), rendered.notes


def pixels(data: bytes) -> int:
    """By the header alone; an empty file has none."""
    if not data:
        return 0
    width, height = images.opened(data).size
    return width * height
