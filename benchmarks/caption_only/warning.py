"""A summary of a benchmark's blind runs, for its page and for everything exported from it."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.caption_only.shares import Part, in_words, parts_of
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Run
from benchmarks.runs import figures as run_figures
from benchmarks.runs.answers import runs_of


@dataclass(frozen=True, slots=True)
class Blindness:
    """`missing`: runs whose scores the worker is still computing; `runs`: the newest of each model, by title."""

    runs: Sequence[Run]
    found: Sequence[Part]
    missing: int

    @property
    def warnings(self) -> list[str]:
        return in_words(self.found)

    @property
    def scored(self) -> list[Run]:
        """Return runs that a refinement may use."""
        return [run for run in self.runs if run.pk in {part.run for part in self.found}]


def blindness_of(benchmark: Benchmark | int, whole: bool = False) -> Blindness:
    """Summarise blind runs; one query if there are none. `whole`: also compute what pages leave to workers."""
    runs = [run for run in runs_of(benchmark) if run.blind]
    figures = {run.pk: run_figures.compute(run) for run in runs} if whole else {}
    missing: list[int] = []
    if runs and not whole:
        found = run_figures.of_runs(runs)
        figures, missing = found.figures, found.missing
    if asked := run_figures.to_be_asked(missing):
        jobs.publish_after_commit(run_figures.compute_figures, asked)
    parts = [part for run in runs if run.pk in figures for part in parts_of(run, figures[run.pk])]
    return Blindness(runs, parts, len(missing))
