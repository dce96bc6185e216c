"""A backup back into place: checked whole before anything is touched, then all of it or nothing.

Image files are put in first, where no row names them yet; then the database in one transaction; then what must take the
place of another file, and what the former database alone named goes (housekeeping/deferred_files.py sees to both, also after kill -9).
"""

import gzip
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from django.core.cache import cache
from django.db import transaction

from benchmarks.housekeeping import tables
from benchmarks.housekeeping.backup import FORM, MADE_BY, MANIFEST, MEDIA, OF_IMAGES, PIECE, digest, other_files
from benchmarks.housekeeping.deferred_files import Afterwards, afterwards
from benchmarks.imports import staging
from benchmarks.imports.staging import media
from benchmarks.models import Event, Image

PATIENCE = 5  # seconds that other connections have to end: that of a restore that was killed may still be there


class CannotRestore(ValueError):
    """Nothing was changed; the message says why."""


def restore(*, folder: Path, replace: bool, by: str) -> dict:
    """Put the backup in `folder` into this installation; its manifest. Raises CannotRestore.

    Without `replace` the database must be empty; with it, all that is there goes.
    """
    folder = Path(folder).absolute()
    manifest = read(folder)
    _check_migrations(manifest)
    _check_files(folder, manifest)
    _check_alone()
    if not replace and (filled := tables.filled()):
        raise CannotRestore(f"The database is not empty: {_some(filled)} have rows. --replace deletes what is there.")
    with afterwards() as after:
        _note(folder, after)
        _place(folder, after)
        _load(folder, manifest, after, by)
    cache.clear()
    return manifest


# Before anything is touched


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more tables" if len(names) > 3 else "")


def read(folder: Path) -> dict:
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        raise CannotRestore(f"{folder} is no backup: it has no {MANIFEST} that can be read.") from None
    if not isinstance(manifest, dict) or manifest.get("made_by") != MADE_BY or manifest.get("form") != FORM:
        raise CannotRestore(f"{folder} is no backup that this version of Winnow reads.")
    return manifest


def _check_migrations(manifest: dict) -> None:
    here, there = set(tables.migrations()), set(manifest["migrations"])
    if not here:
        raise CannotRestore("The database has no tables yet. Run manage.py migrate first.")
    if here != there:
        lacks, more = sorted(there - here), sorted(here - there)
        said = "; ".join(
            filter(None, [lacks and f"lacks {', '.join(lacks)}", more and f"has {', '.join(more)} besides"])
        )
        version = manifest["version"]
        raise CannotRestore(f"The backup is of Winnow {version} with other tables: this one {said}"[:600] + ".")


def listed(folder: Path) -> Iterator[dict]:
    """{"path", "bytes", "sha256"} of each file of media."""
    with (folder / MEDIA).open() as lines:
        for line in lines:
            yield json.loads(line)


def _check_files(folder: Path, manifest: dict) -> None:
    for name, table in manifest["tables"].items():
        _check(folder / "tables" / f"{name}.gz", table["sha256"])
    _check(folder / MEDIA, manifest["media"]["sha256"])
    for file in listed(folder):
        if Path(file["path"]).is_absolute() or ".." in Path(file["path"]).parts:
            raise CannotRestore(f"{file['path']} would lie outside media.")
        _check(folder / "media" / file["path"], file["sha256"])


def _check(path: Path, sha256: str) -> None:
    if not path.is_file():
        raise CannotRestore(f"The backup lacks {path}.")
    if digest(path) != sha256:
        raise CannotRestore(f"The backup is damaged: {path} has other bytes than its manifest says.")


def _check_alone() -> None:
    until = time.monotonic() + PATIENCE
    while count := tables.others():
        if time.monotonic() > until:
            said = f"{count} other connection{'s use' if count > 1 else ' uses'} the database"
            raise CannotRestore(f"{said}. Stop Winnow's web and worker first.")
        time.sleep(0.1)


# The restore


def _note(folder: Path, after: Afterwards) -> None:
    """Images of both, whichever database it is in the end; other files of the one that is here."""
    after.images(Image.objects.order_by("pk").iterator(chunk_size=1000))
    after.images(_images(folder))
    after.files(other_files())


def _images(folder: Path) -> Iterator[Image]:
    """Of the backup, from the paths of its files: each image's original and served copy follow each other."""
    sha256 = ""
    for file in listed(folder):
        kind, name = file["path"].partition("/")[0], Path(file["path"]).stem
        if kind == "originals":
            sha256 = name
        elif kind == "served":
            yield Image(sha256=sha256, opaque=name)


def _place(folder: Path, after: Afterwards) -> None:
    """Image files where they belong, under names that nothing else has; others where they wait."""
    for file in listed(folder):
        of_image = file["path"].partition("/")[0] in OF_IMAGES
        target = media(file["path"]) if of_image else after.arriving / file["path"]
        if of_image and target.is_file() and digest(target) == file["sha256"]:
            continue
        coming = after.folder / "coming"
        coming.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / "media" / file["path"], coming)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(coming, target)
    os.sync()


@transaction.atomic(durable=True)
def _load(folder: Path, manifest: dict, after: Afterwards, by: str) -> None:
    staging.images_go()
    found = manifest["tables"]
    counts = tables.load(
        ((name, table["columns"], _pieces(folder / "tables" / f"{name}.gz")) for name, table in found.items()),
        manifest["sequences"],
    )
    for name, table in found.items():
        if counts[name] != table["rows"]:
            raise CannotRestore(f"{name} has {counts[name]:,} rows where the backup says {table['rows']:,}.")
    data = {"afterwards": after.id, "at": manifest["at"], "version": manifest["version"]}
    Event.objects.create(by=by, verb="restored", subject="installation", data=data)


def _pieces(path: Path) -> Iterator[bytes]:
    with gzip.open(path) as file:
        while piece := file.read(PIECE):
            yield piece
