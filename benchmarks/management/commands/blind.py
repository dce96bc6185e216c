"""`manage.py blind BENCHMARK`: accuracy of models without images; `--refine A B --out FILE` reduces it."""

import json
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.caption_only import refine as caption_only_refine
from benchmarks.caption_only import shares
from benchmarks.management.reporting import benchmark_named
from benchmarks.models import Benchmark, Run
from benchmarks.runs import figures as run_figures


class Command(BaseCommand):
    help = "Report how well captions by themselves answer a benchmark, from its blind runs. See docs/guide/scoring.md."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument("--refine", nargs=2, type=int, metavar="RUN", help="the numbers of two blind runs")
        parser.add_argument("--out", type=Path, help="with --refine: the JSON file for the keys of kept items")
        parser.add_argument("--seed", type=int, default=0, help="with --refine: seed of the random draw")

    def handle(self, *, benchmark, refine, out, seed, **rest):
        found = benchmark_named(benchmark)
        if refine:
            self.refine(found, refine, out, seed)
        else:
            self.list_shares(found)

    def list_shares(self, benchmark: Benchmark) -> None:
        runs = list(benchmark.runs.filter(blind=True, study=None))
        if not runs:
            raise CommandError(
                "No model without images has scored it. Score it with a language model (manage.py score)."
            )
        run_figures.compute_missing(run_figures.of_runs(runs).missing)
        figures = run_figures.of_runs(runs).figures
        found = [part for run in runs if run.pk in figures for part in shares.parts_of(run, figures[run.pk])]
        whole = [part for part in found if part.name == shares.WHOLE]
        if not whole:
            self.stdout.write("No blind run answers this benchmark's main questions.")
        for part in whole:
            self.stdout.write(f"run {part.run} · {part}")
            if part.warns:
                self.stdout.write(f"WARNING: {part.warning}")

    def refine(self, benchmark: Benchmark, numbers: list[int], out: Path | None, seed: int) -> None:
        runs = {run.pk: run for run in Run.objects.filter(benchmark=benchmark, pk__in=numbers)}
        if out is None or not out.absolute().parent.is_dir():
            raise CommandError("Use --out to name the file to write, in an existing folder.")
        if missing := [str(number) for number in numbers if number not in runs]:
            raise CommandError(f"The benchmark does not have run {' or run '.join(missing)}.")
        try:
            keys, found = caption_only_refine.refined(runs[numbers[0]], runs[numbers[1]], seed)
        except caption_only_refine.CannotRefine as refusal:
            raise CommandError(str(refusal)) from None
        refinement = {"runs": numbers, "seed": seed, "before": found.before, "after": found.after}
        refinement |= {"dropped": dict(found.reasons), "kept": [keys[place] for place in found.kept]}
        out.write_text(json.dumps(refinement, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        self.stdout.write(f"{len(found.kept):,} of {len(keys):,} items are kept; their keys are in {out}.")
