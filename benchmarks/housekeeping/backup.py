"""A backup: the database and the files of one moment, in a folder that says of each file what it must be.

    manifest.json   what it is, the migrations, each table's rows and columns, the SHA-256 of all below
    tables/*.gz     a table each, in PostgreSQL's COPY format
    media.jsonl     {"path", "bytes", "sha256"} of each file of media
    media/…         laid out as in MEDIA_ROOT

The database is read as one snapshot. Image files never change and none is removed meanwhile, so those that the snapshot
names are there; other files (exports) belong to it if they were written before it.
"""

import gzip
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection

from benchmarks.exports import source_layout
from benchmarks.housekeeping import tables
from benchmarks.housekeeping.deferred_files import files_below, finish_dead
from benchmarks.imports import staging
from benchmarks.models import Image

MADE_BY = "Winnow backup"
FORM = 1
MANIFEST, MEDIA = "manifest.json", "media.jsonl"
OF_IMAGES = {"originals", "served", "thumbnails"}
PASSING = {"staging"}  # folders of MEDIA_ROOT that belong to work under way
PIECE = 1024 * 1024


class CannotBackUp(ValueError):
    """There is no backup; the message says why."""


def backup(*, out: Path, link: bool = False) -> dict:
    """Write a backup to the new folder `out` and return its manifest. The folder appears whole or not at all.

    `link`: image files are hard links where the file system can. Raises CannotBackUp.
    """
    out, started = Path(out).absolute(), time.monotonic()
    if out.exists():
        raise CannotBackUp(f"{out} is there already. Name a new folder.")
    finish_dead()
    folder = out.with_name(f".{out.name}.part")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tables").mkdir(parents=True)
    try:
        with staging.images_stay(), source_layout.snapshot():
            manifest = _write(folder, link)
        manifest["seconds"] = round(time.monotonic() - started, 1)
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        os.sync()
        folder.rename(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return manifest


def _write(folder: Path, link: bool) -> dict:
    found = {name: _write_table(folder, name) for name in tables.names()}  # the first read is the moment
    moment = _moment()
    media = _write_media(folder, link, moment)
    return {
        "made_by": MADE_BY, "form": FORM, "version": settings.VERSION, "at": moment.isoformat(),
        "migrations": tables.migrations(), "tables": found, "sequences": tables.sequences(), "media": media,
    }  # fmt: skip


def _moment():
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")  # the transaction's beginning
        return cursor.fetchone()[0]


def _write_table(folder: Path, name: str) -> dict:
    named, rows = tables.columns(name), 0
    path = folder / "tables" / f"{name}.gz"
    with path.open("wb") as file, gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as packed:
        for piece in tables.dump(name, named):
            rows += piece.count(b"\n")
            packed.write(piece)
    return {"columns": named, "rows": rows, "bytes": path.stat().st_size, "sha256": digest(path)}


def _write_media(folder: Path, link: bool, moment) -> dict:
    count = size = 0
    with (folder / MEDIA).open("w") as listed:
        for path, sha256 in _paths(moment):
            found = _keep(path, folder / "media" / path, link)
            if sha256 not in ("", found["sha256"]):
                raise CannotBackUp(f"{staging.media(path)} is damaged: its bytes are not those that were imported.")
            listed.write(json.dumps({"path": path, **found}) + "\n")
            count, size = count + 1, size + found["bytes"]
    return {"files": count, "bytes": size, "sha256": digest(folder / MEDIA)}


def _paths(moment) -> Iterator[tuple[str, str]]:
    """(path, SHA-256 where it is known) of each file that belongs to the moment."""
    for image in Image.objects.order_by("pk").iterator(chunk_size=1000):
        yield image.original_path, image.sha256
        yield image.served_path, ""
        yield image.thumbnail_path, ""
    for path in other_files():
        if staging.media(path).stat().st_mtime < moment.timestamp():
            yield path, ""


def other_files() -> Iterator[str]:
    """Files of MEDIA_ROOT that are of no image and of no work under way."""
    for path in files_below(Path(settings.MEDIA_ROOT)):
        if path.partition("/")[0] not in OF_IMAGES | PASSING:
            yield path


def _keep(path: str, target: Path, link: bool) -> dict:
    """Copy, or link what is of an image; {"bytes", "sha256"} as read from the copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if not (link and path.partition("/")[0] in OF_IMAGES and linked(staging.media(path), target)):
            shutil.copyfile(staging.media(path), target)
    except FileNotFoundError:
        raise CannotBackUp(f"{staging.media(path)} is missing. Put it back, or delete what shows it.") from None
    return {"bytes": target.stat().st_size, "sha256": digest(target)}


def linked(path: Path, target: Path) -> bool:
    try:
        os.link(path, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        return False
    return True


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
