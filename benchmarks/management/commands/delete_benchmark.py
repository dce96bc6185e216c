"""`manage.py delete_benchmark BENCHMARK`: delete a benchmark that no study uses, with images that nothing else uses."""

from django.core.management.base import BaseCommand, CommandError

from benchmarks.housekeeping.delete import CannotDelete, delete_benchmark
from benchmarks.management.reporting import benchmark_named


class Command(BaseCommand):
    help = "Delete a benchmark that no study uses. Images that other benchmarks use are kept."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")

    def handle(self, *, benchmark, yes, **options):
        found = benchmark_named(benchmark)
        if not yes and input("Type the benchmark's name again to delete it: ") != found.name:
            raise CommandError("That is not the benchmark's name. Nothing was deleted.")
        try:
            went = delete_benchmark(benchmark=found, by="command")
        except CannotDelete as why:
            raise CommandError(str(why)) from None
        self.stdout.write("Deleted {items:,} items and {images:,} images ({bytes:,} bytes).".format(**went))
