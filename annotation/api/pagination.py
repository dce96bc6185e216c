"""Pages of a study's judgments that cost the same wherever they are and however few of them a filter meets."""

from datetime import datetime

from django.db.models import QuerySet
from rest_framework.pagination import Cursor
from rest_framework.request import Request

from annotation.models import Judgment, Slot, Study
from annotation.sql import fetch
from benchmarks.api.endpoints import Keyset

LOOKED = 25_000  # numbers of judgments that one page looks through at most, whosever they are

# Not `min(id)` alone: it would pass over everything that is older.
SINCE = """
SELECT min(id) FROM (SELECT id FROM annotation_judgment WHERE created_at >= %(since)s OFFSET 0) given
"""
NOTHING = 2**62


class Window(Keyset):
    """A page may hold fewer rows than were asked for, none even, and still tell of a `next` one: `LOOKED` numbers were
    looked through.

    `after` is the number before the first that can be meant; `uncounted`: only those that do not count, or only those
    that do, which is asked of the window's slots alone.
    """

    def __init__(self, after: int, uncounted: bool | None = None):
        self.after, self.uncounted = after, uncounted

    def paginate_queryset(self, queryset: QuerySet, request: Request, view=None) -> list:
        cursor = self.decode_cursor(request)
        at = int(cursor.position) if cursor and cursor.position else self.after
        self.back = bool(cursor and cursor.reverse)
        if self.back:
            first, last = max(at - LOOKED, self.after + 1), at
        else:
            first, last = min(max(at, self.after), NOTHING) + 1, min(max(at, self.after) + LOOKED, NOTHING)
        self.edge = first if self.back else last
        return super().paginate_queryset(self._within(queryset, first, last), request, view)

    def _within(self, queryset: QuerySet, first: int, last: int) -> QuerySet:
        found = queryset.filter(pk__range=(first, last))
        if self.uncounted is None:
            return found
        counted = Slot.objects.filter(judgment__gte=first, judgment__lte=last).values("judgment")
        return found.exclude(pk__in=counted) if self.uncounted else found.filter(pk__in=counted)

    def get_next_link(self) -> str | None:
        if self.back or self.has_next or not Judgment.objects.filter(pk__gt=self.edge).exists():
            return super().get_next_link()
        return self.encode_cursor(Cursor(0, False, str(self.edge)))

    def get_previous_link(self) -> str | None:
        if not self.back or self.has_previous or self.edge <= self.after + 1:
            return super().get_previous_link()
        return self.encode_cursor(Cursor(0, True, str(self.edge)))


def window(study: Study, since: datetime | None = None, uncounted: bool | None = None) -> Window:
    """Over the judgments of the study, or those `since`."""
    after = study.judgments_after
    if since is not None:
        first = fetch(SINCE, since=since)[0][0]
        after = max(after, NOTHING if first is None else first - 1)
    return Window(after, uncounted)
