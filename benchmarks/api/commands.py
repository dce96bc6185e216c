"""Common parts of the API's POSTs: a body without unknown fields, an idempotency key, one transaction, one answer.

A Command parses and permits, calls one verb of a room, and answers; the verb writes the audit event. Its POST runs in
one transaction that also stores its answer (accounts/idempotency.py). Slow work is a job: see JobCommand.
"""

import dataclasses
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.http import QueryDict
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks.accounts import idempotency
from benchmarks.api.endpoints import REFUSALS, Call, Endpoint, Filters, name_choices
from benchmarks.api.errors import CannotAnswer, RefusalData, conflict
from benchmarks.api.serializers import JobData
from benchmarks.models import Job
from benchmarks.transactions import retry_deadlocks

KEY = re.compile(r"[!-~]{1,100}")
KEY_HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
MOST_BYTES = 16 * 2**20  # maximum size of a request's body; larger files are uploaded in chunks
NO_KEY = f"Send the header {KEY_HEADER} with 1 to 100 visible ASCII characters of your own, such as a UUID."
OTHER_REQUEST = "This idempotency key was used for another request. Send a new key with a new request."


class Body(serializers.Serializer):
    """The body of a POST. Unknown fields are refused: ignoring one would do something other than asked."""

    def to_internal_value(self, data) -> dict:
        if isinstance(data, Mapping):
            known = ", ".join(self.fields) or "none"
            says = f"There is no such field. The fields are: {known}."
            wrong = {str(name): [ErrorDetail(says, "unknown_field")] for name in data if name not in self.fields}
            if wrong:
                raise ValidationError(wrong)
        name_choices(self.fields)
        return super().to_internal_value(data)


class Command(Endpoint):
    # A subclass defines these, `fetches` or `permit`, and `act`.
    fetches: str  # the property that fetches the object in the address, for permitted users
    command: str  # the name of the operation
    takes: type[Body] = Body
    takes_files: type[Body] | None = None  # the same body as multipart/form-data
    gives: type[serializers.Serializer]
    status = 201
    conflicts = ""  # when it responds with 409
    raises: Mapping[type[Exception], str] = MappingProxyType({})  # `act`'s exceptions that give 409, with codes
    one_transaction = True  # False if files are deleted once the transaction has been committed
    shown_once: tuple[str, ...] = ()  # fields of the answer that are not stored with it: a repeated request gets null

    def get_parsers(self) -> list:
        return [JSONParser(), *([MultiPartParser()] if self.takes_files else [])]

    def permit(self) -> None:
        """Fetch the object in the address. Raises Http404 or PermissionDenied, as the pages do."""
        getattr(self, self.fetches)

    def act(self, given: dict[str, Any]) -> Any:
        """Carry out the request, in the transaction that stores the answer; return what `gives` describes."""
        raise NotImplementedError

    def location(self, made: Any) -> str:
        """Return the address of the created object; empty if it has none."""
        return ""

    def data_of(self, made: Any) -> Mapping[str, Any]:
        return self.gives(made, context=self.get_serializer_context()).data

    def post(self, request: Request, *args, **kwargs) -> Response:
        self.permit()
        refuse_filters(request)
        key = request.headers.get(KEY_HEADER, "")
        if not KEY.fullmatch(key):
            raise CannotAnswer(400, "IDEMPOTENCY_KEY_MISSING", NO_KEY)
        once = retry_deadlocks(transaction.atomic(self._act_once)) if self.one_transaction else self._act_once
        return once(key, _fingerprint(request))

    def _act_once(self, key: str, fingerprint: str) -> Response:
        user = self.request.user
        try:
            stored = idempotency.stored_answer(user=user, key=key, fingerprint=fingerprint)
        except idempotency.OtherRequest:
            raise CannotAnswer(422, "IDEMPOTENCY_KEY_REUSED", OTHER_REQUEST) from None
        if stored:
            return _response(stored.status, stored.body, stored.location, {REPLAYED: "true"})
        takes = self.takes_files if isinstance(self.request.data, QueryDict) and self.takes_files else self.takes
        given = takes(data=self.request.data, context=self.get_serializer_context())
        given.is_valid(raise_exception=True)
        try:
            made = self.act(given.validated_data)
        except tuple(self.raises) as why:
            raise conflict(why, next(code for kind, code in self.raises.items() if isinstance(why, kind))) from None
        body = json.loads(JSONRenderer().render(self.data_of(made)))
        location = self.location(made)
        idempotency.remember(
            user=user, key=key, fingerprint=fingerprint, status=self.status, location=location,
            body=body | dict.fromkeys(self.shown_once),
        )  # fmt: skip
        return _response(self.status, body, location)

    def call(self, method: str) -> Call:
        if method != "POST":
            read = super().call(method)  # `refusals` are the command's
            kept = {status: why for status, why in read.answers.items() if status not in self.refusals}
            return dataclasses.replace(read, answers=kept)
        body = {"application/json": self.takes} if self.takes().fields else {}
        body |= {"multipart/form-data": self.takes_files} if self.takes_files else {}
        more = {409: self.conflicts} if self.conflicts else {}
        more |= {int(status): why for status, why in self.refusals.items()}
        answers: dict[Any, object] = {
            self.status: OpenApiResponse(self.gives, "Done now, or earlier with this idempotency key.")
        }
        answers |= REFUSALS | _OF_COMMANDS | {status: OpenApiResponse(RefusalData, why) for status, why in more.items()}
        answers[400] = OpenApiResponse(RefusalData, "The request is invalid; has an entry for each reason.")
        return Call(self.command, answers, body, [_KEY, _location(self.status), _replayed(self.status)])


class JobCommand(Command):
    """Starts a job (202): `act` sends it to the worker and returns it; `Location` is its progress."""

    gives: type[serializers.Serializer] = JobData
    status = 202

    def location(self, made: Job) -> str:
        return reverse("api-job-detail", args=[made.pk])


def refuse_filters(request: Request) -> None:
    Filters(data=request.query_params).is_valid(raise_exception=True)


def _fingerprint(request: Request) -> str:
    """Hash the request, regardless of the order of its fields and of the boundary between its files."""
    data, files = request.data, []
    if isinstance(data, QueryDict):
        files = [(name, one) for name in sorted(request.FILES) for one in request.FILES.getlist(name)]
        data = {name: data.getlist(name) for name in sorted(data) if name not in request.FILES}
    body = json.dumps(data, sort_keys=True, default=str)
    return idempotency.fingerprint_of(request.method or "", request.path, body, files)


def _response(status: int, body: object, location: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body, status, headers={**({"Location": location} if location else {}), **(headers or {})})


_KEY = OpenApiParameter(
    KEY_HEADER, OpenApiTypes.STR, OpenApiParameter.HEADER, required=True, pattern="^[!-~]{1,100}$",
    description="Chosen by you, new for each request. The same key with the same request gets the same "
    "answer and has no second effect; keys are kept for a week.",
)  # fmt: skip


def _header(name: str, says: str, status: int) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, "header", response=[status], required=False, description=says)


def _location(status: int) -> OpenApiParameter:
    return _header("Location", "The address of the new object, or of the job.", status)


def _replayed(status: int) -> OpenApiParameter:
    return _header(REPLAYED, "`true` if this answers a repeated request.", status)


_OF_COMMANDS: dict[Any, object] = {
    413: OpenApiResponse(RefusalData, f"The body has more than {MOST_BYTES:,} bytes, or too many fields or files."),
    415: OpenApiResponse(RefusalData, "The body's `Content-Type` is not one of those described."),
    422: OpenApiResponse(RefusalData, "The idempotency key was used for another request."),
}
