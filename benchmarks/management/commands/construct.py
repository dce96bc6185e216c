"""`manage.py construct KIND IN --out OUT`: construct or refine items by a paper's rule, with a report."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.construction import output, rows
from benchmarks.construction.kinds import KINDS, RowsToConstruct
from benchmarks.formats import checks
from benchmarks.formats.base import ProblemLog
from benchmarks.management.files import refuse, write_result


class Command(BaseCommand):
    help = "Make items from captions and relations, or refine them, by a paper's rule (docs/reference/construction.md)."
    requires_system_checks = []

    def add_arguments(self, parser):
        kinds = "; ".join(f"{name}: {kind.says}" for name, kind in KINDS.items())
        parser.add_argument("kind", choices=KINDS, help=kinds)
        parser.add_argument("path", type=Path, metavar="IN", help="a .csv, .json or .jsonl file of rows")
        parser.add_argument("--out", type=Path, required=True, help="the file to write; .jsonl for constructed items")
        parser.add_argument("--seed", type=int, default=0, help="seed of random draws, recorded in the report")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *, kind, path, out, seed, **options):
        path, out = Path(path), Path(out)
        if wrong := output.refused(path, out, rows.ENDINGS if kind == "refine" else rows.LINES, kind):
            raise CommandError(wrong)
        log = ProblemLog()
        made = KINDS[kind].make(RowsToConstruct(path.name, rows.read_rows(path, log), log, seed))
        checks.check_records(made.items or (), log)
        refuse(log, self.stdout, "Nothing was written")
        content = output.items(made.items) if made.items is not None else output.rows(made.kept or [], out)
        try:
            output.to_file(out, content)
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
        report = output.report(kind, made)
        write_result(report, lambda report: "\n".join(output.lines(report)), options["json"], self.stdout)
