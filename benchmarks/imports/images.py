"""Images named in an import: read from their source in one pass, checked and rendered by several threads."""

import hashlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from benchmarks.formats.base import ProblemLog
from benchmarks.imports.staging import Staging
from benchmarks.jobs.jobs import Progress
from benchmarks.models import Image
from benchmarks.records import Crop, ImageRecord, ItemRecord, Origin, Part
from workers import images, videos
from workers.archives.archive import ArchiveRefused, Source
from workers.archives.names import normal
from workers.archives.source import EntryNames

THREADS = min(4, os.cpu_count() or 1)
WAITING = 4 * THREADS  # maximum number of images in progress
WAITING_BYTES = 64 * 2**20  # and their approximate bytes
LARGE = 8_000_000  # pixels; larger images are decoded one at a time to bound memory
AT_ONCE = 16  # crops per thread and decoding; further ones are distributed, so that *Cancel* takes effect soon
ASKED = 32  # files per statement that finds those already stored
STORING = 1 / 15  # time to store a row or an image's files, relative to checking an image (bench.import_full)
SKIP = "Or skip rows with such images (skip_unreadable_images)."
one_large, two_videos = threading.Lock(), threading.Semaphore(2)


@dataclass
class Gathered:
    """`sha256` of each named part of a file (a crop has its own). Each part is one of: `new`, by content, with an
    unsaved row whose files are staged; `same`, with the earlier part that had the same bytes; or `known`, with content
    that is already stored. `unreadable`: the reason, by file name."""

    sha256: dict[Part, str] = field(default_factory=dict)
    new: dict[str, Image] = field(default_factory=dict)
    same: list[tuple[Part, Part]] = field(default_factory=list)
    known: int = 0
    unreadable: dict[str, images.ImageRefused] = field(default_factory=dict)

    def limited_to(self, records: Iterable[ItemRecord]) -> "Gathered":
        """Keep only the parts that these records name; all of them are readable."""
        named = {image.part for _, image in image_uses(records)}
        sha256 = {part: content for part, content in self.sha256.items() if part in named}
        first: dict[str, Part] = {}
        for part, content in sha256.items():
            first.setdefault(content, part)
        new = {content: image for content, image in self.new.items() if content in first}
        same = [(part, first[content]) for part, content in sha256.items() if first[content] != part]
        return Gathered(sha256, new, same, len(first) - len(new))


def image_uses(records: Iterable[ItemRecord]) -> Iterator[tuple[Origin, ImageRecord]]:
    for number, record in enumerate(records, 1):
        for image in record.images:
            yield record.origin or Origin("", number), image


def storing(records: Iterable[ItemRecord]) -> float:
    """Estimate the time to store the items with their images' rows and files, in image checks."""
    return STORING * sum(1 + len(record.captions) + 2 * len(record.images) for record in records)


def gather(
    *, source: Source | None, records: list[ItemRecord], staging: Staging, progress: Progress, log: ProblemLog,
    then: float = 0, skip_unreadable: bool = False,
) -> Gathered:  # fmt: skip
    """Check and stage the named images. Problems with an image are logged at the first row that names it; with
    `skip_unreadable`, unusable image files are only listed. `then`: the work that follows, as a number of images to
    check.
    """
    if source is None:
        return Gathered()
    first: dict[Part, tuple[Origin, ImageRecord]] = {}
    for origin, image in image_uses(records):
        first.setdefault(image.part, (origin, image))
    progress.begin("checking images", len(first), then)
    pass_ = Pass(staging, progress, log, first, skip_unreadable)
    try:
        for name, data in source.stream(pass_.crops):
            pass_.add(name, data)
        pass_.submit_read()
        pass_.settle(0)
        pass_.list_repeated_unreadable()
    except ArchiveRefused as refused:
        log.archive(refused)
    finally:
        pass_.pool.shutdown(wait=True, cancel_futures=True)
    return pass_.gathered


class ImagesInMemory(Source):
    """Wraps any source with `names` and `stream(wanted)`, such as images drawn on demand."""

    def __init__(self, maker):
        found = EntryNames()
        for name in maker.names:
            found.add(name)
        self._maker = maker
        super().__init__("the images", found)

    def _contents(self, asked):
        for name, data in self._maker.stream(list(asked)):
            yield normal(name), data


