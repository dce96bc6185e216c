"""The rows of a page as the lines of an export have them, each with its number: two queries, however many rows."""

from collections.abc import Callable, Iterable, Sequence

from annotation.exports import rows as export_rows
from annotation.figures.edit_names import Edits, edits_of
from annotation.models import Annotator, Flag, Judgment, Outcome, Stage, Task
from annotation.sql import fetch

SOME_JUDGMENTS = f"""
SELECT * FROM (SELECT judgment.id, {export_rows.JUDGMENTS} WHERE slot.task_id = ANY(%(tasks)s)) given
WHERE id = ANY(%(ids)s)
"""
SOME_TASKS = f"SELECT task.id, {export_rows.TASKS} WHERE task.id = ANY(%(ids)s)"
SOME_ADJUDICATIONS = f"SELECT task.id, {export_rows.ADJUDICATIONS} WHERE task.id = ANY(%(ids)s)"
SOME_FLAGS = f"SELECT flag.id, {export_rows.FLAGS} WHERE flag.id = ANY(%(ids)s)"
SOME_ANNOTATORS = (
    f"SELECT annotator.id, {export_rows.ANNOTATORS} WHERE annotator.id = ANY(%(ids)s) GROUP BY annotator.id"
)

Line = Callable[[Sequence], dict]
Given = Callable[[int], dict]  # an annotator's id → counts of what they gave


def judgments(page: Sequence[Judgment], stages: Sequence[Stage]) -> list[dict]:
    """`page` has the number of each one's task as `task`. Which screen of an annotator's an answer was on shows from
    the task's other judgments, so all of these are looked at.
    """
    tasks = [judgment.task for judgment in page]
    edits = edits_of(stages, tasks)
    rows = fetch(SOME_JUDGMENTS, tasks=tasks, ids=_ids(page)) if page else []
    return _lines(page, rows, lambda row: export_rows.judgment_line(row, edits))


def tasks(page: Sequence[Task], stages: Sequence[Stage], gold: bool) -> list[dict]:
    """`gold`: with the right answers; without, they are None."""
    edits = edits_of(stages, _ids(page))
    lines = _lines(page, fetch(SOME_TASKS, ids=_ids(page)), lambda row: export_rows.task_line(row, edits))
    return lines if gold else [{**line, "gold": None} for line in lines]


def adjudications(page: Sequence[Outcome], stages: Sequence[Stage]) -> list[dict]:
    edits: Edits = edits_of(stages, _ids(page))
    return _lines(
        page, fetch(SOME_ADJUDICATIONS, ids=_ids(page)), lambda row: export_rows.adjudication_line(row, edits)
    )


def flags(page: Sequence[Flag]) -> list[dict]:
    return _lines(page, fetch(SOME_FLAGS, ids=_ids(page)), export_rows.flag_line)


def annotators(page: Sequence[Annotator], given: Given) -> list[dict]:
    return [
        {**line, **given(line["id"])}
        for line in _lines(page, fetch(SOME_ANNOTATORS, ids=_ids(page)), export_rows.annotator_line)
    ]


def _ids(page: Iterable) -> list[int]:
    return [row.pk for row in page]


def _lines(page: Sequence, rows: Iterable[Sequence], line: Line) -> list[dict]:
    """In the page's order. What has gone since the page was found is left out."""
    found = {row[0]: {"id": row[0], **line(row[1:])} for row in rows}
    return [found[row.pk] for row in page if row.pk in found]
