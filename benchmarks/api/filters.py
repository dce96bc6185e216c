"""How the API is asked, and how it answers a list: filters that are named, pages, and both in the API's description.

What an address asks for and is not known, or is not of its kind, is refused with a sentence (400): a filter that is
silently ignored gives figures of something else.
"""

from collections.abc import Callable

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import BasePagination, CursorPagination, LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

PAGE, MOST = 100, 1000  # rows of a page: where nobody says, and at most
TURNS = ("next", "previous")

Lines = Callable[[list], list]  # the rows of a page, and what is told of them
Data = type[serializers.Serializer]
Paginator = type[BasePagination]


class Asked(serializers.Serializer):
    """What may stand in an address after `?`; an address that takes nothing takes this."""

    @classmethod
    def of(cls, request: Request) -> dict:
        """The filters that are given, as values. ValidationError with a sentence for each that is wrong."""
        asked, given = cls(data=request.query_params.dict()), request.query_params
        known = ", ".join(asked.fields) or "none"
        wrong = {
            name: [f"There is no such filter here. There are: {known}."] for name in set(given) - set(asked.fields)
        }
        wrong |= {name: ["Give this once."] for name, values in given.lists() if len(values) > 1}
        if wrong:
            raise ValidationError(wrong)
        asked.is_valid(raise_exception=True)
        return dict(asked.validated_data)


class AskedPage(Asked):
    """Of a list that goes on where the last page ended."""

    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST, help_text=f"How many rows; {PAGE} where nobody says."
    )
    cursor = serializers.CharField(required=False, help_text="From `next` or `previous` of another page.")


class AskedPlace(Asked):
    """Of a list that counts its rows."""

    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST, help_text=f"How many rows; {PAGE} where nobody says."
    )
    offset = serializers.IntegerField(required=False, min_value=0, help_text="How many rows to pass over first.")


class Keyset(CursorPagination):
    """By number, in the order of coming: a page costs the same wherever it is, and rows that come in shift nothing."""

    ordering, page_size, page_size_query_param, max_page_size = "pk", PAGE, "limit", MOST

    def decode_cursor(self, request: Request):
        try:
            cursor = super().decode_cursor(request)
        except NotFound:
            raise NoCursor from None
        last = cursor.position if cursor else None
        if last is not None and not (last.isascii() and last.isdecimal() and len(last) < 19):
            raise NoCursor
        return cursor


class NoCursor(ValidationError):
    def __init__(self):
        super().__init__({"cursor": ["This is no cursor. Follow `next` of another page as it is."]})


class Counted(LimitOffsetPagination):
    default_limit, max_limit = PAGE, MOST


def paged(request: Request, found: QuerySet, data: Data, lines: Lines = list, by: Paginator = Keyset) -> Response:
    """The page of `found` that the request asks for. `lines` makes of its rows what `data` tells."""
    pages = by()
    page = pages.paginate_queryset(found, request)
    return pages.get_paginated_response(data(lines(page), many=True).data)


class Refusal(serializers.Serializer):
    detail = serializers.CharField(help_text="Why, in words.")


WRONG = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
REFUSALS = {
    400: OpenApiResponse(WRONG, "A filter is unknown or wrong: for each, why in words."),
    401: OpenApiResponse(Refusal, "The token is not known, or its owner may not log in any more."),
    403: OpenApiResponse(Refusal, "There is neither a token nor a session, or its owner manages nothing."),
    404: OpenApiResponse(Refusal, "There is no such thing, or it is not yours to see."),
    429: OpenApiResponse(Refusal, "Too many requests with this token; `Retry-After` says when to go on."),
}


def page_of(data: Data, by: Paginator) -> serializers.Serializer:
    turns = {name: serializers.URLField(allow_null=True, help_text=f"The {name} page.") for name in TURNS}
    counts = {"count": serializers.IntegerField(help_text="Rows in all.")} if by is Counted else {}
    return inline_serializer(f"{data.__name__}Page", {**counts, **turns, "results": data(many=True)})


def tells(name: str, data: object, asked: type[Asked] = Asked, by: Paginator | None = None) -> Callable:
    """Decorator of a view, above `api_view`: its name, what it may be asked and what it answers, for the description.

    `by` says that it answers pages of `data`. Its docstring says the rest.
    """
    answer = page_of(data, by) if by else data
    filters = [asked] if asked().fields else []
    return extend_schema(operation_id=name, parameters=filters, responses={200: answer, **REFUSALS})
