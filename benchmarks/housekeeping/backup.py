"""Write a backup: database and files as of one moment, in a folder with a manifest of every file.

    manifest.json   Winnow's version, the migrations, each table's rows and columns, the SHA-256 of every file below
    tables/*.gz     one file for each table, in PostgreSQL's COPY format
    media.jsonl     {"path", "bytes", "sha256"} of each file of media
    media/…         the files, under their names in MEDIA_ROOT or in the bucket

The database is read as one snapshot. Image files never change and none is deleted during a backup, so the files that
the snapshot names exist. Any other file (an export, a release) is included if it was written before the snapshot.
Framed images and smaller copies are left out, because Winnow recreates them.
"""

import contextlib
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

from benchmarks import transactions
from benchmarks.housekeeping import tables
from benchmarks.housekeeping.deferred_files import finish_dead
from benchmarks.imports import staging
from benchmarks.imports.staging import places
from benchmarks.models import Image
from benchmarks.storage.files import Stored, kept

MADE_BY = "Winnow backup"
FORM = 1
MANIFEST, MEDIA = "manifest.json", "media.jsonl"
IMAGE_FOLDERS = {"originals", "served", "thumbnails", "videos"}
TEMPORARY = {"staging", "uploads"}  # folders of work in progress
MADE_AGAIN = {"framed", "small"}


class CannotBackUp(ValueError):
    """No backup was written; the message explains why."""


def backup(*, out: Path, link: bool = False) -> dict:
    """Write a backup to the new folder `out` and return its manifest. The folder appears complete or not at all.

    `link`: hard-link image files where the file system allows it. Raises CannotBackUp.
    """
    out, started = Path(out).absolute(), time.monotonic()
    if out.exists():
        raise CannotBackUp(f"{out} already exists. Name a new folder.")
    if link and kept.in_bucket:
        raise CannotBackUp("Images in a bucket cannot be hard-linked. Leave --link out.")
    finish_dead()
    folder = out.with_name(f".{out.name}.part")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tables").mkdir(parents=True)
    try:
        with staging.images_stay(), transactions.snapshot():
            manifest = _write(folder, link)
        manifest["seconds"] = round(time.monotonic() - started, 1)
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        os.sync()
        folder.rename(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return manifest


def _write(folder: Path, link: bool) -> dict:
    found = {name: _write_table(folder, name) for name in tables.names()}  # the first read takes the snapshot
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")  # the start of the transaction
        moment = cursor.fetchone()[0]
    return {
        "made_by": MADE_BY, "form": FORM, "version": settings.VERSION, "at": moment.isoformat(),
        "migrations": tables.migrations(), "tables": found, "sequences": tables.sequences(),
        "media": _write_media(folder, link, moment.timestamp()),
    }  # fmt: skip


def _write_table(folder: Path, name: str) -> dict:
    columns, rows = tables.columns(name), 0
    path = folder / "tables" / f"{name}.gz"
    with path.open("wb") as file, gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as packed:
        for piece in tables.dump(name, columns):
            rows += piece.count(b"\n")
            packed.write(piece)
    return {"columns": columns, "rows": rows, "bytes": path.stat().st_size, "sha256": digest(path)}


def _write_media(folder: Path, link: bool, moment: float) -> dict:
    count = size = 0
    with (folder / MEDIA).open("w") as listing:
        for path, sha256 in _paths(moment):
            found = _copy(path, folder / "media" / path, link)
            if sha256 not in ("", found["sha256"]):
                raise CannotBackUp(f"{kept.contents(path)} is damaged: it differs from the imported file. Restore it.")
            listing.write(json.dumps({"path": path, **found}) + "\n")
            count, size = count + 1, size + found["bytes"]
    return {"files": count, "bytes": size, "sha256": digest(folder / MEDIA)}


def _paths(moment: float) -> Iterator[tuple[str, str]]:
    """Yield (path, SHA-256 if known) of each file that belongs to the snapshot."""
    for image in Image.objects.order_by("pk").iterator(chunk_size=1000):
        original, *made = places(image)
        yield original, image.sha256
        yield from ((path, "") for path in made)
    for file in other_files():
        if file.name.partition("/")[0] not in MADE_AGAIN and file.modified < moment:
            yield file.name, ""


def other_files() -> Iterator[Stored]:
    """Yield files that belong neither to an image nor to work in progress."""
    for file in kept.below(""):
        if file.name.partition("/")[0] not in IMAGE_FOLDERS | TEMPORARY:
            yield file


def _copy(path: str, target: Path, link: bool) -> dict:
    """Copy or link one file; {"bytes", "sha256"} as read from the copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):  # another file system, or one without links: the file is copied below
        if link and path.partition("/")[0] in IMAGE_FOLDERS:
            os.link(str(kept.contents(path)), target)
    try:
        if not target.exists():
            kept.copy_out(path, target)
    except FileNotFoundError:
        raise CannotBackUp(f"{kept.contents(path)} is missing. Put it back, or delete what uses it.") from None
    return {"bytes": target.stat().st_size, "sha256": digest(target)}


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
