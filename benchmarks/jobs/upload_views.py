"""Uploads in chunks, for the script of the import page. Answers are JSON; `error` is a sentence for the user."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks import permissions
from benchmarks.jobs import kept_uploads, uploads
from benchmarks.jobs.kept_uploads import Upload
from benchmarks.permissions import StaffRequest
from workers import outside_json

FIELDS = ("data", "second", "images")
FACTS = 4096  # bytes of a request for a new upload


@require_POST
@permissions.staff_only
def upload_begin(request: StaffRequest) -> HttpResponse:
    """{field, name, size, modified} → where the chunks go, and the offset of the first one that is missing."""
    try:
        facts = outside_json.read(request.read(FACTS))
        field, name, size = facts["field"], facts["name"], facts["size"]
        modified = facts["modified"]
        if (
            field not in FIELDS
            or type(name) is not str
            or type(size) is not int
            or type(modified) is not int
            or size < 0
        ):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        return JsonResponse({"error": "This is not a request for an upload."}, status=400)
    try:
        upload = kept_uploads.begin(request.user, field=field, name=name, size=size, modified=modified)
    except kept_uploads.CannotKeep as reason:
        return JsonResponse({"error": str(reason)}, status=413)
    except uploads.NoRoom as reason:
        return JsonResponse({"error": str(reason)}, status=507)
    return _state(upload)


@require_http_methods(["GET", "HEAD", "PATCH", "DELETE"])
@permissions.staff_only
def upload_detail(request: StaffRequest, opaque: str) -> HttpResponse:
    """GET: how far it is. PATCH: a chunk, with its offset in the header Upload-Offset. DELETE: remove it."""
    upload = kept_uploads.find(request.user, opaque)
    if upload is None:
        raise Http404("No such upload.")
    if request.method == "DELETE":
        kept_uploads.drop([upload.id])
        return HttpResponse(status=204)
    return _append(request, upload) if request.method == "PATCH" else _state(upload)


def _append(request: HttpRequest, upload: Upload) -> HttpResponse:
    length, offset = request.META.get("CONTENT_LENGTH") or "", request.headers.get("Upload-Offset", "")
    if not (offset.isascii() and offset.isdigit() and length.isascii() and length.isdigit()):
        return JsonResponse({"error": "A chunk needs its offset and its length."}, status=400)
    if int(length) > kept_uploads.CHUNK:
        return JsonResponse({"error": f"Send at most {kept_uploads.CHUNK:,} bytes at a time."}, status=413)
    try:
        received = kept_uploads.append(upload, int(offset), request)
    except kept_uploads.WrongOffset:
        return _state(upload, status=409)
    except UnreadablePostError:  # the connection broke: the sender asks how far it came
        return HttpResponse(status=400)
    except uploads.NoRoom as reason:
        return JsonResponse({"error": str(reason)}, status=507)
    return _state(upload, received)


def _state(upload: Upload, received: int | None = None, status: int = 200) -> JsonResponse:
    """The id, which the form sends once the upload is complete, with the offset of the next chunk and its size."""
    where = reverse("upload-detail", args=[upload.id])
    facts = {
        "id": upload.id,
        "url": where,
        "offset": upload.received if received is None else received,
        "chunk": kept_uploads.CHUNK,
    }
    return JsonResponse(facts, status=status)
