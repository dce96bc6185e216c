"""`manage.py evaluate KIND --predictions FILE… [--items FILE] [--json]`: a model's scores, without a database."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.formats.base import ProblemLog
from benchmarks.management.files import refuse, write_result
from benchmarks.management.reporting import text_of
from benchmarks.predictions import cut_captions, reading
from benchmarks.predictions.collecting import collect, cut_in
from benchmarks.predictions.evaluating import EVALUATED, WITHOUT_ITEMS, evaluate
from benchmarks.predictions.matching import match
from benchmarks.predictions.mean_scores import in_words, mean_scores
from benchmarks.predictions.output import as_json, as_lines


class Command(BaseCommand):
    help = "Compute a model's scores from its answers, by a paper's measures. See docs/reference/evaluate.md."
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("kind", choices=EVALUATED, help="the paper whose measures to use")
        parser.add_argument("--predictions", type=Path, nargs="+", required=True, metavar="FILE", help="from one model")
        parser.add_argument("--items", type=Path, metavar="FILE", help="the benchmark that the answers are about")
        parser.add_argument("--mapping", type=Path, metavar="FILE", help="columns' meanings, for your own tables")
        parser.add_argument("--skip-incomplete", action="store_true", help="skip items that lack an answer")
        parser.add_argument("--json", action="store_true", help="print all results as JSON")

    def handle(self, *, kind, predictions, items, mapping, skip_incomplete, **options):
        kind, log = EVALUATED[kind], ProblemLog(skip_incomplete)
        if items and kind in WITHOUT_ITEMS:
            raise CommandError(f"{kind.title} does not take --items: the scores’ names identify the items.")
        how = text_of(mapping) if mapping else ""
        abouts = collect(reading.read_answers([Path(path) for path in predictions], kind, log, how), log)
        refuse(log, self.stdout, "Nothing was computed")
        records = reading.read_items(Path(items), kind, log) if items else []
        matching = match(abouts, records) if items else None
        refuse(log, self.stdout, "Nothing was computed")
        answered = matching.matched if matching else abouts
        found = evaluate(answered, kind, log, records)
        refuse(log, self.stdout, "Nothing was computed")
        assert found is not None  # None only if the log has a problem
        means = mean_scores(((one.type, one.subtype, one.scores) for one in answered), kind)
        report = {**as_json(found), **({"mean_scores": means} if means else {})}
        report |= {"matching": matching.as_json() if matching else None, **left_out(log), "cut": cut_in(answered)}
        written = lambda report: "\n".join([*as_lines(found), *notes_below(report)])  # noqa: E731
        write_result(report, written, options["json"], self.stdout)


def left_out(log: ProblemLog) -> dict:
    gaps = [str(note) for note in log.notes if note.code in ("INCOMPLETE_ROW", "VALUE_MISSING")]
    return {"left_out": log.left_out, "left_out_first": gaps[:100]}


def notes_below(report: dict) -> list[str]:
    """Return the lines below the table: skipped items and unmatched answers."""
    lines = in_words(report.get("mean_scores", {}))
    lines += [f"Skipped as incomplete: {report['left_out']:,}"] if report["left_out"] else []
    lines += cut_captions.in_words(report["cut"])
    if matching := report["matching"]:
        lines.append(f"Items {matching['items']:,}: {matching['matched']:,} matched, {matching['unanswered']:,} not.")
        lines.append(f"Answers without a matching item: {matching['unmatched']:,}")
        lines += [
            f"  {one['file']} · {one['row']} · {one['reason']}: {one['item']}" for one in matching["unmatched_first"]
        ]
    return lines
