"""A table of ratings from elsewhere under a declared protocol: a CSV file, a row for each annotator and item, a column
for each answer. Pure.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.protocols.base import CANNOT_JUDGE, Answer
from annotation.protocols.declared import answers, schema, values
from annotation.protocols.declared.schema import ProtocolFile
from annotation.wording import exact
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.table import read_table

ALONE = "answer"  # what the column of a single answer may be called


@dataclass(frozen=True, slots=True)
class Rated:
    item: str
    annotator: str
    label: str


def read_rated(path: Path, protocol: ProtocolFile, log: ProblemLog) -> list[Rated]:
    """The rows in the file's order, each with the label that a judgment would have. Errors are in the log."""
    columns = _columns(path, protocol, log)
    found: dict[tuple[str, str], Rated] = {}
    try:
        for row in read_table(path, log, ["item", "annotator", *columns.values()]):
            item, annotator = (row.values[name].strip() for name in ("item", "annotator"))
            for name, value in (("item", item), ("annotator", annotator)):
                if not value:
                    log.error("VALUE_MISSING", path.name, row.number, name, "Fill in this cell, or remove the row.")
            cells = {name: row.values[column].strip() for name, column in columns.items()}
            label = _label(path.name, row.number, protocol, cells, columns, log)
            if (item, annotator) in found:
                advice = "This annotator has already judged this item. Remove one of the two rows."
                log.error("REPEATED_RATING", path.name, row.number, "annotator", advice)
            found[item, annotator] = Rated(item, annotator, label)
    except Unreadable:
        return []
    return list(found.values())


def _columns(path: Path, protocol: ProtocolFile, log: ProblemLog) -> dict[str, str]:
    """Answer → column."""
    names = [one.name for one in protocol.answers]
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        header = [name.strip(' "') for name in stream.readline().strip().split(",")]
    return {names[0]: ALONE} if len(names) == 1 and names[0] not in header else {name: name for name in names}


def _label(
    file: str, row: int, protocol: ProtocolFile, cells: dict[str, str], columns: dict[str, str], log: ProblemLog
) -> str:
    if CANNOT_JUDGE in cells.values():
        return CANNOT_JUDGE
    parts: dict[str, str] = {}
    for answer in protocol.answers:
        said = cells[answer.name]
        asked = answers.is_asked(answer, parts, protocol)
        advice = ""
        if said and not asked:
            advice = "This question is not asked after the other answers. Leave the cell empty."
        elif not said and asked and answer.required:
            advice = "Fill in this cell, or remove the row."
        elif said:
            said, advice = _checked(protocol, answer, said)
        if advice:
            log.error("WRONG_VALUE" if cells[answer.name] else "VALUE_MISSING", file, row, columns[answer.name], advice)
            said = ""
        parts[answer.name] = said
    return answers.PARTING.join(parts.values())


def _checked(protocol: ProtocolFile, answer: schema.Answer, said: str) -> tuple[str, str]:
    """The cell as it is stored, and what is wrong with it."""
    match answer:
        case schema.Scale():
            known = values.table_values(protocol, answer.name) or []
            with contextlib.suppress(ValueError):  # 2.0 is the point 2
                said = exact(float(said))
            return said, "" if said in known else f"Write one of {', '.join(known)}."
        case schema.Pick(many=False) | schema.Pair():
            return said, _unknown([said], _options(protocol, answer))
        case schema.Pick():
            return said, _unknown(said.split(","), _options(protocol, answer))
        case schema.Rank():
            options = [one for tier in answers.tiers(said) for one in tier]
            twice = "" if len(set(options)) == len(options) else "Name each option once: a>b=c."
            tied = "" if answer.ties or "=" not in said else "Options cannot tie here."
            return said, _unknown(options, _options(protocol, answer)) or twice or tied
        case schema.Check():
            known = [values.YES, values.NO, *([values.UNSURE] if answer.unsure else [])]
            given = said.split(",")
            few = f"Write {len(answer.statements)} answers, with commas between them."
            wrong = answer.statements and len(given) != len(answer.statements)
            return said, few if wrong else _unknown(given, known)
        case schema.Text():
            return answers.WRITTEN, ""
        case schema.Edit():
            return answers.EDITED, ""
    return said, ""


def _options(protocol: ProtocolFile, answer: schema.Pick | schema.Rank | schema.Pair) -> list[str]:
    """The names of all options that an item can have: `positive`, `candidate-3`."""
    found = [one for role in values.options_of(protocol, answer) for one in values.member_names(protocol, role)]
    return [*found, *values.fixed_of(answer)]


def _unknown(given: Sequence[str], known: Sequence[str]) -> str:
    wrong = [one for one in given if one not in known]
    return f"There is no answer “{wrong[0][:60]}”. Write one of {', '.join(known)}." if wrong else ""


def as_answers(rows: Sequence[Rated]) -> dict[str, list[Answer]]:
    """Item → its answers in the file's order."""
    found: dict[str, list[Answer]] = {}
    for row in rows:
        found.setdefault(row.item, []).append(Answer(row.label))
    return found
