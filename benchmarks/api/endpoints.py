"""The common parts of every endpoint: filters, pagination, and their description in the OpenAPI schema.

An unknown, repeated or invalid filter is rejected with a sentence (400), because a silently ignored filter would return
data about something else. Hence serializers validate filters instead of django-filter, which ignores a blank value or
an invalid boolean.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.pagination import BasePagination, CursorPagination, LimitOffsetPagination
from rest_framework.request import Request

from benchmarks.api.errors import RefusalData, wrong_choice
from benchmarks.audit import named

PAGE, MOST = 100, 1000  # rows per page: default and maximum
NO_LOOKUPS = {"limit", "cursor", "offset", "ordering", "stage"}  # filters applied by the view itself


def name_choices(fields: Mapping[str, serializers.Field]) -> None:
    """Make the refusal of a choice list the valid ones."""
    for whole in fields.values():
        one = getattr(whole, "child", whole)
        if isinstance(one, serializers.ChoiceField) and (words := wrong_choice(one.choices)):
            one.error_messages["invalid_choice"] = words


class Filters(serializers.Serializer):
    """The query parameters of an endpoint; each one's `source` is its lookup. By default there are none."""

    def to_internal_value(self, data) -> dict:
        known = ", ".join(self.fields) or "none"
        wrong = {name: [f"There is no such filter. The filters are: {known}."] for name in set(data) - set(self.fields)}
        wrong |= {name: ["Use this only once."] for name, values in data.lists() if len(values) > 1}
        if wrong:
            raise ValidationError(wrong)
        name_choices(self.fields)
        return super().to_internal_value(data.dict())


class WholeNumberField(serializers.IntegerField):
    """A number in plain digits, without what Python accepts besides (1_0, 1.0, digits of other scripts)."""

    def to_internal_value(self, data) -> int:
        if not re.fullmatch("-?[0-9]+", data):
            self.fail("invalid")
        return super().to_internal_value(data)


def ordering(*names: str) -> serializers.ChoiceField:
    """Make the `ordering` filter: by one of these columns, descending with a minus."""
    both = [f"{sign}{name}" for name in names for sign in ("", "-")]
    return serializers.ChoiceField(both, required=False, help_text="With a minus, the largest or newest first.")


class _Limited(Filters):
    limit = WholeNumberField(required=False, min_value=1, max_value=MOST, help_text=f"Number of rows; default {PAGE}.")


class CursorFilters(_Limited):
    ordering = ordering("id")
    cursor = serializers.CharField(required=False, help_text="Taken from `next` or `previous` of another page.")


class OffsetFilters(_Limited):
    offset = WholeNumberField(required=False, min_value=0, help_text="Number of rows to skip.")


class Keyset(CursorPagination):
    """Pages by id, by default in the order of creation: every page costs the same, and new rows do not shift others."""

    page_size, page_size_query_param, max_page_size = PAGE, "limit", MOST

    def get_ordering(self, request, queryset, view) -> tuple[str]:
        return (view.asked.get("ordering", "id").replace("id", "pk"),)

    def decode_cursor(self, request):
        """Reject invalid cursors, for which the library would return the first page."""
        given = request.query_params.get(self.cursor_query_param)
        if given is not None and not _is_cursor(given):
            raise ValidationError({"cursor": ["This is not a valid cursor. Follow the `next` URL of another page."]})
        return super().decode_cursor(request)


def _is_cursor(given: str) -> bool:
    """Return whether it has only a page's offset, direction and last value."""
    try:
        words = base64.b64decode(given.encode("ascii"), validate=True).decode("ascii")
    except ValueError:
        return False
    return bool(words and re.fullmatch("(?!&)(o=[0-9]{1,4})?((^|&)r=1)?((^|&)p=[0-9]{1,18})?", words))


class Counted(LimitOffsetPagination):
    """Pages by offset, with the total number of rows."""

    default_limit, max_limit = PAGE, MOST


@dataclass(frozen=True)
class Call:
    """One method of an endpoint, for the schema.

    `answers` by status; `takes`: the body's serializer by media type; `parameters`: of query and headers.
    """

    operation: str
    answers: Mapping[Any, object]
    takes: Mapping[str, object] = field(default_factory=dict)
    parameters: Sequence[object] = ()


