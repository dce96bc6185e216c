"""Download a frozen release's zip, or a file in it: entries are uncompressed, so a file is a range of the zip."""

import hashlib
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePosixPath

from django.core.files import File
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from annotation.models import Release
from annotation.releases.archive_reader import MANIFEST
from benchmarks.storage.files import kept
from benchmarks.views.ranges import ranged

HEADER = 30  # bytes before an entry's name, which is followed by `extra`
LENGTHS = struct.Struct("<26xHH")  # lengths of the name and the extra
READ = {".md", ".json", ".jsonl", ".csv", ".tsv", ".txt"}  # files that may be shown as text
TEXT, BYTES = "text/plain; charset=utf-8", "application/octet-stream"


def download(request: HttpRequest, release: Release, name: str = "") -> HttpResponseBase:
    """Return the whole zip, or one file of it. Raises Http404 if there is none."""
    if not release.frozen_at:
        raise Http404("This release is not frozen and has no files yet.")
    return download_file(request, release, name) if name else download_release(request, release)


def download_release(request: HttpRequest, release: Release) -> HttpResponseBase:
    with removed_is_404():
        if address := kept.signed(release.file, f"{release.folder}.zip"):
            return HttpResponseRedirect(address)
        return ranged(request, _opener(release), release.size, f"{release.folder}.zip", release.sha256)


def download_file(request: HttpRequest, release: Release, name: str) -> HttpResponseBase:
    """Return one file, by its path in the release's folder; 404 if there is none.

    It is always a download, with no content type except text or bytes.
    """
    with removed_is_404(), kept.open(release.file) as file, zipfile.ZipFile(file) as archive:
        try:
            entry = archive.getinfo(f"{release.folder}/{name}")
        except KeyError:
            raise Http404("This release has no such file.") from None
        manifest = archive.read(f"{release.folder}/{MANIFEST}")
        named = {MANIFEST: {"sha256": hashlib.sha256(manifest).hexdigest()}, **json.loads(manifest)["files"]}
        file.seek(entry.header_offset)
        offset = entry.header_offset + HEADER + sum(LENGTHS.unpack(file.read(HEADER)))
    path = PurePosixPath(name)
    answer = ranged(request, _opener(release), entry.file_size, path.name, named[name]["sha256"], offset)
    if "Content-Type" in answer.headers:
        answer["Content-Type"] = TEXT if path.suffix in READ else BYTES
    return answer


def _opener(release: Release) -> Callable[[], File]:
    """Return a function that opens the zip."""
    return partial(kept.open, release.file)


@contextmanager
def removed_is_404() -> Iterator[None]:
    """Respond with 404 if somebody removed a file from the storage, since that is not an error of ours."""
    try:
        yield
    except FileNotFoundError:
        raise Http404("The files of this release are no longer in storage.") from None
