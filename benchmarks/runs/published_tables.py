"""The papers' tables as printed, to compare with models scored by Winnow: CSV files in `published_tables/`.

They are shown only if a manager adds them, always marked as reported and with their source. A file has a line for each
model and a column for each measure, in percent: `t2i` for the whole benchmark, `swap/t2i` for a type, `replace/mean of
subtypes/original` for a subtype. An empty cell is not printed in the paper. The sources:

- BiVLC (Miranda et al. 2024): Table 2 (people, generative models), Table 3 (contrastive models) and Table 4 (by type).
  For Open CapPa, the text used as the source lacks the Group score of Table 2; the rest agrees with Table 4.
- SugarCrepe: the column of that name in the same Tables 2 and 3.
- VISLA (Dumpala et al. 2024): Tables 2 and 3 (text encoders), 8 (vision-language models, generic) and 9 (spatial).
- The Hard Positive Truth (Kamath et al. 2024): Table 1, which reports only its two parts; its REPLACE is the mean of
  attributes and relations.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE, SUGARCREPE, VISLA
from benchmarks.runs.reported import ReportedRow

FOLDER = Path(__file__).resolve().parent / "published_tables"


@dataclass(frozen=True, slots=True)
class Table:
    """`name` is that of its file; `kind` that of the benchmarks it covers."""

    name: str
    kind: str
    title: str

    @property
    def rows(self) -> list[ReportedRow]:
        with (FOLDER / f"{self.name}.csv").open(encoding="utf-8", newline="") as file:
            return [_row(**line) for line in csv.DictReader(file)]


def _row(*, model: str, family: str, source: str, **figures: str) -> ReportedRow:
    row = ReportedRow(model, source, family)
    for column, value in figures.items():
        *part, measure = column.split("/")
        if value and part:
            row.groups.setdefault((part[0], part[1] if part[1:] else None), {})[measure] = float(value)
        elif value:
            row.measures[measure] = float(value)
    return row


TABLES = (
    Table("bivlc", BIVLC.name, "BiVLC (Miranda et al. 2024), Tables 2 to 4"),
    Table("sugarcrepe", SUGARCREPE.name, "SugarCrepe's column of BiVLC (Miranda et al. 2024), Tables 2 and 3"),
    Table("visla-generic", VISLA.name, "VISLA (Dumpala et al. 2024), Tables 2, 3 and 8: the generic set"),
    Table("visla-spatial", VISLA.name, "VISLA (Dumpala et al. 2024), Tables 2, 3 and 9: the spatial set"),
    Table("hard-positives", HARD_POSITIVE.name, "The Hard Positive Truth (Kamath et al. 2024), Table 1"),
)


def tables_for(kind: str) -> list[Table]:
    return [table for table in TABLES if table.kind == kind]
