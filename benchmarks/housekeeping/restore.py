"""Restore a backup: verified completely before anything changes, then restored completely or not at all.

Image files, which no row names yet, are put in place first; then the database is filled in one transaction; then
replaced files follow, and files that only the previous database named are deleted. deferred_files.py does this last
part, even after kill -9.
"""

import gzip
import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from django.core.cache import cache
from django.db import transaction

from benchmarks.housekeeping import tables
from benchmarks.housekeeping.backup import FORM, IMAGE_FOLDERS, MADE_BY, MANIFEST, MEDIA, digest, other_files
from benchmarks.housekeeping.deferred_files import DeferredFiles, deferred_files
from benchmarks.imports import staging
from benchmarks.models import Event, Image
from benchmarks.storage.files import kept

PATIENCE = 5  # seconds for other connections to end; that of a killed restore may still be open
PIECE = 1024 * 1024  # bytes


class CannotRestore(ValueError):
    """Nothing was changed; the message explains why."""


def restore(*, folder: Path, replace: bool, by: str) -> dict:
    """Restore the backup in `folder` into this installation and return its manifest. Raises CannotRestore.

    The database must be empty, unless `replace` is true: then everything in it is deleted.
    """
    folder = Path(folder).absolute()
    manifest = check(folder)
    _check_connections()
    if not replace and (filled := tables.filled()):
        more = f" and {len(filled) - 3:,} more tables" if len(filled) > 3 else ""
        raise CannotRestore(
            f"The database is not empty: {', '.join(filled[:3])}{more} have rows. --replace deletes all data here."
        )
    with deferred_files() as after:
        # Images of both databases, whichever one remains; other files of the current one.
        after.images(Image.objects.order_by("pk").iterator(chunk_size=1000))
        after.images(_images(folder))
        after.files(file.name for file in other_files())
        _place_files(folder, after)
        _load(folder, manifest, after, by)
    cache.clear()
    return manifest


# Before anything changes


def check(folder: Path) -> dict:
    """Return the manifest of a backup that this installation can restore, and whose files all match it. Raises
    CannotRestore."""
    manifest = _read_manifest(folder)
    _check_migrations(manifest)
    _check_files(folder, manifest)
    return manifest


def _read_manifest(folder: Path) -> dict:
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        raise CannotRestore(f"{folder} is not a backup: it has no readable {MANIFEST}.") from None
    if not isinstance(manifest, dict) or (manifest.get("made_by"), manifest.get("form")) != (MADE_BY, FORM):
        raise CannotRestore(f"{folder} is not a backup that this version of Winnow can read.")
    return manifest


def _check_migrations(manifest: dict) -> None:
    here, there = set(tables.migrations()), set(manifest["migrations"])
    if not here:
        raise CannotRestore("The database has no tables yet. Run manage.py migrate first.")
    if here != there:
        lacks, more = ", ".join(sorted(there - here)), ", ".join(sorted(here - there))
        differences = "; ".join(filter(None, [lacks and f"lacks {lacks}", more and f"also has {more}"]))
        reason = f"The backup is from Winnow {manifest['version']}, whose tables differ: this database {differences}"
        raise CannotRestore(reason[:600] + ".")


def _media_files(folder: Path) -> Iterator[dict]:
    """Yield {"path", "bytes", "sha256"} of each media file in the backup."""
    with (folder / MEDIA).open() as lines:
        yield from map(json.loads, lines)


def _check_files(folder: Path, manifest: dict) -> None:
    for name, table in manifest["tables"].items():
        _check_file(folder / "tables" / f"{name}.gz", table["sha256"])
    _check_file(folder / MEDIA, manifest["media"]["sha256"])
    for file in _media_files(folder):
        if Path(file["path"]).is_absolute() or ".." in Path(file["path"]).parts:
            raise CannotRestore(f"{file['path']} is not inside media.")
        _check_file(folder / "media" / file["path"], file["sha256"])


def _check_file(path: Path, sha256: str) -> None:
    if not path.is_file():
        raise CannotRestore(f"The backup lacks {path}.")
    if digest(path) != sha256:
        raise CannotRestore(f"The backup is damaged: {path} does not have the SHA-256 that the backup states.")


def _check_connections() -> None:
    until = time.monotonic() + PATIENCE
    while count := tables.others():
        if time.monotonic() > until:
            using = f"{count} other connection{'s use' if count > 1 else ' uses'} the database"
            raise CannotRestore(f"{using}. Stop Winnow's web server, worker and pooler first.")
        time.sleep(0.1)


# The restore


def _images(folder: Path) -> Iterator[Image]:
    """Yield the backup's images, from the paths of its files: each original is followed by its served copy."""
    sha256 = ""
    for file in _media_files(folder):
        kind, name = file["path"].partition("/")[0], Path(file["path"]).stem
        if kind == "originals":
            sha256 = name
        elif kind == "served":
            yield Image(sha256=sha256, opaque=name)


def _place_files(folder: Path, after: DeferredFiles) -> None:
    """Put image files in place, because their names are unique; hold other files until the commit."""
    for file in _media_files(folder):
        path, copy = file["path"], folder / "media" / file["path"]
        if path.partition("/")[0] not in IMAGE_FOLDERS:
            after.arrive(path, copy)
        elif not kept.exists(path) or kept.sha256(path) != file["sha256"]:
            kept.copy_in(copy, path)
    kept.sync()


@transaction.atomic(durable=True)
def _load(folder: Path, manifest: dict, after: DeferredFiles, by: str) -> None:
    staging.images_go()
    found = manifest["tables"]
    counts = tables.load(
        ((name, table["columns"], _pieces(folder / "tables" / f"{name}.gz")) for name, table in found.items()),
        manifest["sequences"],
    )
    for name, table in found.items():
        if counts[name] != table["rows"]:
            raise CannotRestore(f"{name} has {counts[name]:,} rows, but the backup states {table['rows']:,}.")
    data = {"afterwards": after.id, "at": manifest["at"], "version": manifest["version"]}
    Event.objects.create(by=by, verb="restored", subject="installation", data=data)


def _pieces(path: Path) -> Iterator[bytes]:
    with gzip.open(path) as file:
        yield from iter(partial(file.read, PIECE), b"")
