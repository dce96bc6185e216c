"""Files in a bucket of an object storage that speaks S3. An object appears whole or not at all, so a killed upload does
not leave half a file; a rule of the bucket should delete the uploaded parts (docs/guide/storage.md).

Each object has its SHA-256 in its metadata, which `copy_out` checks. Objects are read in windows of bytes, so that one
file of a large zip costs one small request, and a broken connection means repeating just one window.

A web process waits only briefly for the storage (`_promptly`), with only some of its threads; jobs wait longer.
"""

import contextlib
import errno
import functools
import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files import File
from django.utils.http import content_disposition_header
from storages.backends.s3 import S3Storage

from benchmarks.storage.files import Stored, Unavailable
from workers.neighbours import Neighbour, Unresponsive, is_serving

THREADS = 16  # concurrent requests for moving many small files
BATCH = 1000
TRIES = 3
CONNECT_SECONDS, READ_SECONDS = 5, 20
SMALL = 8 * 2**20  # bytes; larger files are uploaded in parts
WINDOW, WIDEST = 2**18, 2**23  # bytes per request if a file is read in parts
SIGNED_SECONDS = 300
SHA256 = "sha256"  # in the metadata
REFUSED = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied", "InvalidToken", "ExpiredToken", "403"}

# Of a web process's 8 threads, annotators' requests use at most 3, and managers' 2
SHOWING = Neighbour("The object storage", seconds=1.5, at_once=3)
MANAGING = Neighbour("The object storage", seconds=10, at_once=2)
PACE = 2**20  # bytes per second allowed in addition

Given = TypeVar("Given")
Made = TypeVar("Made")


def _promptly(neighbour: Neighbour, size: Callable[..., int] = lambda *given: 0) -> Callable[[Callable], Callable]:
    """Decorator for methods of the bucket. During a request, they raise Unavailable if the storage does not answer
    soon. `size`: the bytes moved by a call with these arguments."""

    def decorate(method: Callable[..., Made]) -> Callable[..., Made]:
        @functools.wraps(method)
        def promptly(self: "Bucket", *given: Any) -> Made:
            if not is_serving():
                return method(self, *given)
            try:
                return neighbour.ask(lambda: method(self, *given), neighbour.seconds + size(*given) / PACE)
            except Unresponsive as error:
                raise Unavailable(f"{self.where} does not respond in time. Try again later.") from error

        return promptly

    return decorate


