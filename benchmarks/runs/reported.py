"""Reported scores: printed in a source, and read from a file or from an included table (`published_tables.py`).

`read_reported` does not need a database; `enter_reported` stores a run for each model.

A file is CSV or a JSON list of objects with the same fields: model, measure, value (percent), source; optional type,
subtype (of the part of the benchmark scored), family (the source's group of models).
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from benchmarks import audit
from benchmarks.construction.rows import read_rows
from benchmarks.formats import text
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import missing_column
from benchmarks.models import Benchmark, Run, RunOrigin
from benchmarks.predictions.kinds import KINDS, Kind
from benchmarks.predictions.names import NAMES
from benchmarks.records import Problem, Refused

FIELDS = ("model", "measure", "value", "source")
OPTIONAL = ("type", "subtype", "family")
LONGEST = {"model": 300, "source": 500, "type": 60, "subtype": 60, "family": 60}  # characters
MOST = 5_000  # scores in a file
HUMAN = "human"  # the family of people
Value = float | Mapping[str, float | int | None]


@dataclass(slots=True)
class ReportedRow:
    """A model’s row in a table, in percent; or, from a release, a `share` with `low`, `high` and `n`, and `n` of the
    whole row. `measures`: overall; `groups`: by (type, subtype or None).
    """

    model: str
    source: str
    family: str = ""
    measures: dict[str, Value] = field(default_factory=dict)
    groups: dict[tuple[str, str | None], dict[str, Value]] = field(default_factory=dict)
    n: int | None = None

    def figures(self) -> dict:
        """Return the contents of `Run.figures`, JSON-able."""
        groups = [{"type": kind, "subtype": sub, "measures": of} for (kind, sub), of in self.groups.items()]
        own = {} if self.n is None else {"n": self.n}
        return {"family": self.family, "measures": self.measures, "groups": groups, **own}


def read_reported(path: Path, kind: Kind, log: ProblemLog) -> list[ReportedRow]:
    """Return a row for each model and source, in the file's order. Problems go to the log."""
    if path.suffix.lower() not in (".csv", ".json"):
        log.error("WRONG_TYPE", path.name, None, "", "Provide reported scores as a .csv or .json file.")
        return []
    found: dict[tuple[str, str], ReportedRow] = {}
    for number, row in enumerate(read_rows(path, log), 1):
        if number > MOST:
            log.error("TOO_MANY_ROWS", path.name, row.number, "", f"Use at most {MOST:,} scores per file.")
            break
        lacking = [name for name in FIELDS if name not in row.values]
        for name in lacking:
            missing_column(name, [*row.values], path.name, row.number, log)
        if lacking:  # in a CSV file, every row lacks it
            break
        _add((path.name, row.number, row.values), found, kind, log)
    return list(found.values())


Row = tuple[str, int, Mapping[str, object]]  # file, row, values


def _add(row: Row, found: dict[tuple[str, str], ReportedRow], kind: Kind, log: ProblemLog) -> None:
    file, number, values = row
    before = log.count
    texts = {name: _text(values.get(name, ""), name, row, log) for name in (*LONGEST, "measure")}
    value = _percent(values["value"], row, log)
    if texts["measure"] not in (known := [one.name for one in NAMES[kind.name]]):
        log.error("WRONG_VALUE", file, number, "measure", f"Measures of {kind.title} are {', '.join(known)}.")
    if texts["subtype"] and not texts["type"]:
        log.error("VALUE_MISSING", file, number, "type", "Fill in the subtype’s type.")
    if log.count > before:
        return
    one = found.setdefault((texts["model"], texts["source"]), ReportedRow(texts["model"], texts["source"]))
    one.family = one.family or texts["family"]
    place = one.measures
    if texts["type"]:
        place = one.groups.setdefault((texts["type"], texts["subtype"] or None), {})
    if texts["measure"] in place:
        log.error("DUPLICATE_ID", file, number, "measure", "An earlier row has this score for this model. Keep one.")
    place[texts["measure"]] = value


def _text(value: object, name: str, row: Row, log: ProblemLog) -> str:
    file, number, _ = row
    if not isinstance(value, str):
        log.error("WRONG_VALUE", file, number, name, "Write this as text.")
        return ""
    found = text.on_one_line(value)
    value = value.strip() if found is None else found
    if not value and name in FIELDS:
        log.error("VALUE_MISSING", file, number, name, "Fill in this field.")
    elif name in LONGEST and len(value) > LONGEST[name]:
        log.error("FIELD_TOO_LONG", file, number, name, f"Use at most {LONGEST[name]} characters.")
    elif found is None:
        log.error("WRONG_VALUE", file, number, name, "Write this on one line, without control characters.")
    return value


def _percent(value: object, row: Row, log: ProblemLog) -> float:
    file, number, _ = row
    try:
        found = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except ValueError:
        found = math.nan
    if not 0 <= found <= 100:
        log.error("WRONG_VALUE", file, number, "value", "Write a percentage from 0 to 100, with a decimal point.")
    return found


def _digest(one: ReportedRow, kind: Kind) -> str:
    """Return a digest, equal for the same scores of the same model from the same source."""
    said = json.dumps([kind.name, one.model, one.source, one.figures()], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


# Stored as runs


@transaction.atomic
def enter_reported(
    *, benchmark: Benchmark, kind: str, rows: Sequence[ReportedRow], by: str, created_by=None
) -> list[Run]:
    """Create a run for each new row. Raises Refused (ALREADY_IMPORTED) if all exist."""
    made = enter_new(benchmark=benchmark, kind=kind, rows=rows, by=by, created_by=created_by)
    if not made:
        advice = f"“{benchmark.name}” already has these {len(rows):,} rows. There is nothing to do."
        raise Refused([Problem("ALREADY_IMPORTED", "", None, "", advice)])
    return made


@transaction.atomic
def enter_new(*, benchmark: Benchmark, kind: str, rows: Sequence[ReportedRow], by: str, created_by=None) -> list[Run]:
    """Create a run for each row that the benchmark lacks, and return these."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    digests = {_digest(row, KINDS[kind]): row for row in rows}
    there = set(benchmark.runs.filter(origin=RunOrigin.REPORTED, digest__in=digests).values_list("digest", flat=True))
    new = {name: row for name, row in digests.items() if name not in there}
    if not new:
        return []
    made = Run.objects.bulk_create(
        Run(
            benchmark=benchmark, origin=RunOrigin.REPORTED, kind=kind, title=row.model, source=row.source,
            digest=name, figures=row.figures(), created_by=created_by,
        )
        for name, row in new.items()
    )  # fmt: skip
    audit.record(by=by, verb="entered reported figures", subject=benchmark, rows=len(made))
    return made


@transaction.atomic
def delete_run(*, run: Run, by: str) -> None:
    """Delete a run with its predictions. Encodings are kept, so another run costs little."""
    audit.record(
        by=by, verb="deleted a run", subject=run.benchmark,
        run=run.pk, title=run.title, origin=run.origin, source=run.source,
    )  # fmt: skip
    run.predictions.all()._raw_delete("default")
    run.delete()
