"""`manage.py import_ratings BENCHMARK --protocol NAME --ratings FILE --source WHERE`: turn judgments into a study."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotation.imported_ratings.order import RatingsOrder, queue_ratings
from annotation.imported_ratings.study import RatingsImport
from annotation.management import rating_files
from annotation.management.commands.create_study import owner_of, published
from annotation.protocols import library
from annotation.protocols.registry import is_known
from benchmarks.management.files import counted
from benchmarks.management.orders import BY, add_options, run_here, values_of
from benchmarks.management.reporting import benchmark_named, columns_of, problem_line, write_problems
from benchmarks.models import Job, JobState
from benchmarks.records import Refused


class Command(BaseCommand):
    help = "Turn judgments made elsewhere into a study, all or nothing, with a line for each problem."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument("--ratings", type=Path, required=True, help="the file of ratings")
        parser.add_argument(
            "--protocol", required=True, help="what was asked: the path of a protocol file, a library protocol, "
            "or a published one as NAME@VERSION",
        )  # fmt: skip
        parser.add_argument("--name", default="", help="the study's name; default: the benchmark's name and the source")
        add_options(parser, RatingsOrder, {"name", "protocol", "mapping"})
        parser.add_argument("--mapping", type=Path, metavar="FILE", help="the meaning of each column, as JSON")
        parser.add_argument("--owner", metavar="USERNAME", help="the user who owns the study")

    def handle(self, *, benchmark, ratings, protocol, name, mapping, owner, **options):
        found = benchmark_named(benchmark)
        if not ratings.is_file():
            raise CommandError(f"There is no file {ratings}.")
        if not ("@" in protocol and is_known(protocol)) and protocol not in library.names():
            protocol = published(protocol, self.stdout)
        options |= {"name": name or f"{found.name}, {options['source']}"[:120], "protocol": protocol}
        options["mapping"] = rating_files.mapping_in(mapping)
        order = RatingsOrder(**values_of(RatingsOrder, options))
        try:
            job = queue_ratings(
                benchmark=found, order=order, files=[ratings.absolute()], by=BY, created_by=owner_of(owner),
                foreground=True,
            )  # fmt: skip
        except Refused as refusal:
            raise CommandError(refusal.problems[0].advice) from None
        self.answer(run_here(job, RatingsImport.do, self.stderr))

    def answer(self, job: Job) -> None:
        if job.state != JobState.DONE:
            write_problems(job, self.stdout)
            raise CommandError(f"Nothing was stored: {counted(job.problem_count)}")
        self.stdout.write("\n".join(summary(job.report)))


def summary(report: dict) -> list[str]:
    if report.get("look"):
        return columns_of(report)
    lines = [
        f"Study {report['study']}, {report['name']}: {report['judgments']:,} judgments of {report['tasks']:,} tasks by "
        f"{report['annotators']:,} annotators, from {report['source']}.",
        f"{report['kept']:,} kept, {report['dropped']:,} dropped, {report['open']:,} open; "
        f"{report['unrated']:,} tasks without ratings.",
    ]
    if not report["named"]:
        lines.append("The file doesn’t name annotators: each item’s are numbered, and are not the same people.")
    if report["left_out"]:
        lines.append(f"Skipped rows: {report['left_out']:,}")
    return [*lines, *(f"note: {problem_line(note)}" for note in report["notes"]), f"Done in {report['seconds']:,} s."]
