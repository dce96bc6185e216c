"""Runs beside those that models make: figures that a source printed, and taking any run away."""

import hashlib
from collections.abc import Sequence

from django.db import transaction

from benchmarks import audit
from benchmarks.models import Benchmark, Run, RunOrigin
from benchmarks.predictions.kinds import KINDS
from benchmarks.records import Problem, Refused
from benchmarks.runs.reported import Reported, digest


@transaction.atomic
def enter_reported(*, benchmark: Benchmark, kind: str, rows: Sequence[Reported], by: str, created_by=None) -> list[Run]:
    """A run for each row that is not there yet. Refused (ALREADY_IMPORTED) where all of them are."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    digests = {hashlib.sha256(digest(row, KINDS[kind]).encode()).hexdigest(): row for row in rows}
    there = set(benchmark.runs.filter(origin=RunOrigin.REPORTED, digest__in=digests).values_list("digest", flat=True))
    new = {name: row for name, row in digests.items() if name not in there}
    if not new:
        advice = f"“{benchmark.name}” shows these {len(digests):,} rows already; there is nothing to do."
        raise Refused([Problem("ALREADY_IMPORTED", "", None, "", advice)])
    made = Run.objects.bulk_create(
        Run(
            benchmark=benchmark, origin=RunOrigin.REPORTED, kind=kind, title=row.model, source=row.source,
            digest=name, figures=row.told(), created_by=created_by,
        )
        for name, row in new.items()
    )  # fmt: skip
    audit.record(by=by, verb="entered reported figures", subject=benchmark, rows=len(made))
    return made


@transaction.atomic
def delete_run(*, run: Run, by: str) -> None:
    """With its predictions. What a model made of images and captions is kept: another run costs nothing."""
    audit.record(
        by=by, verb="deleted a run", subject=run.benchmark,
        run=run.pk, title=run.title, origin=run.origin, source=run.source,
    )  # fmt: skip
    run.predictions.all()._raw_delete("default")
    run.delete()
