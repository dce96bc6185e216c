"""Files that a user has uploaded, kept for a day: an import can be tried again, and an interrupted upload can continue.

`var/uploads/<id>/` has `upload.json` and the content received so far. A job reads hard links in its own folder, so
nothing is copied, and it does not matter when an upload is removed. `uploads.sweep` removes old ones.

Large files come in chunks, each with its offset (static/js/pages/upload.js). This is the core of the tus protocol
without its library: the Django packages for tus bring tables, middleware and a large client, and django-tus does not
support current Django. This needs no table, because an upload's offset is the size of its file.

If files are kept in a bucket, uploads are in it too (bucket_uploads.py), for any web process to continue.
"""

import fcntl
import json
import os
import re
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from benchmarks.jobs import bucket_uploads, jobs, room, uploads
from benchmarks.jobs.forms import check_length
from benchmarks.jobs.room import CONTENT, FACTS
from benchmarks.storage.files import kept
from workers import limits

MAX_BYTES = limits.MAX_UNPACKED_BYTES  # no larger archive can be imported
CHUNK = 4 * 2**20  # bytes per request; below the limits of common proxies
PIECE = 2**16
ID = re.compile(r"[0-9a-f]{32}")


class WrongOffset(Exception):
    """The upload's size is not what the sender thinks, or another request is adding to it."""


class CannotKeep(Exception):
    """The file cannot be uploaded. The message is for the user; `fact` is the invalid property of the upload."""

    def __init__(self, message: str, fact: str = "name"):
        super().__init__(message)
        self.fact = fact


@dataclass(frozen=True, slots=True)
class Upload:
    """`owner`: a user's id; `field`: in the form; `modified`: of the file on the user's disk, if known."""

    id: str
    owner: int
    field: str
    name: str
    size: int
    modified: int | None = None

    @property
    def folder(self) -> Path:
        return Path(settings.VAR) / uploads.UPLOADS / self.id

    @property
    def path(self) -> Path:
        return self.folder / CONTENT

    @property
    def received(self) -> int:
        """The number of bytes so far."""
        if kept.in_bucket:
            return bucket_uploads.received(self.id, self.owner)
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def complete(self) -> bool:
        return self.received == self.size

    @property
    def percent(self) -> int:
        return 100 * self.received // max(1, self.size)

    @property
    def at(self) -> datetime:
        """The time when bytes last arrived."""
        seconds = bucket_uploads.last_at(self.id, self.owner) if kept.in_bucket else self.folder.stat().st_mtime
        return datetime.fromtimestamp(seconds, UTC)


def of_user(user: User) -> list[Upload]:
    """Return the user's uploads, complete or not, newest first."""
    if kept.in_bucket:
        ids = bucket_uploads.ids_of(user.pk)
    else:
        ids = [facts.parent.name for facts in (Path(settings.VAR) / uploads.UPLOADS).glob(f"*/{FACTS}")]
    found = [upload for upload in (_read(user.pk, id) for id in ids) if upload and upload.owner == user.pk]
    return sorted(found, key=lambda upload: upload.at, reverse=True)


def find(user: User, id: str) -> Upload | None:
    """Return the user's upload with that id."""
    upload = _read(user.pk, id) if ID.fullmatch(id) else None
    return upload if upload and upload.owner == user.pk else None


