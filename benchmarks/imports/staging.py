"""Image files on their way in: written to a folder of the job first, moved to their places just before the commit.

`MEDIA_ROOT/staging/<job>/` has the files laid out as in MEDIA_ROOT, and a journal of what was moved out of it. Whatever
ends an import, an exception or kill -9, `clear` finds by the journal what no row names, and deletes exactly that.
"""

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction

from benchmarks.jobs import jobs
from benchmarks.models import Image
from workers.images import Rendered

BATCH = 1000
STAY = "winnow: images stay"  # shared by whoever relies on images that are stored; alone for whoever removes some
SERIAL = "winnow: images move in"  # the lock under which files move: one import at a time, and no sweep meanwhile


def media(path: str) -> Path:
    return Path(settings.MEDIA_ROOT) / path


def places(image: Image) -> tuple[str, str, str]:
    return image.original_path, image.served_path, image.thumbnail_path


class Staging:
    """The staging folder of one job."""

    def __init__(self, job_id: int):
        self.folder = media(f"staging/{job_id}")
        self.journal = self.folder / "journal"

    def keep(self, data: bytes, rendered: Rendered) -> Image:
        """Write an image's three files; the row that will name them, not saved yet. Called from several threads."""
        size = {"width": rendered.width, "height": rendered.height, "size": rendered.size}
        image = Image(sha256=rendered.sha256, format=rendered.format, **size)
        for path, content in zip(places(image), (data, rendered.served, rendered.thumbnail), strict=True):
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return image

    def place(self, images: list[Image]) -> None:
        """Move the files of these new images to where their rows say. Inside the import's transaction, under `serial`.

        The journal is on disk before the first file moves, and the files are on disk before the rows are committed.
        """
        if not images:
            return
        with self.journal.open("w") as journal:
            journal.writelines(f"{image.sha256} {image.opaque}\n" for image in images)
            journal.flush()
            os.fsync(journal.fileno())
        for path in (path for image in images for path in places(image)):
            media(path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.folder / path, media(path))
        os.sync()

    def clear(self) -> None:
        """Delete what was moved and is named by no row, then the folder. Safe after a commit as after a failure."""
        if self.journal.exists():
            with transaction.atomic(), self.journal.open() as journal:
                serial()
                whole = (line for line in journal if line.endswith("\n"))  # a cut last line: nothing had moved yet
                while lines := list(islice(whole, BATCH)):
                    remove_unnamed([journalled(line) for line in lines])
        shutil.rmtree(self.folder, ignore_errors=True)
        prune(self.folder)


def journalled(line: str) -> Image:
    sha256, opaque = line.split()
    return Image(sha256=sha256, opaque=opaque)


def serial() -> None:
    """Wait for the lock under which image files move; it is held until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [SERIAL])


class InUse(Exception):
    """Images cannot go now; the message says why."""


@contextlib.contextmanager
def images_stay() -> Iterator[None]:
    """Images that are stored stay so meanwhile: an import that has met one need not bring it again."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock_shared(hashtextextended(%s, 0))", [STAY])
    try:
        yield
    finally:
        if connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock_shared(hashtextextended(%s, 0))", [STAY])


def images_go() -> None:
    """Until this transaction ends nobody relies on what is stored. Raises InUse where somebody does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [STAY])
        if not cursor.fetchone()[0]:
            raise InUse("An import or a backup is running, which may need these images. Try again when it is done.")


def remove_unnamed(moved: list[Image]) -> None:
    named = dict(Image.objects.filter(sha256__in=[i.sha256 for i in moved]).values_list("sha256", "opaque"))
    for image in moved:
        if image.sha256 not in named:
            remove([image.original_path])
        if named.get(image.sha256) != image.opaque:
            remove([image.served_path, image.thumbnail_path])


def remove(paths: Iterable[str]) -> None:
    for path in paths:
        media(path).unlink(missing_ok=True)
        prune(media(path))


def prune(path: Path) -> None:
    """Remove the folders above `path` that are empty now, up to MEDIA_ROOT."""
    with contextlib.suppress(OSError):  # the first one that is not empty ends it
        for folder in path.parents:
            if folder == Path(settings.MEDIA_ROOT):
                return
            folder.rmdir()


def sweep_staging() -> int:
    """Clear the folders of jobs that no process is at any more; how many there were."""
    swept = 0
    for folder in sorted(media("staging").glob("[0-9]*")):
        with jobs.alone(f"job:{folder.name}") as dead:
            if dead:
                Staging(int(folder.name)).clear()
                swept += 1
    return swept
