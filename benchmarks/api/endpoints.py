"""The common parts of every endpoint: filters, pagination, and their description in the OpenAPI schema.

An unknown, repeated or invalid filter is rejected with a sentence (400), because a silently ignored filter returns
figures about something else. Hence serializers validate filters instead of django-filter, which ignores a blank value
or an invalid boolean.
"""

import base64
import re
from collections.abc import Mapping
from functools import cached_property

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.pagination import BasePagination, CursorPagination, LimitOffsetPagination

from benchmarks.audit import named

PAGE, MOST = 100, 1000  # rows per page: default and maximum
NO_LOOKUPS = {"limit", "cursor", "offset", "stage"}  # filters applied by the view itself


class Filters(serializers.Serializer):
    """The query parameters of an endpoint; the `source` of each is its lookup. By default there are none."""

    def to_internal_value(self, data) -> dict:
        known = ", ".join(self.fields) or "none"
        wrong = {name: [f"There is no such filter here. There are: {known}."] for name in set(data) - set(self.fields)}
        wrong |= {name: ["Give this only once."] for name, values in data.lists() if len(values) > 1}
        if wrong:
            raise ValidationError(wrong)
        return super().to_internal_value(data.dict())


class WholeNumberField(serializers.IntegerField):
    """In digits: what Python takes for a number beside them (1_0, 1.0, digits of other scripts) is none here."""

    def to_internal_value(self, data) -> int:
        if not re.fullmatch("-?[0-9]+", data):
            self.fail("invalid")
        return super().to_internal_value(data)


class _Limited(Filters):
    limit = WholeNumberField(required=False, min_value=1, max_value=MOST, help_text=f"Number of rows; default {PAGE}.")


class CursorFilters(_Limited):
    cursor = serializers.CharField(required=False, help_text="Taken from `next` or `previous` of another page.")


class OffsetFilters(_Limited):
    offset = WholeNumberField(required=False, min_value=0, help_text="Number of rows to skip.")


class Keyset(CursorPagination):
    """Pages by id, in the order of creation: every page costs the same, and new rows shift nothing."""

    ordering, page_size, page_size_query_param, max_page_size = "pk", PAGE, "limit", MOST

    def decode_cursor(self, request):
        """The library takes much that it never wrote for a cursor, and gives the first page for it."""
        given = request.query_params.get(self.cursor_query_param)
        if given is not None and not _is_cursor(given):
            raise ValidationError({"cursor": ["This is not a valid cursor. Follow the `next` URL of another page."]})
        return super().decode_cursor(request)


def _is_cursor(given: str) -> bool:
    """Whether it says no more than a page's offset, direction and last number."""
    try:
        words = base64.b64decode(given.encode("ascii"), validate=True).decode("ascii")
    except ValueError:
        return False
    return bool(words and re.fullmatch("(?!&)(o=[0-9]{1,4})?((^|&)r=1)?((^|&)p=[0-9]{1,18})?", words))


class Counted(LimitOffsetPagination):
    """Pages by offset, with the total number of rows."""

    default_limit, max_limit = PAGE, MOST


class Endpoint(GenericAPIView):
    # A subclass defines its `operation` name and `filters`; its docstring is the API description (hence none here).
    operation: str
    filters: type[Filters] = Filters
    refusals: Mapping[int, str] = {}  # what it may answer beside what every endpoint may
    pagination_class: type[BasePagination] | None = None

    @cached_property
    def asked(self) -> dict:
        """The given filters by lookup. Raises ValidationError with a sentence for each invalid one."""
        given = self.filters(data=self.request.query_params, context={"view": self})
        given.is_valid(raise_exception=True)
        return given.validated_data

    @property
    def by(self) -> str:
        """The requesting user, as named in events and `by=`."""
        assert isinstance(self.request.user, User)  # IsAdminUser admits nobody else
        return named(self.request.user)

    def filter_queryset(self, queryset: QuerySet) -> QuerySet:
        lookups = {name: value for name, value in self.asked.items() if name not in NO_LOOKUPS}
        return queryset.filter(**lookups) if lookups else queryset


class _Refusal(serializers.Serializer):
    detail = serializers.CharField(help_text="The reason, as a sentence.")

    class Meta:
        ref_name = "Refusal"


_WRONG = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
_REFUSALS = {
    400: OpenApiResponse(_WRONG, "A filter or the URL is unknown or invalid; gives the reason for each."),
    401: OpenApiResponse(_Refusal, "The token is unknown, or its owner may no longer log in."),
    403: OpenApiResponse(_Refusal, "There is no token or session, or its owner is not a manager."),
    404: OpenApiResponse(_Refusal, "It does not exist, or you do not have access to it."),
    406: OpenApiResponse(_Refusal, "`Accept` does not include JSON."),
    429: OpenApiResponse(_Refusal, "Too many requests with this token; wait as long as `Retry-After` says."),
}


class Description(AutoSchema):
    """The OpenAPI operation of an Endpoint."""

    @property
    def _endpoint(self) -> Endpoint:
        assert isinstance(self.view, Endpoint)
        return self.view

    def get_operation_id(self) -> str:
        return self._endpoint.operation

    def get_override_parameters(self) -> list:
        return [self._endpoint.filters] if self._endpoint.filters().fields else []

    def get_response_serializers(self):
        """A serializer for each status. The library takes a dictionary too, though its signature leaves that out."""
        row, pages = self._endpoint.serializer_class, self._endpoint.pagination_class
        more = {status: OpenApiResponse(_Refusal, why) for status, why in self._endpoint.refusals.items()}
        refusals = _REFUSALS | more
        if row is None or pages is None:
            return {200: row or OpenApiTypes.OBJECT, **refusals}
        fields: dict[str, serializers.Field] = {}
        for name in ("next", "previous"):
            fields[name] = serializers.URLField(allow_null=True, help_text=f"The {name} page.")
        if issubclass(pages, Counted):
            fields["count"] = serializers.IntegerField(help_text="Total number of rows.")
        page = inline_serializer(f"{row.__name__}Page", {**fields, "results": row(many=True)})
        return {200: page, **refusals}

    def _is_list_view(self, serializer=None) -> bool:
        return False  # `get_response_serializers` describes lists