def _read(owner: int, id: str) -> Upload | None:
    if kept.in_bucket:
        known = bucket_uploads.read_facts(id, owner)
        return Upload(**known) if known else None
    folder = Path(settings.VAR) / uploads.UPLOADS / id
    try:
        return Upload(**json.loads((folder / FACTS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # being written or removed
        return None


def begin(user: User, *, field: str, name: str, size: int, modified: int | None) -> Upload:
    """Return a new upload, or the existing one of the same file (if `modified` is known), complete or not. Raises
    CannotKeep or uploads.NoRoom."""
    name = UploadedFile(name="".join(filter(str.isprintable, name))).name or ""  # as forms read names
    try:
        check_length(name)
    except ValidationError as error:
        raise CannotKeep(error.messages[0]) from None
    if size > MAX_BYTES:
        raise CannotKeep(f"“{name}” is too large. Use at most {MAX_BYTES:,} bytes per file.", "size")
    facts = {"field": field, "name": name, "size": size, "modified": modified}
    for upload in of_user(user):
        if modified is not None and all(getattr(upload, key) == value for key, value in facts.items()):
            return upload
    if kept.in_bucket:
        return _new(user, **facts)
    with room.taking(size, f"“{name}”"):
        upload = _new(user, **facts)
        upload.path.touch()
    return upload


def _new(user: User, **facts) -> Upload:
    if kept.in_bucket:
        upload = Upload(id=uuid.uuid4().hex, owner=user.pk, **facts)
        bucket_uploads.write_facts(upload.id, user.pk, asdict(upload))
        return upload
    folder = uploads.new_folder()
    upload = Upload(id=folder.name, owner=user.pk, **facts)
    (folder / FACTS).write_text(json.dumps(asdict(upload)), encoding="utf-8")
    return upload


def append(upload: Upload, offset: int, stream: BinaryIO | HttpRequest) -> int:
    """Add bytes at `offset` and return the new total. Raises WrongOffset or uploads.NoRoom; bytes received before a
    connection broke are kept."""
    if kept.in_bucket:
        return _append_in_bucket(upload, offset, stream)
    try:
        with upload.path.open("ab", buffering=0) as file:
            _lock(file)
            received = os.fstat(file.fileno()).st_size
            if offset != received:
                raise WrongOffset
            if room.is_halted(upload.folder):  # others may have taken its reserved space
                with room.taking(upload.size - received, f"“{upload.name}”"):
                    os.utime(upload.folder)
            room.check()
            while piece := stream.read(min(PIECE, upload.size - received)):
                received += file.write(piece) or 0
    except FileNotFoundError:
        raise WrongOffset from None
    except OSError as error:
        if error.errno not in jobs.DISK_FULL:
            raise
        raise uploads.NoRoom("The server's disk is full. Make room, then try again.") from None
    os.utime(upload.folder)
    return received


def _append_in_bucket(upload: Upload, offset: int, stream: BinaryIO | HttpRequest) -> int:
    if not bucket_uploads.is_end(upload.id, upload.owner, offset, CHUNK):
        raise WrongOffset
    content = bytearray()
    try:
        while piece := stream.read(min(PIECE, upload.size - offset - len(content))):
            content += piece
    finally:
        if content:
            bucket_uploads.add(upload.id, upload.owner, offset, bytes(content))
    return offset + len(content)


def _lock(file: BinaryIO) -> None:
    """Allow only one request at a time to add to an upload; the lock goes with the file."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WrongOffset from None


def keep(user: User, field: str, file: UploadedFile) -> Upload:
    """Keep a file sent with a form. If it raises OSError, it leaves nothing behind."""
    upload = _new(user, field=field, name=file.name or "", size=file.size or 0, modified=None)
    try:
        if kept.in_bucket:
            bucket_uploads.add_whole(upload.id, user.pk, file)
        else:
            FileSystemStorage(upload.folder).save(CONTENT, file)
    except OSError:
        uploads.drop(upload.folder)
        raise
    return upload


def link(chosen: list[Upload], folder: Path) -> Path:
    """Put the files under their own names in the new `folder`. Return the path of a single file, or the folder. In a
    bucket nothing moves: `uploads.at_hand` fetches the files to the job's machine."""
    folder.mkdir()
    for upload in chosen:
        try:
            if kept.in_bucket:
                if not upload.complete:
                    raise FileNotFoundError
                continue
            os.link(upload.path, folder / upload.name)
        except FileNotFoundError:
            raise CannotKeep(f"“{upload.name}” is no longer there. Upload it again.") from None
    return folder / chosen[0].name if len(chosen) == 1 else folder


def drop_replaced(user: User, chosen: list[Upload]) -> None:
    """Remove the user's earlier uploads replaced by these, with the same field and name."""
    names, ids = {(upload.field, upload.name) for upload in chosen}, {upload.id for upload in chosen}
    found = (upload for upload in of_user(user) if upload.complete and (upload.field, upload.name) in names)
    drop(upload.id for upload in found if upload.id not in ids)


def drop(ids: Iterable[str]) -> None:
    if kept.in_bucket:
        bucket_uploads.drop(ids)
        return
    for id in ids:
        uploads.drop(Path(settings.VAR) / uploads.UPLOADS / id)
