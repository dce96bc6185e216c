"""`manage.py import_reported BENCHMARK FILE | --published NAME`: add scores printed in a source."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.formats.base import ProblemLog
from benchmarks.management.files import counted
from benchmarks.management.reporting import benchmark_named
from benchmarks.predictions.kinds import KINDS
from benchmarks.records import Refused
from benchmarks.runs import material, reported
from benchmarks.runs.import_predictions import TAKEN
from benchmarks.runs.published_tables import TABLES


class Command(BaseCommand):
    help = "Add scores printed in a source, marked as reported. docs/guide/comparison.md shows the file format."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument("file", type=Path, nargs="?", help="a CSV or JSON file with model, measure, value, source")
        parser.add_argument("--published", choices=[table.name for table in TABLES], help="a table included in Winnow")
        parser.add_argument("--kind", choices=[kind.name for kind in TAKEN], default="")

    def handle(self, *, benchmark, file, published, kind, **rest):
        if bool(file) == bool(published):
            raise CommandError("Give either a file or --published.")
        found = benchmark_named(benchmark)
        kind = KINDS[kind or material.kind(found)]
        rows = self.of_file(Path(file), kind) if file else of_table(published, kind)
        try:
            made = reported.enter_reported(benchmark=found, kind=kind.name, rows=rows, by="command")
        except Refused as refusal:
            raise CommandError(str(refusal.problems[0])) from None
        self.stdout.write(f"Added {len(made):,} reported rows.")

    def of_file(self, file: Path, kind) -> list[reported.ReportedRow]:
        log = ProblemLog()
        rows = reported.read_reported(file, kind, log)
        if log.count:
            self.stdout.write("\n".join(map(str, log.problems)))
            raise CommandError(f"Nothing was stored: {counted(log.count)}")
        return rows


def of_table(name: str, kind) -> list[reported.ReportedRow]:
    table = next(one for one in TABLES if one.name == name)
    if table.kind != kind.name:
        raise CommandError(f"{table.title} is about {KINDS[table.kind].title}; this benchmark is for {kind.title}.")
    return table.rows