class Pass:
    """One pass over the source, with a bounded number of images in the threads at any time."""

    def __init__(
        self, staging: Staging, progress: Progress, log: ProblemLog, first: dict[Part, tuple], skip_unreadable: bool
    ):
        self.staging, self.progress, self.log, self.first = staging, progress, log, first
        self.skip_unreadable = skip_unreadable
        self.crops: dict[str, list[Crop | None]] = {}  # for each name; None: the whole image
        for name, crop in first:
            self.crops.setdefault(name, []).append(crop)
        self.gathered = Gathered()
        self.pool = ThreadPoolExecutor(THREADS, thread_name_prefix="images")
        self.read: list[tuple[str, bytes]] = []  # files not submitted yet
        self.waiting: deque[tuple[list[Part], int, Future]] = deque()
        self.bytes = 0  # of both
        self.parts: dict[str, Part] = {}  # content → the first part with it

    def add(self, name: str, data: bytes) -> None:
        self.read.append((name, data))
        self.bytes += len(data)
        if len(self.read) == ASKED or self.bytes > WAITING_BYTES:
            self.submit_read()

    def submit_read(self) -> None:
        """Submit the files read so far to the threads: each one's whole image, unless already seen, and its crops."""
        files, self.read = self.read, []
        self.bytes -= sum(len(data) for _, data in files)
        whole: dict[Part, str] = {
            (name, None): hashlib.sha256(data).hexdigest() for name, data in files if None in self.crops[name]
        }
        new = self.note(whole)
        for name, data in files:
            if (name, None) in new:
                self.submit([(name, None)], data, check_and_keep)
            elif (name, None) in whole:
                self.progress.step()
            crops = [crop for crop in self.crops[name] if crop is not None]
            for start in range(0, len(crops), AT_ONCE):
                some = crops[start : start + AT_ONCE]
                self.submit([(name, crop) for crop in some], data, crop_and_keep, some)

    def note(self, contents: Mapping[Part, str]) -> set[Part]:
        """Note the parts' contents; return those neither repeated in this import nor already stored."""
        stored = set(Image.objects.filter(sha256__in=contents.values()).values_list("sha256", flat=True))
        new = set()
        for part, content in contents.items():
            self.gathered.sha256[part] = content
            earlier = self.parts.setdefault(content, part)
            if earlier != part:
                self.gathered.same.append((part, earlier))
            elif content in stored:
                self.gathered.known += 1
            else:
                new.add(part)
        return new

    def submit(self, parts: list[Part], data: bytes, work: Callable, *more) -> None:
        self.waiting.append((parts, len(data), self.pool.submit(work, data, self.staging, *more)))
        self.bytes += len(data)
        self.settle(WAITING)

    def settle(self, most: int) -> None:
        """Wait until at most this many images are unfinished."""
        while self.waiting and (len(self.waiting) > most or self.bytes > WAITING_BYTES):
            parts, size, future = self.waiting.popleft()
            self.bytes -= size
            self._take(parts, future)

    def _take(self, parts: list[Part], future: Future) -> None:
        try:
            made = future.result()
        except images.ImageRefused as refused:
            made, name = [], parts[0][0]
            if name not in self.gathered.unreadable and not self.skip_unreadable:
                # one problem per image, however many of its crops are named
                self._refuse(parts[0], images.ImageRefused(refused.code, f"{refused.advice} {SKIP}"))
            self.gathered.unreadable[name] = refused
        self._keep(dict(zip(parts, made, strict=False)))
        for _ in parts:
            self.progress.step()

    def list_repeated_unreadable(self) -> None:
        """List the files with the same bytes as an unreadable one; only the first was tried."""
        sha256, unreadable = self.gathered.sha256, self.gathered.unreadable
        contents = {sha256[name, None]: why for name, why in unreadable.items() if (name, None) in sha256}
        for (name, crop), content in sha256.items():
            if crop is None and content in contents:
                unreadable.setdefault(name, contents[content])

    def _keep(self, made: "Mapping[Part, Kept]") -> None:
        kept = {part: one for part, one in made.items() if not isinstance(one, images.ImageRefused)}
        crops = {part: image.sha256 for part, (image, _) in kept.items() if part[1]}
        new = self.note(crops)
        for part, one in made.items():
            if isinstance(one, images.ImageRefused):
                self._refuse(part, one)
                continue
            image, notes = one
            if part in new or part not in crops:
                self.gathered.new[image.sha256] = image
            origin, record = self.first[part]
            for note in notes:
                self.log.note("IMAGE_CHANGED", origin.file, origin.row, record.role, f"{part_name(part)}: {note}")

    def _refuse(self, part: Part, refused: images.ImageRefused) -> None:
        origin, record = self.first[part]
        self.log.error(refused.code, origin.file, origin.row, record.role, f"{part_name(part)}: {refused.advice}")


Kept = tuple[Image, tuple[str, ...]] | images.ImageRefused


def check_and_keep(data: bytes, staging: Staging) -> list[Kept]:
    """Process an image or a video in a thread. Raises ImageRefused, or OSError if the disk is full."""
    with in_turn(data):
        rendered = videos.check_and_render(data)
    return [(staging.keep(data, rendered), rendered.notes)]


def crop_and_keep(data: bytes, staging: Staging, crops: Iterable[Crop]) -> list[Kept]:
    """Process crops of an image in a thread: each is kept or rejected by itself. Raises like `check_and_keep`."""
    if videos.is_video(data):
        raise images.ImageRefused("VIDEO_CROPPED", videos.NO_CROP)
    found: list[Kept] = []
    with in_turn(data):
        whole = images.upright(data)
        for crop in crops:
            try:
                png, rendered = images.crop(whole, *crop)
            except images.ImageRefused as refused:
                found.append(refused)
            else:
                found.append((staging.keep(png, rendered), rendered.notes))
    return found


def in_turn(data: bytes) -> AbstractContextManager:
    """Wait while another large image (by its header) is being decoded; for a video, while two are."""
    if videos.is_video(data):
        return two_videos
    width, height = images.opened(data).size
    return one_large if width * height > LARGE else nullcontext()


def part_name(part: Part) -> str:
    """Name a part: `cups/7.jpg`, `cups/7.jpg (x 10, y 0, 64 × 48)`."""
    name, crop = part
    return f"{name} (x {crop[0]}, y {crop[1]}, {crop[2]} × {crop[3]})" if crop else name
