"""Events for webhooks, written in the same transaction as the change, so that nothing rolled back is sent.

Most events follow from the audit trail (`follow`). Judgments and outcomes have no audit events: the room that writes
them calls `write`. Events hold ids, which a receiver looks up with its own permissions, and nothing that identifies a
person or that annotators must not see. `annotation/webhooks` sends them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Model

from annotation.models import Annotator, Release, Stage, Study, Task, Webhook
from annotation.sql import execute
from annotation.wording import pseudonym
from benchmarks.models import Benchmark, Event, Item, Job

NewEvent = tuple[str, Mapping[str, Any]]  # its type and data

# The events that a study's webhooks can get, as offered in their form.
OF_STUDY = {
    "judgment.made": "An annotator has given an answer",
    "judgment.revised": "An annotator has changed an answer",
    "judgment.withdrawn": "An annotator has undone an answer",
    "item.decided": "An item’s task has a new or changed outcome",
    "item.reopened": "An item’s task is open again",
    "item.flagged": "An annotator has reported a problem with an item",
    "item.reported": "A reader of a release has reported an error in an item",
    "item.corrected": "An item’s words or pictures were corrected, or it was put back",
    "item.withdrawn": "An item was withdrawn",
    "annotator.joined": "An annotator has joined",
    "annotator.completed": "An annotator has reached the end and was shown the completion code",
    "annotator.screened_out": "An annotator was screened out",
    "annotator.left": "An annotator has left",
    "annotator.returned": "An annotator has come back",
    "annotator.excluded": "An annotator was excluded; the event lists the judgments that no longer count",
    "annotator.reinstated": "An annotator was reinstated; the event lists the judgments that count again",
    "annotator.erased": "An annotator’s personal data was erased",
    "stage.opened": "A stage was opened again",
    "stage.closed": "A stage was closed",
    "stage.estimated": "Outcomes of a stage were estimated again",
    "stage.items_added": "A stage has new items from an import",
    "study.opened": "The study was opened again",
    "study.paused": "The study was paused",
    "study.closed": "The study was closed",
    "export.ready": "An export is ready",
    "export.failed": "An export has failed",
    "release.made": "A release is ready",
    "release.failed": "A release could not be built",
}
OF_BENCHMARK = {
    "item.corrected": OF_STUDY["item.corrected"],
    "item.withdrawn": OF_STUDY["item.withdrawn"],
    "import.finished": "Items or new candidates were imported",
    "import.failed": "An import into this benchmark has failed",
    "predictions.imported": "Predictions of a model were imported",
    "benchmark.scored": "A model has scored the benchmark",
}
TEST = "webhook.test"

# Kind of subject and verb of an audit event → type. Those of jobs begin with the kind of job.
_FOLLOWS = {
    ("study", "moved to open"): "study.opened",
    ("study", "moved to paused"): "study.paused",
    ("study", "moved to closed"): "study.closed",
    ("study", "joined"): "annotator.joined",
    ("stage", "moved to open"): "stage.opened",
    ("stage", "moved to closed"): "stage.closed",
    ("stage", "estimated"): "stage.estimated",
    ("stage", "took in"): "stage.items_added",
    ("task", "flagged"): "item.flagged",
    ("task", "adjudicated"): "item.decided",
    ("task", "sent back"): "item.reopened",
    ("task", "withdrew adjudication"): "item.reopened",
    ("annotator", "left"): "annotator.left",
    ("annotator", "came back"): "annotator.returned",
    ("annotator", "excluded"): "annotator.excluded",
    ("annotator", "reinstated"): "annotator.reinstated",
    ("annotator", "erased personal data"): "annotator.erased",
    ("annotator", "was given a code"): "annotator.completed",
    ("release", "froze"): "release.made",
    ("study", "got a reader's report"): "item.reported",
    ("item", "corrected"): "item.corrected",
    ("item", "withdrew"): "item.withdrawn",
    ("benchmark", "imported"): "import.finished",
    ("benchmark", "imported new candidates"): "import.finished",
    ("benchmark", "took in predictions"): "predictions.imported",
    ("benchmark", "scored"): "benchmark.scored",
    ("export job", "moved to done"): "export.ready",
    ("export job", "moved to failed"): "export.failed",
    ("release job", "moved to failed"): "release.failed",
    ("import job", "moved to failed"): "import.failed",
}
_CODES = {"finished": "annotator.completed", "screened_out": "annotator.screened_out"}  # kind of code → type
_KEPT = ("job", "run", "items", "judgments", "corrections", "report")  # keys of an audit event's data: ids and counts

_WRITE = """
INSERT INTO annotation_delivery (webhook_id, type, data)
SELECT webhook.id, event.type, event.data::jsonb
FROM unnest(%(types)s::text[], %(data)s::text[]) WITH ORDINALITY AS event (type, data, place)
JOIN annotation_webhook webhook
  ON (webhook.study_id = %(study)s::bigint OR webhook.benchmark_id = %(benchmark)s::bigint)
  AND (webhook.types = '{}' OR event.type = ANY(webhook.types))
