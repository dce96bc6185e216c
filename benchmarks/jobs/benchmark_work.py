"""Common parts of all work on a benchmark: its job, a benchmark that may have been deleted, and how it ends."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Job
from benchmarks.records import Problem, Refused
from workers.models.refusals import CannotScore


@contextmanager
def refused() -> Iterator[None]:
    """Turn a model's CannotScore into Refused, which forms and jobs show."""
    try:
        yield
    except CannotScore as cannot:
        raise Refused([Problem(cannot.code, "", None, "", cannot.advice)]) from cannot


def benchmark_gone() -> CannotScore:
    return CannotScore("BENCHMARK_GONE", "The benchmark has been deleted in the meantime.")


class BenchmarkWork:
    """One job's work. A subclass has `run`, which ends with `finish`."""

    def __init__(self, job: Job, progress: jobs.Progress):
        self.job, self.progress, self.began = job, progress, time.monotonic()
        benchmark = Benchmark.objects.filter(pk=job.params["benchmark"]).first()
        if benchmark is None:
            raise benchmark_gone()
        self.benchmark = benchmark

    @classmethod
    def do(cls, job: Job, progress: jobs.Progress) -> None:
        """Do the work, as `jobs.jobs.run` calls it. Raises Refused, Cancelled."""
        with refused():
            cls(job, progress).run()

    def run(self) -> None:
        raise NotImplementedError

    @property
    def by(self) -> str:
        return self.job.params["by"]

    @property
    def seconds(self) -> float:
        """Return the seconds since it began."""
        return round(time.monotonic() - self.began, 1)

    @contextmanager
    def storing(self) -> Iterator[None]:
        """Open a transaction that locks the benchmark's row, so the second of two identical jobs finds the first one's
        run. Raises CannotScore: BENCHMARK_GONE."""
        with transaction.atomic():
            if not Benchmark.objects.select_for_update(no_key=True).filter(pk=self.benchmark.pk).exists():
                raise benchmark_gone()
            yield

    def finish(self, report: dict) -> None:
        jobs.finish_job(job=self.job, by=self.by, report=report | {"seconds": self.seconds})
