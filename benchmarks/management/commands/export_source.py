"""`manage.py export_source NAME --out DIR`: a benchmark in the layout of the files that it was imported from."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.exports import source_layout
from benchmarks.models import Benchmark


class Command(BaseCommand):
    help = "Write a benchmark as its source had it: the same files, rows and order."

    def add_arguments(self, parser):
        parser.add_argument("name", help="the benchmark's name")
        parser.add_argument("--out", type=Path, required=True, help="a new folder")

    def handle(self, *, name, out, **rest):
        benchmark = Benchmark.objects.filter(name=name).first()
        if benchmark is None:
            there = ", ".join(Benchmark.objects.values_list("name", flat=True)[:9]) or "none"
            raise CommandError(f"There is no benchmark {name!r}. There are: {there}.")
        try:
            written = source_layout.write(benchmark, Path(out))
        except source_layout.CannotWrite as refusal:
            raise CommandError(str(refusal)) from None
        for file, size in written:
            self.stdout.write(f"{size:>12,} bytes  {file}")
