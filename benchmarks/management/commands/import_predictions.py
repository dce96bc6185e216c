"""`manage.py import_predictions BENCHMARK FILE… --model NAME --source WHERE`: a model's answers from elsewhere."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.formats import text
from benchmarks.jobs import jobs
from benchmarks.management.reporting import ProgressLine, benchmark_named, counted, write_problems
from benchmarks.models import Job, JobState
from benchmarks.runs import figures as run_figures
from benchmarks.runs import import_predictions

BY = "command"


class Command(BaseCommand):
    help = "Import predictions made elsewhere: all that match, or nothing, with a line for each problem."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument(
            "files", type=Path, nargs="+", metavar="FILE", help="files of one model; see docs/reference/predictions.md"
        )
        parser.add_argument("--model", required=True, help="the model's name in tables")
        parser.add_argument("--source", required=True, help="where the predictions come from: a repository or a paper")
        parser.add_argument("--kind", choices=[kind.name for kind in import_predictions.TAKEN], default="")
        parser.add_argument("--skip-incomplete", action="store_true", help="skip items that lack an answer")
        parser.add_argument("--blind", action="store_true", help="the model saw no image")

    def handle(self, *, benchmark, files, model, source, kind, skip_incomplete, blind, **rest):
        found = benchmark_named(benchmark)
        model, source = checked("model", model, 300), checked("source", source, 500)
        for file in files:
            if not Path(file).is_file():
                raise CommandError(f"There is no file {file}.")
        job = import_predictions.queue_predictions(
            benchmark=found, files=[Path(file).absolute() for file in files], model=model,
            source=source, kind=kind, skip_incomplete=skip_incomplete, blind=blind, by=BY, foreground=True,
        )  # fmt: skip
        progress = ProgressLine(self.stderr)
        job = jobs.run(job_id=job.pk, by=BY, work=import_predictions.take_in, tell=progress.show)
        progress.end()
        self.answer(job)

    def answer(self, job: Job) -> None:
        if job.state == JobState.DONE:
            run_figures.compute_missing([job.report["run"]])
            self.stdout.write("\n".join(summary(job.report)))
            return
        write_problems(job, self.stdout)
        raise CommandError(f"Nothing was stored: {counted(job.problem_count)}")


def checked(name: str, given: str, most: int) -> str:
    found = text.on_one_line(given)
    if not found or len(found) > most:
        raise CommandError(f"Give a --{name} of 1 to {most} characters, on one line.")
    return found


def summary(report: dict) -> list[str]:
    lines = [
        f"Run {report['run']}: {report['answers']:,} answers of {report['model']} stored, from {report['source']}.",
        f"Items {report['items']:,}: {report['matched']:,} answered ({report['by_id']:,} by id, "
        f"{report['by_captions']:,} by captions), {report['unanswered']:,} not.",
        f"Answers without a matching item: {report['unmatched']:,}",
        *(f"  {one['file']} · {one['row']} · {one['reason']}: {one['item']}" for one in report["unmatched_first"]),
    ]
    if report["left_out"]:
        lines.append(f"Skipped as incomplete: {report['left_out']:,}")
    return [*lines, f"Done in {report['seconds']:,} s."]
