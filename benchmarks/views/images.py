"""Images under their opaque names. Annotators have no login: the name, 128 random bits, is the permission.

No database is queried, and headers reveal only the file's type and size.
"""

from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

HEADERS = {"Content-Type": "image/jpeg", "Cache-Control": "private, max-age=31536000, immutable"}


@require_safe
def served(request: HttpRequest, opaque: str) -> HttpResponse:
    return _picture("served", opaque)


@require_safe
def thumbnail(request: HttpRequest, opaque: str) -> HttpResponse:
    return _picture("thumbnails", opaque)


def _picture(folder: str, opaque: str) -> HttpResponse:
    """The file, or (with ACCEL_REDIRECT) its location for nginx."""
    path = f"{folder}/{opaque[:2]}/{opaque}.jpg"
    if settings.ACCEL_REDIRECT:
        return HttpResponse(headers={**HEADERS, "X-Accel-Redirect": settings.ACCEL_REDIRECT + path})
    try:
        return HttpResponse((Path(settings.MEDIA_ROOT) / path).read_bytes(), headers=HEADERS)
    except FileNotFoundError:
        raise Http404("No such image.") from None
