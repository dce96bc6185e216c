"""Lists of a study's tasks, judgments and so on, page by page; each row is a line of an export, with its id."""

from collections.abc import Iterable, Sequence

from django.db.models import F, Max, QuerySet
from rest_framework.generics import ListAPIView
from rest_framework.pagination import Cursor

from annotation.api import filters
from annotation.api.figures import judgment_counts
from annotation.api.serializers import AdjudicationData, AnnotatorData, FlagData, JudgmentData, TaskData
from annotation.api.studies import StudyEndpoint
from annotation.exports import rows as export_rows
from annotation.exports.protocol_files import files_of
from annotation.figures.edit_names import edits_of
from annotation.models import Annotator, Flag, Judgment, Outcome, Slot, Task
from annotation.sql import fetch
from benchmarks.api.endpoints import Keyset

JUDGMENTS = f"""
SELECT * FROM (SELECT judgment.id, {export_rows.JUDGMENTS} WHERE slot.task_id = ANY(%(tasks)s)) given
WHERE id = ANY(%(ids)s)
"""
TASKS = f"SELECT task.id, {export_rows.TASKS} WHERE task.id = ANY(%(ids)s)"
ADJUDICATIONS = f"SELECT task.id, {export_rows.ADJUDICATIONS} WHERE task.id = ANY(%(ids)s)"
FLAGS = f"SELECT flag.id, {export_rows.FLAGS} WHERE flag.id = ANY(%(ids)s)"
ANNOTATORS = f"SELECT annotator.id, {export_rows.ANNOTATORS} WHERE annotator.id = ANY(%(ids)s) GROUP BY annotator.id"

WINDOW = 25_000  # most judgment ids, of any study, that one page reads

# Not just `min(id)`, which would scan everything older.
FIRST_SINCE = """
SELECT min(id) FROM (SELECT id FROM annotation_judgment WHERE created_at >= %(since)s OFFSET 0) given
"""
BEYOND = 2**62  # beyond every id

Lines = Iterable[tuple[int, dict]]  # id, line
Page = Sequence[dict[str, int]]  # the ids of its rows, as `pk`


class _Rows(StudyEndpoint, ListAPIView):
    """Turns pages of ids into lines, with one or two more queries for any number of rows."""

    pagination_class: type[Keyset] = Keyset

    def lines(self, page: Page, ids: list[int]) -> Lines:
        raise NotImplementedError

    def paginate_queryset(self, queryset):
        """Return the page's rows in order, without rows deleted since their ids were found."""
        page = super().paginate_queryset(queryset) or ()
        ids = [row["pk"] for row in page]
        found = {pk: {"id": pk, **line} for pk, line in self.lines(page, ids)} if ids else {}
        return [found[pk] for pk in ids if pk in found]


class TaskList(_Rows):
    """Tasks of every kind and round, with outcomes; only managers see right answers."""

    operation, serializer_class, filters = "tasks", TaskData, filters.TaskFilters

    def get_queryset(self) -> QuerySet:
        return Task.objects.filter(stage__in=self.stages).values("pk")

    def lines(self, page: Page, ids: list[int]) -> Lines:
        edits, hidden = edits_of(self.stages, ids), {} if self.study.may.manage else {"gold": None}
        files = files_of(self.all_stages)
        return ((pk, export_rows.task_line(row, edits, files) | hidden) for pk, *row in fetch(TASKS, ids=ids))


