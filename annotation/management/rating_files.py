"""For commands that take a file of ratings: options for the columns' meanings, and a look at the file."""

from collections.abc import Sequence
from pathlib import Path

from django.core.management.base import CommandError, OutputWrapper

from benchmarks.formats.own import ratings, rows
from benchmarks.jobs.columns import looked
from benchmarks.management.files import read_or_refuse
from benchmarks.management.reporting import columns_of, text_of


def add_options(parser) -> None:
    parser.add_argument("--mapping", type=Path, metavar="FILE", help="the meaning of each column, as JSON")
    parser.add_argument("--look", action="store_true", help="only print the columns and a mapping for them")
    parser.add_argument("--skip-incomplete", action="store_true", help="leave out rows that lack a cell or are ragged")


def mapping_in(path: Path | None) -> str:
    return text_of(path) if path else ""


def look(path: Path, out: OutputWrapper, wanted: Sequence[str] = ()) -> None:
    """Print the columns with values from the first rows, and the likely mapping."""
    sample = read_or_refuse(lambda log: rows.sampled(path, log), out)
    names = rows.columns(sample)
    found = ratings.guess(names, sample, wanted)
    out.write("\n".join(columns_of(looked(path.name, names, sample, found.as_json()))))
    if not found.answers:
        raise CommandError("No column was recognised as an answer. Write a mapping: docs/reference/ratings.md.")
