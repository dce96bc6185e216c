"""Reading the API in tests, through Django's client."""

from collections.abc import Iterator

from django.contrib.auth.models import User
from django.urls import reverse

from annotation.adjudication import decisions
from annotation.exports import rows as export_rows
from annotation.models import Task

LISTS = ["api-task-list", "api-judgment-list", "api-annotator-list", "api-adjudication-list", "api-flag-list"]
OF_STUDY = [*LISTS, "api-study-detail", "api-stage-list", "api-study-figures", "api-study-agreement"]


def told(client, name: str, pk: int, expects: int = 200, **asked):
    answer = client.get(reverse(name, args=[pk]), asked)
    assert answer.status_code == expects, answer.content
    return answer.json()


def refused(client, name: str, pk: int, field: str, **asked) -> str:
    """What a refusal (400) says of the filter."""
    errors = told(client, name, pk, expects=400, **asked)["errors"]
    return next(one["remedy"] for one in errors if one["field"] == field)


def rows(client, name: str, pk: int, **asked) -> list[dict]:
    """Of all pages."""
    page = told(client, name, pk, **asked)
    found = page["results"]
    while page["next"]:
        page = client.get(page["next"]).json()
        found += page["results"]
    return found


def adjudicate(task: Task, by: User) -> None:
    decisions.decide(
        task=task, answer="none", note="Both are wrong.", seen=decisions.seen(task), by="test", adjudicator=by
    )


def exported_judgments(stages, edits) -> Iterator[dict]:
    """The rows of an export's judgments, which are written column by column."""
    for table in export_rows.judgments(stages, edits):
        yield from table.to_pylist()
