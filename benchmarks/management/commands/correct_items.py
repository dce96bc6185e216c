"""`manage.py correct_items BENCHMARK FILE [--images DIR]`: change texts or images of items, or withdraw items."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.corrections.work import Correcting, queue_corrections
from benchmarks.management.files import counted
from benchmarks.management.orders import BY, run_here
from benchmarks.management.reporting import benchmark_named, write_problems
from benchmarks.models import JobState


class Command(BaseCommand):
    help = "Make a file's corrections, all or none, with a line for each problem."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument("file", type=Path, help="CSV or JSON Lines: id, place, text, file or action, reason")
        parser.add_argument("--images", type=Path, help="folder or archive with the new pictures that rows name")

    def handle(self, *, benchmark, file, images, **options):
        found = benchmark_named(benchmark)
        for path in filter(None, (file, images)):
            if not path.exists():
                raise CommandError(f"There is no file {path}.")
        paths = {"file": file.absolute(), "images": images and images.absolute()}
        job = queue_corrections(benchmark=found, by=BY, foreground=True, **paths)
        job = run_here(job, Correcting.do, self.stderr)
        if job.state != JobState.DONE:
            write_problems(job, self.stdout)
            raise CommandError(f"Nothing was corrected: {counted(job.problem_count)}")
        self.stdout.write(f"{job.report['corrections']:,} corrections of {job.report['items']:,} items.")
