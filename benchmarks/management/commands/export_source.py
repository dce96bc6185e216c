"""`manage.py export_source NAME --out DIR`: write a benchmark in the layout of the files it was imported from."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.exports import source_layout
from benchmarks.management.reporting import benchmark_named


class Command(BaseCommand):
    help = "Write a benchmark in its source's layout: the same files, rows and order."

    def add_arguments(self, parser):
        parser.add_argument("name", help="the benchmark's name")
        parser.add_argument("--out", type=Path, required=True, help="a new folder")

    def handle(self, *, name, out, **rest):
        benchmark = benchmark_named(name)
        try:
            written = source_layout.write(benchmark, Path(out))
        except source_layout.CannotWrite as refusal:
            raise CommandError(str(refusal)) from None
        for file, size in written:
            self.stdout.write(f"{size:>12,} bytes  {file}")
