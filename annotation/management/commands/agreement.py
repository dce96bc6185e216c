"""`manage.py agreement --ratings FILE --json`: every agreement measure for any file of ratings."""

import csv
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotation.management import rating_files
from annotation.measures.agreement import RatingTable
from annotation.measures.agreement_measures import measures_on
from annotation.measures.label_scale import labels_as_numbers
from annotation.measures.ratings_file import read_ratings
from annotation.measures.reliability import reliability
from annotation.protocols.base import NOMINAL
from benchmarks.formats.own.ratings import FIRST, LAST, REFUSE
from benchmarks.management.files import read_or_refuse, write_result

CATEGORIES = {"offered": "the {} labels in --order", "given": "the {} labels that occur; --order names all"}


class Command(BaseCommand):
    help = "Compute agreement from a file of ratings: any table, with a mapping that gives each column’s meaning."
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("--ratings", type=Path, required=True, help="the file of ratings")
        rating_files.add_options(parser)
        parser.add_argument("--json", action="store_true", help="print all results as JSON")
        parser.add_argument(
            "--repeated",
            choices=[REFUSE, FIRST, LAST],
            default=REFUSE,
            help="if an annotator rated an item twice: refuse the file, or count one of the two ratings",
        )
        parser.add_argument(
            "--order",
            default="",
            help="all labels that could be given, in ascending order: low,middle,high (with a comma: in quotes)",
        )

    def handle(self, *, ratings, order, repeated, mapping, look, skip_incomplete, **options):
        if look:
            rating_files.look(ratings, self.stdout)
            return
        how = rating_files.mapping_in(mapping)
        read = partial(read_ratings, ratings, repeated=repeated, mapping=how)
        given = read_or_refuse(lambda log: read(log=log), self.stdout, self.stderr, skip_incomplete)
        found = {name: reliability(table := RatingTable(of), _order(order, table)) for name, of in given.items()}
        if len(found) == 1:
            write_result(next(iter(found.values())), written, options["json"], self.stdout)
        else:
            write_result({"answers": found}, written_answers, options["json"], self.stdout)


def _order(order: str, table: RatingTable) -> list[str]:
    """Return the labels in `--order`. Raises CommandError if they do not match the table's."""
    if twice := spelt_twice(table.labels):
        raise CommandError(f"{' and '.join(twice)} are the same number. Write it the same way everywhere.")
    try:
        cells = next(csv.reader([order], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        advice = "Write the labels on one line, with commas between them, and put labels that contain a comma in quotes"
        raise CommandError(f"--order cannot be read. {advice} ({error}).") from None
    said = [label.strip() for label in cells if label.strip()]
    if again := [label for label, times in Counter(said).items() if times > 1]:
        raise CommandError(f"--order repeats {', '.join(again)}. Name each label once.")
    if lacking := sorted(set(table.labels) - set(said)) if said else []:
        raise CommandError(f"--order lacks {', '.join(lacking)}. Name every label.")
    return said


def spelt_twice(labels: Sequence[str]) -> list[str]:
    """Return labels that are the same number: "1" and "1.0". Empty if all differ, or some are not numbers."""
    values = labels_as_numbers(labels)
    if values is None:
        return []
    same = defaultdict(list)
    for label, value in zip(labels, values.tolist(), strict=True):
        same[value].append(label)
    return next((found for found in same.values() if len(found) > 1), [])


def written_answers(found: dict) -> str:
    return "\n\n".join(f"{name}\n{written(one)}" for name, one in found["answers"].items())


def written(found: dict) -> str:
    lines = [f"{found['n_ratings']:,} ratings of {found['n_items']:,} items by {found['n_annotators']:,} annotators"]
    choices = CATEGORIES[found["categories"]["are"]].format(found["categories"]["n"])
    for measure in measures_on(NOMINAL):
        figure = found["measures"][measure.key]
        said = f"not defined: {figure['note']}" if figure["value"] is None else f"{figure['value']:.6f}"
        aside = [] if figure["value"] is None else [figure["note"]]
        if figure["low"] is not None:
            aside = [f"95%: {figure['low']:.4f} to {figure['high']:.4f}"]
        if figure["value"] is not None and measure.of_choices:
            aside.append(f"of {choices}")
        lines.append(f"{measure.name}: {said}" + (f"  ({'; '.join(aside)})" if aside else ""))
    return "\n".join(lines)