class Bucket(S3Storage):
    """benchmarks.storage.files.Files. `downloads`: the storage's address for browsers; empty: Winnow sends files."""

    in_bucket = True

    def __init__(self, *, downloads: str = "", **options: object):
        style = {"addressing_style": "path" if options.get("endpoint_url") else "auto"}
        config = Config(
            signature_version="s3v4", s3=style, retries={"mode": "standard", "total_max_attempts": TRIES},
            connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, max_pool_connections=2 * THREADS,
            request_checksum_calculation="when_required", response_checksum_validation="when_required",
        )  # fmt: skip
        self.downloads = downloads
        self._made: dict[int, Any] = {}
        super().__init__(client_config=config, file_overwrite=True, **options)

    # The library's hooks: one client for all threads, because there are many, and a new one after a fork.

    @property
    def connection(self):
        made = self._made.get(os.getpid())
        if made is None:
            session = self._create_session()
            made = session.resource(
                "s3", region_name=self.region_name, endpoint_url=self.endpoint_url, config=self.client_config
            )
            self._made = {os.getpid(): made}
        return made

    @property
    def bucket(self):
        return self.connection.Bucket(self.bucket_name)

    @property
    def client(self):
        return self.connection.meta.client

    def _get_write_parameters(self, name: str, content: File | None = None) -> dict:
        assert content is not None
        digest = hashlib.sha256()
        for piece in content.chunks():
            digest.update(piece)
        return super()._get_write_parameters(name, content) | {"Metadata": {SHA256: digest.hexdigest()}}

    @_promptly(MANAGING, lambda name, content: content.size)
    def _save(self, name: str, content: File) -> str:
        with self.plain_errors(name):
            return super()._save(name, content)

    def _open(self, name: str, mode: str = "rb") -> File:
        reader = _Reader(self, name, self.size(name))
        return File(io.BufferedReader(reader, 2**16), name)

    @_promptly(MANAGING)
    def exists(self, name: str) -> bool:
        with self.plain_errors(name):
            return super().exists(name)

    @_promptly(MANAGING)
    def delete(self, name: str) -> None:
        with self.plain_errors(name):
            super().delete(name)

    # Methods that Winnow adds

    def size(self, name: str) -> int:
        return self._head(name)["ContentLength"]

    @_promptly(MANAGING)
    def _head(self, name: str) -> dict:
        with self.plain_errors(name):
            return self.client.head_object(Bucket=self.bucket_name, Key=name)

    def sha256(self, name: str) -> str:
        """Return it from the metadata; empty if another program has stored the object."""
        return self._head(name)["Metadata"].get(SHA256, "")

    @_promptly(SHOWING)
    def read(self, name: str) -> bytes:
        return self._bytes_of(name)

    @_promptly(MANAGING, lambda name, start, last: last - start)
    def part_of(self, name: str, start: int, last: int) -> bytes:
        return self._bytes_of(name, Range=f"bytes={start}-{last}")

    def _bytes_of(self, name: str, **given: str) -> bytes:
        """Read bytes, again if the connection breaks."""
        for tries_left in reversed(range(TRIES)):
            try:
                with self.plain_errors(name):
                    return self.client.get_object(Bucket=self.bucket_name, Key=name, **given)["Body"].read()
            except Unavailable as error:
                if not tries_left or not isinstance(error.__cause__, BotoCoreError):
                    raise
        raise AssertionError

    def contents(self, name: str) -> "_Contents":
        return _Contents(self, name)

    @_promptly(MANAGING, lambda name, content: len(content))
    def write(self, name: str, content: bytes) -> None:
        facts = {SHA256: hashlib.sha256(content).hexdigest()}
        with self.plain_errors(name):
            self.client.put_object(Bucket=self.bucket_name, Key=name, Body=content, Metadata=facts)

    @_promptly(MANAGING, lambda local, name: local.stat().st_size)
    def copy_in(self, local: Path, name: str) -> None:
        if local.stat().st_size <= SMALL:
            self.write(name, local.read_bytes())
            return
        with local.open("rb") as file:
            self.save(name, File(file))

    def sync(self) -> None:
        """Do nothing: objects are durable as soon as they exist."""

    def move_in(self, files: Iterable[tuple[Path, str]]) -> None:
        for _ in all_at_once(lambda file: self.copy_in(*file), files):
            pass

    def copy_out(self, name: str, local: Path) -> None:
        """Copy it out. Raises Unavailable if the bytes are not those that were stored."""
        sha256, digest = self.sha256(name), hashlib.sha256()
        with self.open(name) as source, local.open("wb") as target:
            while piece := source.read(WIDEST):
                digest.update(piece)
                target.write(piece)
        if sha256 not in ("", digest.hexdigest()):
            raise Unavailable(
                f"{name} is damaged in the object storage: its SHA-256 is not the one it was stored with."
            )

    @_promptly(MANAGING)
    def move(self, name: str, to: str) -> None:
        with self.plain_errors(name):
            source = {"Bucket": self.bucket_name, "Key": name}
            self.client.copy(source, self.bucket_name, to)
            self.client.delete_object(Bucket=self.bucket_name, Key=name)

    @_promptly(MANAGING)
    def remove(self, names: Iterable[str]) -> None:
        for _ in all_at_once(self.delete, names):
            pass

    def remove_folder(self, name: str) -> None:
        self.remove(found.name for found in list(self.below(name)))

    def folders(self, name: str) -> list[str]:
        prefix = f"{name}/"
        pages = self._pages(Prefix=prefix, Delimiter="/")
        return sorted(one["Prefix"][len(prefix) : -1] for page in pages for one in page.get("CommonPrefixes", ()))

    def below(self, name: str, after: str = "") -> Iterator[Stored]:
        for page in self._pages(Prefix=f"{name}/" if name else "", StartAfter=after):
            for one in page.get("Contents", ()):
                if one["Key"].startswith("/") or ".." in one["Key"].split("/"):  # would be outside a local folder
                    raise Unavailable(f"Another program has stored “{one['Key']}” in the bucket. Delete it.")
                yield Stored(one["Key"], one["Size"], one["LastModified"].timestamp())

    def _pages(self, **given: str) -> Iterator[dict]:
        pages = iter(self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket_name, **given))
        while page := self._next_of(pages):
            yield page

    @_promptly(MANAGING)
    def _next_of(self, pages: Iterator[dict]) -> dict | None:
        with self.plain_errors():
            return next(pages, None)

    def lookup(self, *folders: str) -> Callable[[str], bool]:
        return {found.name for folder in folders for found in self.below(folder)}.__contains__

    def signed(self, name: str, download: str) -> str:
        if not self.downloads:
            return ""
        self._head(name)  # otherwise the browser would show the storage's own error
        browsers = self._create_session().client(
            "s3", region_name=self.region_name, endpoint_url=self.downloads, config=self.client_config
        )
        given = {"Bucket": self.bucket_name, "Key": name, "ResponseCacheControl": "private, no-store"}
        given["ResponseContentDisposition"] = content_disposition_header(True, download) or "attachment"
        return browsers.generate_presigned_url("get_object", Params=given, ExpiresIn=SIGNED_SECONDS)

    def create(self) -> None:
        """Make the bucket, unless it exists."""
        with self.plain_errors():
            try:
                self.client.head_bucket(Bucket=self.bucket_name)
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] != 404:
                    raise
                region = self.client.meta.region_name
                where = {} if region == "us-east-1" else {"LocationConstraint": region}
                self.client.create_bucket(
                    Bucket=self.bucket_name, **({"CreateBucketConfiguration": where} if where else {})
                )

    def try_out(self) -> None:
        """Write, read, list and delete a file. Raises Unavailable with the problem."""
        name, content = f"staging/try-{os.urandom(8).hex()}", b"Winnow can write here."
        with self.plain_errors():
            self.client.list_objects_v2(Bucket=self.bucket_name, MaxKeys=1)  # names a missing bucket, unlike HEAD
        self.write(name, content)
        try:
            if self.read(name) != content:
                raise Unavailable(f"{self.where} did not return what was stored.")
        finally:
            self.delete(name)

    @property
    def where(self) -> str:
        return f"The object storage{f' at {self.endpoint_url}' if self.endpoint_url else ''}"

    @contextlib.contextmanager
    def plain_errors(self, name: str = "") -> Iterator[None]:
        """Turn the library's errors into FileNotFoundError and Unavailable."""
        try:
            yield
        except ClientError as error:
            code, status = error.response["Error"].get("Code", ""), error.response["ResponseMetadata"]["HTTPStatusCode"]
            if code == "NoSuchBucket":
                what = f"{self.where} has no bucket “{self.bucket_name}”. Create it, or correct WINNOW_S3_BUCKET."
                raise Unavailable(what) from error
            if status == 404:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from error
            if code in REFUSED or status == 403:
                what = f"{self.where} rejects the key for bucket “{self.bucket_name}” ({code})."
                raise Unavailable(f"{what} Correct WINNOW_S3_ACCESS_KEY and WINNOW_S3_SECRET_KEY.") from error
            reason = f" ({code})" if code and code != str(status) else ""  # answers to HEAD do not have one
            raise Unavailable(f"{self.where} failed with status {status}{reason}. Try again later.") from error
        except (BotoCoreError, Boto3Error) as error:
            what = f"{self.where} does not respond. Check that it is running, and that WINNOW_S3_URL is correct."
            raise Unavailable(what) from error


