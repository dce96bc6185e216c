"""Uploads in chunks: begin one, send its chunks from the offset reached so far, and use its id in an import.

The import page's script sends files that are too large for a request in the same way (static/js/pages/upload.js).
"""

from functools import cached_property
from io import BytesIO
from typing import Any, BinaryIO, cast

from django.http import UnreadablePostError
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks.api.commands import Body, Command, refuse_filters
from benchmarks.api.endpoints import NO_STORAGE, REFUSALS, Call, Counted, Endpoint, OffsetFilters
from benchmarks.api.errors import CannotAnswer, RefusalData, conflict, wrong_field
from benchmarks.imports.forms import FILES
from benchmarks.jobs import kept_uploads
from benchmarks.jobs.kept_uploads import Upload

OFFSET = "Upload-Offset"
NO_OFFSET = f"Send the header {OFFSET}: the number of bytes that have arrived, as returned by GET."


class UploadBody(Body):
    name = serializers.CharField(help_text="The file's name with its extension, without a folder.")
    size = serializers.IntegerField(min_value=0, help_text=f"In bytes, at most {kept_uploads.MAX_BYTES:,}.")
    modified = serializers.IntegerField(
        required=False, min_value=-(2**53), max_value=2**53, allow_null=True, default=None,
        help_text="When the file was last changed, in milliseconds. If given, an upload of a file with this name, "
        "size and time continues instead of beginning anew.",
    )  # fmt: skip
    field: serializers.ChoiceField = serializers.ChoiceField(  # type: ignore[assignment]  # the class removes its fields
        list(FILES), required=False, help_text="The field of the import page that offers the file again."
    )


class UploadData(serializers.Serializer):
    id = serializers.CharField()
    name = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes of the whole file.")
    received = serializers.IntegerField(help_text="Bytes that have arrived: the offset of the next chunk.")
    complete = serializers.BooleanField()
    chunk = serializers.SerializerMethodField(help_text="Maximum number of bytes in a chunk.")

    def get_chunk(self, upload: Upload) -> int:
        return kept_uploads.CHUNK


class UploadList(Command, ListAPIView):
    """Your uploads, newest first. POST begins one, or continues one.

    It is kept for a day after its last chunk, or until it has been imported.
    """

    operation, serializer_class, filters, pagination_class = "uploads", UploadData, OffsetFilters, Counted
    command, takes, gives = "begin_upload", UploadBody, UploadData
    refusals = {503: NO_STORAGE, 507: "The server has no room for the file."}

    fetches = "user"  # for every manager

    def get_queryset(self):
        return kept_uploads.of_user(self.user)

    def act(self, given: dict[str, Any]) -> Upload:
        return kept_uploads.begin(self.user, **{"field": "", **given})

    def location(self, made: Upload) -> str:
        return reverse("api-upload-detail", args=[made.id])


class ChunkParser(BaseParser):
    media_type = "application/octet-stream"

    def parse(self, stream, media_type=None, parser_context=None):
        return stream


class UploadDetail(Endpoint):
    """One of your uploads. PATCH adds a chunk at its end, DELETE removes it.

    After a broken connection, GET returns how much has arrived; continue from that offset. A chunk with a different
    offset is refused (409).
    """

    operation, serializer_class, parser_classes = "upload", UploadData, [ChunkParser]
    refusals = {503: NO_STORAGE}

    @cached_property
    def upload(self) -> Upload:
        refuse_filters(self.request)
        found = kept_uploads.find(self.user, self.kwargs["opaque"])
        if found is None:
            raise NotFound("You have no such upload. Uploads are kept for a day.")
        return found

    def get(self, request: Request, opaque: str) -> Response:
        return Response(UploadData(self.upload).data)

    def patch(self, request: Request, opaque: str) -> Response:
        upload, offset = self.upload, request.headers.get(OFFSET, "")
        chunk = cast(BinaryIO, request.data or BytesIO())
        if not (offset.isascii() and offset.isdigit() and len(offset) < 19):
            raise CannotAnswer(400, "INVALID", NO_OFFSET, [wrong_field(OFFSET, NO_OFFSET)])
        try:
            kept_uploads.append(upload, int(offset), chunk)
        except kept_uploads.WrongOffset:
            raise conflict(
                f"{upload.received} bytes have arrived. Send the chunk from there.", "WRONG_OFFSET"
            ) from None
        except UnreadablePostError:
            raise CannotAnswer(400, "INCOMPLETE", "The connection broke. Ask how much has arrived.") from None
        return Response(UploadData(upload).data)

    def delete(self, request: Request, opaque: str) -> Response:
        kept_uploads.drop([self.upload.id])
        return Response(status=204)

    def call(self, method: str) -> Call:
        no_storage = OpenApiResponse(RefusalData, NO_STORAGE)
        if method == "PATCH":
            offset = OpenApiParameter(
                OFFSET, OpenApiTypes.INT, "header", required=True, description="Bytes that have arrived."
            )
            more = {
                409: OpenApiResponse(RefusalData, "The offset does not match the bytes that have arrived."),
                413: OpenApiResponse(RefusalData, "The chunk is too large."),
                415: OpenApiResponse(RefusalData, "The body is not `application/octet-stream`."),
                503: no_storage,
                507: OpenApiResponse(RefusalData, "The server's disk is full."),
            }
            takes = {"application/octet-stream": OpenApiTypes.BINARY}
            return Call("send_chunk", {200: UploadData, **REFUSALS, **more}, takes, [offset])
        if method == "DELETE":
            return Call("delete_upload", {204: OpenApiResponse(description="It is gone."), **REFUSALS, 503: no_storage})
        return super().call(method)
