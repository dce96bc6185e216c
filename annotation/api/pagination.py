"""Pages of a study's judgments that cost the same wherever they are and however few of them a filter meets."""

from django.db.models import QuerySet
from rest_framework.pagination import Cursor

from annotation.models import Judgment, Slot
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

    The view has the `study`; its `uncounted` asks for those alone that do not count, or for those alone that do, which
    is asked of the window's slots alone.
    """

    def paginate_queryset(self, queryset, request, view=None):
        self.after = view.study.judgments_after  # the number before the first that can be meant
        if since := view.asked.get("created_at__gte"):
            first = fetch(SINCE, since=since)[0][0]
            self.after = max(self.after, NOTHING if first is None else first - 1)
        cursor = self.decode_cursor(request)
        at = int(cursor.position) if cursor and cursor.position else self.after
        self.back = bool(cursor and cursor.reverse)
        if self.back:
            first, last = max(at - LOOKED, self.after + 1), at
        else:
            first, last = min(max(at, self.after), NOTHING) + 1, min(max(at, self.after) + LOOKED, NOTHING)
        self.edge = first if self.back else last
        return super().paginate_queryset(self._within(queryset, first, last, view.uncounted), request, view)

    def _within(self, queryset: QuerySet, first: int, last: int, uncounted: bool | None) -> QuerySet:
        found = queryset.filter(pk__range=(first, last))
        if uncounted is None:
            return found
        counted = Slot.objects.filter(judgment__gte=first, judgment__lte=last).values("judgment")
        return found.exclude(pk__in=counted) if uncounted else found.filter(pk__in=counted)

    def get_next_link(self) -> str | None:
        if self.back or self.has_next or not Judgment.objects.filter(pk__gt=self.edge).exists():
            return super().get_next_link()
        return self.encode_cursor(Cursor(0, False, self.edge))

    def get_previous_link(self) -> str | None:
        if not self.back or self.has_previous or self.edge <= self.after + 1:
            return super().get_previous_link()
        return self.encode_cursor(Cursor(0, True, self.edge))
