"""Images and videos under their opaque names. Annotators have no login: the name, 128 random bits, is the permission.

Headers reveal only the file's type and size, and the database is queried only for a variant that has not been made yet.
"""

from contextlib import suppress

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from benchmarks.imports import frames
from benchmarks.models.benchmark import video_path
from benchmarks.storage.files import kept
from benchmarks.views.ranges import ranged

CACHE = {"Cache-Control": "private, max-age=31536000, immutable"}
HEADERS = {"Content-Type": "image/jpeg", **CACHE}


@require_safe
def served(request: HttpRequest, opaque: str) -> HttpResponse:
    """Send an image as it is, or in its item's frame: the URL does not reveal which."""
    framed, as_it_is = _path("framed", opaque), _path("served", opaque)
    found = _found(framed) or _found(as_it_is)
    return found or send_image(framed if frames.make(opaque) else as_it_is)


@require_safe
def small(request: HttpRequest, opaque: str) -> HttpResponse:
    """Send the smaller copy, for phones, of the image that `served` sends under that name."""
    path = _path("small", opaque)
    if found := _found(path):
        return found
    frames.make(opaque)
    return send_image(path)


@require_safe
def thumbnail(request: HttpRequest, opaque: str) -> HttpResponse:
    return send_image(_path("thumbnails", opaque))


@require_safe
def video(request: HttpRequest, opaque: str, ending: str) -> HttpResponseBase:
    """Send a video, or the range of its bytes that a browser's player requests."""
    path = video_path(opaque)
    if settings.ACCEL_REDIRECT:
        kind = {"Content-Type": f"video/{ending}"}
        return HttpResponse(headers={**kind, **CACHE, "X-Accel-Redirect": settings.ACCEL_REDIRECT + path})
    try:
        size = kept.size(path)
    except FileNotFoundError:
        raise Http404("This video does not exist.") from None
    answer = ranged(request, lambda: kept.open(path), size, f"video.{ending}", etag=opaque)
    del answer["Content-Disposition"]
    for name, value in CACHE.items():
        answer[name] = value
    return answer


def _path(folder: str, opaque: str) -> str:
    return f"{folder}/{opaque[:2]}/{opaque}.jpg"


def send_image(path: str) -> HttpResponse:
    """Send the file or, with ACCEL_REDIRECT, its path to nginx.

    Winnow also sends files from a bucket, whose own answer would reveal when the image was stored.
    """
    if settings.ACCEL_REDIRECT:
        return HttpResponse(headers={**HEADERS, "X-Accel-Redirect": settings.ACCEL_REDIRECT + path})
    try:
        return HttpResponse(kept.read(path), headers=HEADERS)
    except FileNotFoundError:
        raise Http404("This image does not exist.") from None


def _found(path: str) -> HttpResponse | None:
    """Return the same, or None if there is no such file. A bucket is not asked first whether it exists."""
    if settings.ACCEL_REDIRECT and not kept.exists(path):
        return None
    with suppress(Http404):
        return send_image(path)
    return None