class Endpoint(GenericAPIView):
    # A subclass defines its `operation` name and `filters`; its docstring is the API description (so this has none).
    operation: str
    http_method_names = ["get", "head", "post", "patch", "delete"]  # no OPTIONS: /api/v1/schema/ describes everything
    filters: type[Filters] = Filters
    refusals: Mapping[int, str] = {}  # possible refusals besides those shared by all endpoints
    pagination_class: type[BasePagination] | None = None

    @cached_property
    def asked(self) -> dict:
        """Return the given filters by lookup. Raises ValidationError with a sentence for each invalid one."""
        given = self.filters(data=self.request.query_params, context={"view": self})
        given.is_valid(raise_exception=True)
        return given.validated_data

    @property
    def by(self) -> str:
        """Return the requesting user, as in events and `by=`."""
        return named(self.user)

    @property
    def user(self) -> User:
        assert isinstance(self.request.user, User)  # IsAdminUser admits nobody else
        return self.request.user

    def filter_queryset(self, queryset: QuerySet) -> QuerySet:
        lookups = {name: value for name, value in self.asked.items() if name not in NO_LOOKUPS}
        found = queryset.filter(**lookups) if lookups else queryset
        order = self.asked.get("ordering") if self.pagination_class is Counted else None
        return found.order_by(order, "pk") if order else found

    def call(self, method: str) -> Call:
        """Describe this method for the schema; by default one that only reads."""
        more = {status: OpenApiResponse(RefusalData, why) for status, why in self.refusals.items()}
        filters = [self.filters] if self.filters().fields else []
        return Call(self.operation, {**self.found(), **REFUSALS, **more}, parameters=filters)

    def found(self) -> dict[Any, object]:
        """Return the serializer of a GET's answer, by its status."""
        row, pages = self.serializer_class, self.pagination_class
        if row is None or pages is None:
            return {200: row or OpenApiTypes.OBJECT}
        return {200: _page_of(row, issubclass(pages, Counted))}  # type: ignore[arg-type]  # a class can be a key


@cache
def _page_of(row: type[serializers.BaseSerializer], counted: bool) -> serializers.Serializer:
    """Make one serializer for all lists of such rows, after which the description names it."""
    fields: dict[str, Any] = {}
    for name in ("next", "previous"):
        fields[name] = serializers.URLField(allow_null=True, help_text=f"The {name} page.")
    if counted:
        fields["count"] = serializers.IntegerField(help_text="Total number of rows.")
    return inline_serializer(f"{row.__name__}Page", {**fields, "results": row(many=True)})


NO_STORAGE = "The object storage is currently unavailable."
REFUSALS: dict[Any, object] = {
    400: OpenApiResponse(RefusalData, "A filter or the URL is unknown or invalid; has an entry for each reason."),
    401: OpenApiResponse(RefusalData, "The token is unknown or has expired, or its owner may no longer log in."),
    403: OpenApiResponse(RefusalData, "There is no token or session, or your role does not allow this."),
    404: OpenApiResponse(RefusalData, "It does not exist, or you do not have access to it."),
    406: OpenApiResponse(RefusalData, "`Accept` does not include JSON."),
    429: OpenApiResponse(RefusalData, "Too many requests with this token; wait as long as `Retry-After` says."),
}


class DescribedOnce(SchemaGenerator):
    """Makes the description once in a process, since only the address of the installation differs between requests."""

    def get_schema(self, request: Request | None = None, public: bool = False) -> dict:
        servers = {"servers": [{"url": request.build_absolute_uri("/")[:-1]}]} if request else {}
        return _description() | servers


@cache
def _description() -> dict:
    return SchemaGenerator().get_schema(request=None, public=True)


class Description(AutoSchema):
    """The OpenAPI operation of an Endpoint's method."""

    @property
    def _call(self) -> Call:
        assert isinstance(self.view, Endpoint)
        return self.view.call(self.method)

    def get_operation_id(self) -> str:
        return self._call.operation

    def get_override_parameters(self) -> list:
        return list(self._call.parameters)

    def get_request_serializer(self):
        """Return the serializer by media type. The library accepts dictionaries, unlike its signature."""
        return dict(self._call.takes)

    def get_response_serializers(self):
        return dict(self._call.answers)

    def _is_list_view(self, serializer=None) -> bool:
        return False  # `found` describes lists