class _Window(Keyset):
    """A page may hold fewer rows than requested, even none, and still have a `next` page, because it reads at most
    `WINDOW` ids.

    The view has the `study`; its `uncounted` selects only judgments that don't count, or only those that do, using just
    the window's slots.
    """

    def paginate_queryset(self, queryset, request, view=None):
        self.after = view.study.judgments_after  # the id before the study's first possible judgment
        if since := view.asked.get("created_at__gte"):
            first = fetch(FIRST_SINCE, since=since)[0][0]
            self.after = max(self.after, BEYOND if first is None else first - 1)
        cursor, newest_first = self.decode_cursor(request), view.asked.get("ordering") == "-id"
        start = (Judgment.objects.aggregate(newest=Max("pk"))["newest"] or 0) if newest_first else self.after
        at = int(cursor.position) if cursor and cursor.position else start
        self.back = bool(cursor and cursor.reverse)
        self.down = self.back != newest_first  # whether it goes towards smaller ids
        if self.down:
            first, last = max(at - WINDOW, self.after + 1), at
        else:
            first, last = min(max(at, self.after), BEYOND) + 1, min(max(at, self.after) + WINDOW, BEYOND)
        self.edge = first if self.down else last
        return super().paginate_queryset(self._within(queryset, first, last, view.uncounted), request, view)

    def _within(self, queryset: QuerySet, first: int, last: int, uncounted: bool | None) -> QuerySet:
        found = queryset.filter(pk__range=(first, last))
        if uncounted is None:
            return found
        counted = Slot.objects.filter(judgment__gte=first, judgment__lte=last).values("judgment")
        return found.exclude(pk__in=counted) if uncounted else found.filter(pk__in=counted)

    def _is_more(self) -> bool:
        """Return whether there may be rows beyond the other end of the window."""
        return self.edge > self.after + 1 if self.down else Judgment.objects.filter(pk__gt=self.edge).exists()

    def get_next_link(self) -> str | None:
        if self.back or self.has_next or not self._is_more():
            return super().get_next_link()
        return self.encode_cursor(Cursor(0, False, self.edge))

    def get_previous_link(self) -> str | None:
        if not self.back or self.has_previous or not self._is_more():
            return super().get_previous_link()
        return self.encode_cursor(Cursor(0, True, self.edge))


class JudgmentList(_Rows):
    """Every judgment, including revisions and surplus ones, in the order given."""

    operation, serializer_class, filters = "judgments", JudgmentData, filters.JudgmentFilters

    uncounted: bool | None = None

    def get_queryset(self) -> QuerySet:
        return Judgment.objects.filter(lease__task__stage__in=self.stages).values("pk", task=F("lease__task"))

    def filter_queryset(self, queryset: QuerySet) -> QuerySet:
        """Filter by id for one annotator; otherwise by windows, which select counted judgments themselves."""
        if "lease__annotator" not in self.asked:
            self.pagination_class, self.uncounted = _Window, self.asked.pop("counted_on__isnull", None)
        return super().filter_queryset(queryset)

    def lines(self, page: Page, ids: list[int]) -> Lines:
        """Return the lines. The number of an annotator's screen depends on all judgments of its task."""
        tasks = [judgment["task"] for judgment in page]
        edits, files = edits_of(self.stages, tasks), files_of(self.all_stages)
        rows = fetch(JUDGMENTS, tasks=tasks, ids=ids)
        return ((pk, export_rows.judgment_line(row, edits, files)) for pk, *row in rows)


class AnnotatorList(_Rows):
    """The annotators who have joined, by pseudonym, with their stages and counts of their judgments."""

    operation, serializer_class, filters = "annotators", AnnotatorData, filters.AnnotatorFilters

    def get_queryset(self) -> QuerySet:
        return Annotator.objects.filter(study=self.study).values("pk")

    def lines(self, page: Page, ids: list[int]) -> Lines:
        counts = judgment_counts(self.study, ids, self.by)
        return ((pk, export_rows.annotator_line(row) | counts[pk]) for pk, *row in fetch(ANNOTATORS, ids=ids))


class AdjudicationList(_Rows):
    """Adjudicators' decisions, with reasons."""

    operation, serializer_class, filters = "adjudications", AdjudicationData, filters.RowFilters

    def get_queryset(self) -> QuerySet:
        return Outcome.objects.filter(task__stage__in=self.stages, by="adjudicator").values("pk")

    def lines(self, page: Page, ids: list[int]) -> Lines:
        edits = edits_of(self.stages, ids)
        return ((pk, export_rows.adjudication_line(row, edits)) for pk, *row in fetch(ADJUDICATIONS, ids=ids))


class FlagList(_Rows):
    """Annotators' flags."""

    operation, serializer_class, filters = "flags", FlagData, filters.FlagFilters

    def get_queryset(self) -> QuerySet:
        return Flag.objects.filter(lease__task__stage__in=self.stages).values("pk")

    def lines(self, page: Page, ids: list[int]) -> Lines:
        return ((pk, export_rows.flag_line(row)) for pk, *row in fetch(FLAGS, ids=ids))
