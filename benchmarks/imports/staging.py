"""Image files during an import: first written to a folder of the job, moved into place just before the commit.

`MEDIA_ROOT/staging/<job>/` on this machine has them side by side: creating a file in it takes half as long as in one of
hundreds of new folders. The journal of the files moved out is kept at their destination, so that any machine can read
it. However an import ends, even by kill -9, `clear` uses the journal to delete exactly the files that no row names.
"""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings
from django.db import transaction

from benchmarks import locks
from benchmarks.models import Image
from benchmarks.storage.files import kept
from workers.images import Rendered

BATCH = 1000
STAY = "winnow: images stay"  # shared lock for relying on stored images; exclusive lock for removing some
SERIAL = "winnow: images move in"  # the lock under which files move: one import at a time, and no sweep in the meantime


def places(image: Image) -> tuple[str, ...]:
    paths = image.original_path, image.served_path, image.thumbnail_path
    return (*paths, image.video_path) if image.is_video else paths


class Staging:
    """The staging folder of one job."""

    def __init__(self, job_id: int):
        self.name = f"staging/{job_id}"
        self.folder = Path(settings.MEDIA_ROOT, self.name)
        self.journal = f"{self.name}/journal"

    def keep(self, data: bytes, rendered: Rendered) -> Image:
        """Write an image's files; return the unsaved row that will name them. Called from several threads."""
        size = {"width": rendered.width, "height": rendered.height, "size": rendered.size}
        image = Image(sha256=rendered.sha256, format=rendered.format, **size)
        self.folder.mkdir(parents=True, exist_ok=True)
        contents = data, rendered.served, rendered.thumbnail, rendered.video
        for path, content in zip(places(image), contents, strict=False):  # a video has a final one
            self.file(path).write_bytes(content)
        return image

    def file(self, path: str) -> Path:
        """Return the staged path of a file that will be stored under this path."""
        return self.folder / path.replace("/", "-")

    def place(self, images: list[Image], step: Callable[[], object]) -> None:
        """Move the files of these new images into place, inside the import's transaction, under `serial`; `step` is
        called for each image.

        The journal is durable before the first file moves, and the files are durable before the rows are committed.
        """
        if not images:
            return
        kept.write(self.journal, "".join(f"{image.sha256} {image.opaque}\n" for image in images).encode())
        kept.move_in(self._moves(images, step))

    def _moves(self, images: list[Image], step: Callable[[], object]) -> Iterator[tuple[Path, str]]:
        for image in images:
            for path in places(image):
                yield self.file(path), path
            step()

    def clear(self) -> None:
        """Delete moved files that no row names, then the folder. Safe after a commit and after a failure."""
        if kept.exists(self.journal):
            with transaction.atomic():
                serial()
                moved = [journalled(line) for line in kept.read(self.journal).decode().splitlines()]
                for start in range(0, len(moved), BATCH):
                    remove_unnamed(moved[start : start + BATCH])
        shutil.rmtree(self.folder, ignore_errors=True)
        kept.remove_folder(self.name)


def journalled(line: str) -> Image:
    sha256, opaque = line.split()
    return Image(sha256=sha256, opaque=opaque)


def serial() -> None:
    """Take the lock under which image files move, until the transaction ends."""
    locks.wait_for(SERIAL)


class InUse(Exception):
    """Images cannot be deleted now; the message explains why."""


def images_stay() -> contextlib.AbstractContextManager[None]:
    """Keep stored images from being deleted, so that an import can rely on those it has seen."""
    return locks.held(STAY, shared=True)


def images_go() -> None:
    """Until this transaction ends, nobody may rely on stored images. Raises InUse if someone does."""
    if not locks.try_to_take(STAY):
        raise InUse("An import or a backup that may need these images is running. Try again when it has finished.")


def remove_unnamed(moved: list[Image]) -> None:
    named = dict(Image.objects.filter(sha256__in=[i.sha256 for i in moved]).values_list("sha256", "opaque"))
    gone = [image.original_path for image in moved if image.sha256 not in named]
    for image in moved:
        if named.get(image.sha256) != image.opaque:
            gone += [image.served_path, image.thumbnail_path, image.small_path, image.video_path]
    kept.remove(gone)


def sweep_staging() -> int:
    """Clear the folders of jobs without a living process; return how many there were."""
    swept = 0
    here = [path.name for path in Path(settings.MEDIA_ROOT, "staging").glob("[0-9]*")]
    for name in sorted({*here, *kept.folders("staging")}):
        if name.isdecimal():
            with locks.alone(f"job:{name}") as dead:
                if dead:
                    Staging(int(name)).clear()
                    swept += 1
    return swept
