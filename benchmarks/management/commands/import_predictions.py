"""`manage.py import_predictions BENCHMARK FILE… --model NAME --source WHERE`: import a model's answers."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.management.files import counted
from benchmarks.management.orders import BY, add_options, run_here, values_of
from benchmarks.management.reporting import benchmark_named, columns_of, text_of, write_problems
from benchmarks.models import Job, JobState
from benchmarks.predictions.cut_captions import in_words
from benchmarks.records import Refused
from benchmarks.runs import figures as run_figures
from benchmarks.runs.import_predictions import PredictionsImport, PredictionsOrder, queue_predictions


class Command(BaseCommand):
    help = "Import predictions made elsewhere, all or nothing, with a line for each problem."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument(
            "files", type=Path, nargs="+", metavar="FILE", help="files of one model; see docs/reference/predictions.md"
        )
        add_options(parser, PredictionsOrder, {"mapping"})
        parser.add_argument("--mapping", type=Path, metavar="FILE", help="columns' meanings, for your own tables")

    def handle(self, *, benchmark, files, mapping, **options):
        found = benchmark_named(benchmark)
        for file in files:
            if not Path(file).is_file():
                raise CommandError(f"There is no file {file}.")
        if mapping:
            options["mapping"] = text_of(mapping)
        order, paths = PredictionsOrder(**values_of(PredictionsOrder, options)), [Path(f).absolute() for f in files]
        try:
            job = queue_predictions(benchmark=found, order=order, files=paths, by=BY, foreground=True)
        except Refused as refusal:
            raise CommandError(refusal.problems[0].advice) from None
        self.answer(run_here(job, PredictionsImport.do, self.stderr))

    def answer(self, job: Job) -> None:
        if job.state == JobState.DONE:
            if "run" in job.report:
                run_figures.compute_missing([job.report["run"]])
            self.stdout.write("\n".join(summary(job.report)))
            return
        write_problems(job, self.stdout)
        raise CommandError(f"Nothing was stored: {counted(job.problem_count)}")


def summary(report: dict) -> list[str]:
    if report.get("look"):
        return columns_of(report)
    lines = [
        f"Run {report['run']}: {report['answers']:,} answers of {report['model']} stored, from {report['source']}.",
        f"Items {report['items']:,}: {report['matched']:,} matched ({report['by_id']:,} by id, "
        f"{report['by_captions']:,} by captions), {report['unanswered']:,} not.",
        f"Answers without a matching item: {report['unmatched']:,}",
        *(f"  {one['file']} · {one['row']} · {one['reason']}: {one['item']}" for one in report["unmatched_first"]),
    ]
    if report["left_out"]:
        lines.append(f"Skipped as incomplete: {report['left_out']:,}")
    return [*lines, *in_words(report["cut"]), f"Done in {report['seconds']:,} s."]
