"""Resumable downloads: a whole file, or part of it from any byte on (RFC 9110, sections 13 and 14).

This is our own code because no maintained library does it for a file in Django's storage: Django's FileResponse does
not support ranges, and its `get_conditional_response`, which is used, omits If-Range; WhiteNoise serves ranges only of
static files on disk; django-sendfile2 leaves ranges to a proxy, which is optional in our case; django-ranged-response
has been unmaintained for years and lacks ETag.
"""

import mimetypes
import re
from collections.abc import Callable, Iterator

from django.core.files import File
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, quote_etag

PIECE = 256 * 1024
ONE_RANGE = re.compile(r"bytes=[ \t]*([0-9]{1,18})?-([0-9]{1,18})?[ \t]*", re.ASCII | re.IGNORECASE)


def ranged(
    request: HttpRequest, open_file: Callable[[], File], size: int, name: str, etag: str, offset: int = 0
) -> HttpResponseBase:
    """Send the `size` bytes of a file from `offset` on, or the requested range of them, as a download called `name`.

    `etag` identifies the content (its hash). The file is opened when bytes are sent, and closed with the response.
    Requests for several ranges, or an invalid one, get everything.
    """
    head = _head(size, name, quote_etag(etag))
    answer = get_conditional_response(request, head["ETag"], None, head) or head
    if answer is not head or request.method == "HEAD":
        return answer
    asked = _asked(request, size, head["ETag"])
    if asked is None:
        return _sent(head, 200, Stretch(open_file(), offset, size))
    first, last = asked
    if first > last:
        head.status_code, head["Content-Range"], head["Content-Length"] = 416, f"bytes */{size}", "0"
        del head["Content-Disposition"]
        return head
    head["Content-Range"], head["Content-Length"] = f"bytes {first}-{last}/{size}", str(last - first + 1)
    return _sent(head, 206, Stretch(open_file(), offset + first, last - first + 1))


def _head(size: int, name: str, etag: str) -> HttpResponse:
    """Return the response without its bytes, which is the answer to HEAD."""
    kind, packed = mimetypes.guess_type(name)
    return HttpResponse(
        content_type="application/octet-stream" if packed or not kind else kind,
        headers={
            "Accept-Ranges": "bytes",
            "ETag": etag,
            "Content-Length": str(size),
            "Content-Disposition": content_disposition_header(True, name),
        },
    )


def _asked(request: HttpRequest, size: int, etag: str) -> tuple[int, int] | None:
    """Return first and last byte. None: everything; first after last: an unsatisfiable range."""
    found = ONE_RANGE.fullmatch(request.headers.get("Range", ""))
    if found is None or not any(found.groups()) or not size:
        return None
    if request.headers.get("If-Range", etag) != etag:  # the client's part is of other content; we never send dates
        return None
    first, last = found.groups()
    if first is None:
        return max(size - int(last), 0), size - 1
    if last is not None and int(last) < int(first):
        return None  # not a range at all
    return int(first), min(size - 1 if last is None else int(last), size - 1)


def _sent(head: HttpResponse, status: int, content: "Stretch") -> StreamingHttpResponse:
    return StreamingHttpResponse(content, status=status, headers=dict(head.items()))


class Stretch:
    """`length` bytes of an open file from `start` on, in pieces. Django closes it with the response."""

    def __init__(self, file: File, start: int, length: int):
        self.file, self.start, self.length = file, start, length

    def __iter__(self) -> Iterator[bytes]:
        self.file.seek(self.start)
        left = self.length
        while left and (piece := self.file.read(min(PIECE, left))):
            left -= len(piece)
            yield piece

    def close(self) -> None:
        self.file.close()