ORDER BY event.place, webhook.id
FOR KEY SHARE OF webhook
"""


def write(events: Sequence[NewEvent], *, study: int | None = None, benchmark: int | None = None) -> None:
    """Store the events in this order for each webhook of the study or benchmark (its id) that wants them, in a single
    statement, which does nothing without a webhook. It locks the webhooks: deleting one waits for the commit, which
    checks the foreign keys of these events.
    """
    types, data = [kind for kind, _ in events], [json.dumps(dict(data)) for _, data in events]
    execute(_WRITE, types=types, data=data, study=study, benchmark=benchmark)


def of_task(kind: str, task: Task, stage: Stage, **more: Any) -> NewEvent:
    """Return an event about a task in the stage."""
    return kind, {"study": stage.study_id, "stage": stage.position, "task": task.pk, **more}


def follow(event: Event, subject: Model) -> None:
    """Write the webhook event that corresponds to an audit event, if there is one and somebody gets it."""
    name = str(subject._meta.model_name)
    key = f"{subject.kind} {name}" if isinstance(subject, Job) else name
    kind = _FOLLOWS.get((key, event.verb))
    if event.verb == "was given a code":
        kind = _CODES.get(event.data["kind"])
    if kind is None or not Webhook.objects.exists():
        return
    owner, data = _about(subject)
    if "annotator" in event.data:
        data |= {"annotator": _pseudonym(event.data["annotator"])}
    data |= {name: event.data[name] for name in _KEPT if name in event.data}
    if any(owner.values()):
        write([(kind, data)], **owner)


def _about(subject: Model) -> tuple[dict[str, int | None], dict[str, Any]]:
    """Return the study or benchmark that the subject belongs to, and the subject's ids in the API."""
    study: int | None
    data: dict[str, Any]
    match subject:
        case Study():
            study, data = subject.pk, {}
        case Stage():
            study, data = subject.study_id, {"stage": subject.position}
        case Task():
            study, data = subject.stage.study_id, {"stage": subject.stage.position, "task": subject.pk}
        case Annotator():
            study, data = subject.study_id, {"annotator": subject.pseudonym}
        case Release():
            study, data = subject.study_id, {"release": subject.pk}
        case Benchmark():
            return {"benchmark": subject.pk}, {"benchmark": subject.pk}
        case Item():
            return {"benchmark": subject.benchmark_id}, {"benchmark": subject.benchmark_id, "item": subject.key}
        case Job(kind="import"):
            stored = Benchmark.objects.filter(name=subject.params["name"]).values_list("pk", flat=True)
            options = subject.params.get("options", {})
            found = None if options.get("check_only") or options.get("look") else stored.first()
            return {"benchmark": found}, {"benchmark": found, "job": subject.pk}
        case Job():
            study, data = subject.params.get("study"), {"job": subject.pk}
        case _:
            return {}, {}
    return {"study": study}, {"study": study, **data}


def _pseudonym(annotator: int) -> str:
    return pseudonym(Annotator.objects.values_list("number", flat=True).get(pk=annotator))
