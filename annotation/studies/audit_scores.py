"""A model's scores as an audit's side information: taken from a run, hashed and kept before the first judgment."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from annotation.measures.audits.order import scores_hash
from annotation.models import Stage, Task
from annotation.sql import execute
from benchmarks import audit
from benchmarks.models import Run, RunOrigin
from benchmarks.predictions.kinds import KINDS
from benchmarks.runs.answers import answers_by_run

KEPT = "kept the audit's scores"  # the verb of the event
OF_TASKS = """
UPDATE annotation_task SET score = given.score
FROM unnest(%(items)s::bigint[], %(scores)s::float8[]) given(item, score)
WHERE stage_id = %(stage)s AND item_id = given.item
"""


class CannotUse(ValueError):
    """The run's scores cannot be used; the message explains why."""


def keep_scores(stage: Stage, number: int) -> None:
    """Keep the score that the run with this number gives each item, once the stage has its order. Raises CannotUse."""
    run = Run.objects.select_related("benchmark").filter(pk=number).first()
    if run is None:
        raise CannotUse("The model for the audit’s scores has been deleted. Choose another one under More settings.")
    if run.benchmark_id != stage.study.benchmark_id:
        raise CannotUse(
            f"{run.title} answers “{run.benchmark.name}”, not the benchmark of this study. Choose another model under "
            "More settings."
        )
    tasks = Task.objects.filter(stage=stage).order_by("rank").values_list("item", "item__key")
    keys = dict(tasks)  # one entry per question, so an item can occur several times
    scores = scores_of(run, list(keys))
    stage.scores_of = f"{run.title} ({run.get_origin_display().lower()} {run.made_at:%Y-%m-%d}, run {run.pk})"
    stage.scores_sha256 = scores_hash(list(keys.values()), scores)
    stage.save(update_fields=["scores_of", "scores_sha256"])
    execute(OF_TASKS, items=list(keys), scores=scores, stage=stage.pk)
    audit.record(by="app", verb=KEPT, subject=stage, run=run.pk, title=run.title, sha256=stage.scores_sha256)


def scores_of(run: Run, items: Sequence[int]) -> list[float]:
    """Return each item's smallest margin over its questions (or whether all are right, if the run has no scores),
    divided by the largest. Raises CannotUse if the run lacks answers.
    """
    answered = answers_by_run([run], {run.kind: tuple(KINDS[run.kind].measured.questions)}).get(run.pk)
    right, margin = answered.about(np.array(items)) if answered else (np.full(len(items), -1), np.array([]))
    if missing := int((right < 0).sum()):
        raise CannotUse(f"{run.title} has no answers to {missing:,} of the {len(items):,} items. Choose another model.")
    found = margin if np.isfinite(margin).all() else right.astype(float)
    return [float(one) for one in found / (np.abs(found).max() or 1)]


def choices(benchmark: int) -> list[tuple[str, list[tuple[int, str]]]]:
    """Return each benchmark's runs that an audit can use, newest first, for a form; this benchmark's come first. Makes
    one query.
    """
    runs = Run.objects.filter(study=None).exclude(origin=RunOrigin.REPORTED).select_related("benchmark")
    ordered = sorted(runs.order_by("benchmark__name", "-pk"), key=lambda run: run.benchmark_id != benchmark)
    return [
        (name, [(run.pk, f"{run.title} ({run.made_at:%Y-%m-%d})") for run in of])
        for name, of in groupby(ordered, key=lambda run: run.benchmark.name)
    ]
