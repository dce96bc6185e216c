"""Archiving studies and benchmarks, which only hides them from lists, and renaming benchmarks."""

from django.db import IntegrityError, transaction
from django.db.models import Model

from benchmarks import audit
from benchmarks.imports.order import benchmark_name
from benchmarks.models import Benchmark
from benchmarks.records import Problem, Refused


@transaction.atomic
def set_archived(*, thing: Model, archived: bool, by: str) -> None:
    """Archive a study or a benchmark, or restore it to the list; idempotent."""
    found = type(thing)._default_manager.filter(pk=thing.pk, archived=not archived)
    if found.update(archived=archived):
        audit.record(by=by, verb="archived" if archived else "took out of the archive", subject=thing)


@transaction.atomic
def rename(*, benchmark: Benchmark, name: str, by: str) -> None:
    """Rename it, unless this is its name. Raises Refused if the name is invalid or another benchmark has it."""
    before, benchmark.name = benchmark.name, benchmark_name(name)
    if benchmark.name == before:
        return
    try:
        with transaction.atomic():
            benchmark.save(update_fields=["name"])
    except IntegrityError:
        advice = "Another benchmark has this name. Choose another one."
        raise Refused([Problem("WRONG_VALUE", "", None, "name", advice)]) from None
    audit.record(by=by, verb="renamed", subject=benchmark, before=before, after=benchmark.name)
