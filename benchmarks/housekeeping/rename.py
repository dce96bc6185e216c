"""Give a benchmark another name; its studies, releases and jobs stay as they are."""

from django.db import IntegrityError, transaction

from benchmarks import audit
from benchmarks.imports.order import benchmark_name
from benchmarks.models import Benchmark
from benchmarks.records import Problem, Refused


@transaction.atomic
def rename(*, benchmark: Benchmark, name: str, by: str) -> None:
    """Nothing happens if this is its name. Raises Refused if it cannot be, or another benchmark has it."""
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
