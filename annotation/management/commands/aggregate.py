"""`manage.py aggregate --ratings FILE --method dawid-skene --json`: one label per rated item."""

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotation.management import rating_files
from annotation.measures import aggregation
from annotation.measures.aggregation import FIRST_LABEL as FIRST_GIVEN
from annotation.measures.aggregation import NO_LABEL, Aggregate
from annotation.measures.ratings import RatingColumns
from annotation.measures.ratings_file import read_gold, read_ratings
from benchmarks.formats.own.ratings import ALL, FIRST, LAST, REFUSE
from benchmarks.management.files import read_or_refuse, write_result

METHODS: dict[str, Callable[[RatingColumns, str], Aggregate]] = {
    "majority": aggregation.majority,
    "dawid-skene": aggregation.dawid_skene,
}


class Command(BaseCommand):
    help = "Aggregate a file of ratings to one label per item. A mapping gives each column’s meaning."
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("--ratings", type=Path, required=True, help="the file of ratings")
        rating_files.add_options(parser)
        parser.add_argument("--gold", type=Path, help="a CSV file with the columns item, label: the correct labels")
        parser.add_argument("--method", choices=METHODS, required=True)
        parser.add_argument("--json", action="store_true", help="print all results as JSON")
        parser.add_argument(
            "--repeated",
            choices=[REFUSE, FIRST, LAST, ALL],
            default=REFUSE,
            help="if an annotator rated an item twice: refuse the file, count one rating, or count all",
        )
        parser.add_argument(
            "--ties",
            choices=[NO_LABEL, FIRST_GIVEN],
            default=NO_LABEL,
            help="a tied item gets no label, or the tied label that was given first",
        )

    def handle(self, *, ratings, gold, method, repeated, ties, mapping, look, skip_incomplete, **options):
        if look:
            rating_files.look(ratings, self.stdout)
            return
        how = rating_files.mapping_in(mapping)
        read = partial(read_ratings, ratings, repeated=repeated, mapping=how)
        given = read_or_refuse(lambda log: read(log=log), self.stdout, self.stderr, skip_incomplete)
        if len(given) > 1:
            raise CommandError(f"Name one answer in a mapping (--mapping); this file has {', '.join(given)}.")
        (rows,) = given.values()
        right = read_or_refuse(lambda log: read_gold(gold, log), self.stdout) if gold else {}
        found = results_of(METHODS[method](rows, ties), right, method)
        write_result(found, written, options["json"], self.stdout)


def results_of(found: Aggregate, gold: dict[str, str], method: str) -> dict:
    """Return the results, JSON-able. The accuracies are null without gold."""
    how_right = aggregation.accuracy(found, gold)
    return {
        "method": method,
        "n_items": len(found.labels),
        **{part.name: getattr(found, part.name) for part in fields(found)},
        "accuracy": how_right.value,
        "accuracy_ties_shared": how_right.ties_shared,
        "n_gold": how_right.n,
    }


def written(found: dict) -> str:
    lines = [f"{item}: {label or 'tied: ' + ', '.join(found['ties'][item])}" for item, label in found["labels"].items()]
    lines.append("shares: " + ", ".join(f"{label} {share:.4f}" for label, share in found["class_shares"].items()))
    if found["accuracy"] is not None:
        lines.append(
            f"accuracy on {found['n_gold']:,} items: {found['accuracy']:.4f} counting ties as wrong, "
            f"{found['accuracy_ties_shared']:.4f} sharing ties"
        )
    return "\n".join(lines)