def all_at_once(work: Callable[[Given], Made], given: Iterable[Given]) -> Iterator[Made]:
    """Call `work` on each in threads, in order, a batch at a time."""
    given = iter(given)
    with ThreadPoolExecutor(THREADS, thread_name_prefix="bucket") as pool:
        while batch := list(islice(given, BATCH)):
            yield from pool.map(work, batch)


@dataclass(frozen=True, slots=True)
class _Contents:
    """workers.contents.Contents"""

    bucket: Bucket
    path: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def __str__(self) -> str:
        return f"s3://{self.bucket.bucket_name}/{self.path}"

    def read_bytes(self) -> bytes:
        return self.bucket.read(self.path)


class _Reader(io.RawIOBase):
    """An object as a file. Sequential reading enlarges the windows; a jump shrinks them again."""

    def __init__(self, bucket: Bucket, name: str, size: int):
        self.bucket, self.path, self.length = bucket, name, size
        self.position = 0
        self.start, self.window, self.next_width = 0, b"", WINDOW

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self.position, os.SEEK_END: self.length}[whence]
        if self.position < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return self.position

    def readinto(self, buffer: Any) -> int:
        if self.position >= self.length:
            return 0
        if not self.start <= self.position < self.start + len(self.window):
            self._fetch()
        found = self.position - self.start
        piece = self.window[found : found + len(buffer)]
        buffer[: len(piece)] = piece
        self.position += len(piece)
        return len(piece)

    def _fetch(self) -> None:
        on = self.position == self.start + len(self.window)
        width = self.next_width if on else WINDOW
        last = min(self.position + width, self.length) - 1
        window = self.bucket.part_of(self.path, self.position, last)
        if len(window) != last - self.position + 1:
            raise Unavailable(f"{self.bucket.where} returned fewer bytes of {self.path} than it announced.")
        self.start, self.window, self.next_width = self.position, window, min(2 * width, WIDEST)
