"""Find annotators who may be copying a model's answers: a warning sign on their pages, and nothing more."""

import hashlib
from dataclasses import asdict
from typing import Any

from annotation.comparison.items import comparable, table
from annotation.comparison.question_map import asked_in, people_right
from annotation.figures import cache
from annotation.measures.copied_answers import LEVEL, Given, followed, suspects
from annotation.models import Kind, Slot, Stage
from annotation.wording import pseudonym
from benchmarks.jobs.jobs import Tell, no_progress

KIND = "copying"


@cache.computes(KIND)
def copying(stage: Stage, key: str = "", tell: Tell = no_progress) -> dict[str, Any]:
    """Return the suspects, and how many annotators and models were compared. `key` changes with the models."""
    runs = comparable(stage)
    slots = Slot.objects.filter(stage=stage, judgment__isnull=False, task__live=True, task__kind=Kind.JUDGE)
    rows = slots.values_list("task", "task__question", "task__options", "annotator__number", "judgment__answer")
    given = []
    for task, question, options, annotator, answer in rows:
        right = people_right(stage.protocol, question, tuple(options), answer)
        if right is not None:
            given.append(Given(task, annotator, right))
    whole = table(stage, runs)
    models = {
        f"{run.title} ({run.pk})": {
            task: bool(right) for task, right in zip(whole.tasks.tolist(), of.tolist(), strict=True) if right >= 0
        }
        for run, of in zip(runs, whole.models, strict=True)
    }
    found = followed(given, models)
    names = {f"{run.title} ({run.pk})": run.title for run in runs}
    return {
        "suspects": [{**asdict(one), "model": names[one.model]} for one in suspects(found, len(models))],
        "annotators": len({one.annotator for one in found}),
        "models": len(models),
        "level": LEVEL,
    }


def signs(stage: Stage) -> dict[str, Any] | None:
    """Return the signs for a stage's page; None if no model answers its questions, or nobody has been compared."""
    if not asked_in(stage.protocol):
        return None
    runs = comparable(stage)
    if not runs:
        return None
    key = hashlib.sha256(",".join(str(run.pk) for run in runs).encode()).hexdigest()[:32]
    found = cache.latest(stage, KIND, key=key)
    if not found.data or not found.data["annotators"]:
        return None
    rows = [{**one, "who": pseudonym(one["annotator"])} for one in found.data["suspects"]]
    return {**found.data, "stage": stage, "suspects": rows}
