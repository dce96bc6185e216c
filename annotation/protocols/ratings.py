"""A table of ratings from elsewhere under a protocol file: a CSV file, a row for each annotator and item, a column
for each answer. Pure.
"""

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.protocols import answers, option_sets, rankings, schema, values
from annotation.protocols.base import CANNOT_JUDGE, InvalidAnswer
from annotation.protocols.conditions import depends_on_items
from annotation.protocols.numbers import checked, is_typed
from annotation.protocols.schema import ProtocolFile
from annotation.wording import exact
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.table import read_table

ALONE = "answer"  # what the column of a single answer may be called
_MOST_WORDS = 2_000_000  # of all rows together: each is a value of its own when agreement is computed
_PLACE = "[1-9][0-9]{0,3}"  # of a word: a text has at most 4,000 characters
_MARKS = re.compile(rf"({_PLACE});((?:{_PLACE}:[a-z0-9_]+)(?:,{_PLACE}:[a-z0-9_]+)*)?")


@dataclass(frozen=True, slots=True)
class Rated:
    """`question`: which of the protocol's tasks of the item, if it makes several."""

    item: str
    annotator: str
    label: str
    question: str = ""

    @property
    def task(self) -> str:
        return f"{self.item} {self.question}".rstrip()


def read_rated(path: Path, protocol: ProtocolFile, log: ProblemLog) -> list[Rated]:
    """The rows in the file's order, each with the label that a judgment would have. Errors are in the log."""
    columns = _columns(path, protocol, log)
    found: dict[tuple[str, str], Rated] = {}
    shapes: dict[tuple[str, str], object] = {}  # what the answers to a question say of their item
    words = 0
    try:
        for row in read_table(path, log, ["item", "annotator", *columns.values()]):
            item, annotator = (row.values[name].strip() for name in ("item", "annotator"))
            for name, value in (("item", item), ("annotator", annotator)):
                if not value:
                    log.error("VALUE_MISSING", path.name, row.number, name, "Fill in this cell, or remove the row.")
            cells = {name: row.values[column].strip() for name, column in columns.items()}
            label = _label(path.name, row.number, protocol, cells, columns, log)
            for name, shape in _shapes(protocol, label):
                if shapes.setdefault((item, name), shape) != shape:
                    advice = "An earlier row answers for another number of parts, or other options, of this item."
                    log.error("WRONG_VALUE", path.name, row.number, columns[name], f"{advice} Correct one of the two.")
                words += shape if isinstance(shape, int) else 0
            if words > _MOST_WORDS:
                advice = f"Split this file: its texts have more than {_MOST_WORDS:,} words together."
                log.error("TOO_LONG", path.name, row.number, "", advice)
                return []
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
        for name in (name for name, said in cells.items() if said not in ("", CANNOT_JUDGE)):
            advice = f"Leave this cell empty, or remove {CANNOT_JUDGE} from the row: it stands for all questions."
            log.error("WRONG_VALUE", file, row, columns[name], advice)
        return CANNOT_JUDGE
    parts: dict[str, str] = {}
    for answer in protocol.answers:
        said = cells[answer.name]
        asked = answers.is_asked(answer, parts, protocol)
        advice = ""
        if said and not asked:
            advice = "This question is not asked after the other answers. Leave the cell empty."
        elif not said and asked and answer.required and not _may_be_open(protocol, answer):
            advice = "Fill in this cell, or remove the row."
        elif said:
            said, advice = _checked(protocol, answer, said)
        if advice:
            log.error("WRONG_VALUE" if cells[answer.name] else "VALUE_MISSING", file, row, columns[answer.name], advice)
            said = ""
        parts[answer.name] = said
    return answers.PARTING.join(parts.values())


def _may_be_open(protocol: ProtocolFile, answer: schema.Answer) -> bool:
    """Whether some items are not asked the question: a table does not have the items."""
    return depends_on_items(answer) or values.may_ask_nothing(protocol, answer)


def _checked(protocol: ProtocolFile, answer: schema.Answer, said: str) -> tuple[str, str]:
    """The cell as it is stored, and what is wrong with it."""
    match answer:
        case schema.Number():
            return _number(answer, said)
        case schema.Scale():
            if is_typed(answer):
                return _number(answer, said)
            known = values.table_values(protocol, answer.name) or []
            with contextlib.suppress(ValueError):  # 2.0 is the point 2
                said = exact(float(said))
            return said, "" if said in known else f"Write one of {', '.join(known)}."
        case schema.Pick(many=False) | schema.Pair():
            return said, _unknown([said], _options(protocol, answer))
        case schema.Pick():
            return _several(protocol, answer, said)
        case schema.Rank():
            return _ranking(protocol, answer, said)
        case schema.Check():
            known = [values.YES, values.NO, *([values.UNSURE] if answer.unsure else [])]
            given = said.split(",")
            count = str(len(answer.statements)) if answer.statements else protocol.roles[str(answer.of)]
            few = f"Write {schema.how_many(count)} answers, with commas between them."
            return said, _unknown(given, known) if schema.is_within(len(given), count) else few
        case schema.Words():
            return _marked(answer, said)
        case schema.Text(shortest=shortest, longest=longest):
            return answers.WRITTEN, _too_long_or_short(said, shortest, longest)
    return answers.EDITED, _too_long_or_short(said, 1, answer.longest)


def _several(protocol: ProtocolFile, answer: schema.Pick, said: str) -> tuple[str, str]:
    """As a judgment has it: `a-0,a-3`, or with the number of options `a-0,a-3;5`; no number is no mistake."""
    chosen, sign, counts = said.partition(";")
    given = [one.strip() for one in chosen.split(",")]
    label = option_sets.as_label(given) + sign + counts.strip()
    if unknown := _unknown(given, _options(protocol, answer)):
        return label, unknown
    if len(set(given)) < len(given):
        return label, "Name each answer once."
    if not option_sets.is_allowed(answer, frozenset(given)):
        return label, f"Nobody could choose these together: {option_sets.in_words(answer)}."
    if sign and not option_sets.has_counts(protocol, answer, label):
        return label, "Remove what stands behind “;”, or write how many options the item has there: a-0,a-3;5."
    there = option_sets.all_options(protocol, answer, label)
    return label, "" if there is None else _unknown(given, there)


def _number(answer: schema.Scale | schema.Number, said: str) -> tuple[str, str]:
    if said in values.fixed_of(answer):
        return said, ""
    try:
        return checked(answer, said), ""
    except InvalidAnswer as problem:
        return said, str(problem)


def _ranking(protocol: ProtocolFile, answer: schema.Rank, said: str) -> tuple[str, str]:
    tiers, known = rankings.tiers(said), _options(protocol, answer)
    options = [one for tier in tiers for one in tier]
    if unknown := _unknown(options, known):
        return said, unknown
    if len(set(options)) < len(options):
        return said, "Name each option once: a>b=c."
    if not answer.ties and "=" in said:
        return said, "Options cannot tie here."
    there = Counter(map(values.role_of, options))
    for role, count in ((role, protocol.roles[role]) for role in answer.of):
        if not schema.is_within(there[role.partition(".")[2]], count):
            return said, f"Rank all options: an item has {schema.how_many(count)} of {role}."
    return ">".join("=".join(sorted(tier, key=known.index)) for tier in tiers), ""


def _marked(answer: schema.Words, said: str) -> tuple[str, str]:
    """As a judgment has it: `9;3:unsure,7:not`."""
    mark = next(iter(answer.marks))
    advice = (
        f"Write the number of words, and the place and mark of each marked one: 9;3:{mark},7:{mark}, or 9; for none."
    )
    if not (found := _MARKS.fullmatch(said)):
        return said, advice
    marks = sorted((int(place), mark) for place, mark in (one.split(":") for one in (found[2] or "").split(",") if one))
    places = [place for place, _ in marks]
    if unknown := _unknown([mark for _, mark in marks], [*answer.marks]):
        return said, unknown
    if len(set(places)) < len(places) or max(places, default=1) > int(found[1]):
        return said, advice
    return f"{found[1]};" + ",".join(f"{place}:{mark}" for place, mark in marks), ""


def _too_long_or_short(said: str, shortest: int, longest: int) -> str:
    return "" if shortest <= len(said) <= longest else f"Write {shortest:,} to {longest:,} characters."


def _shapes(protocol: ProtocolFile, label: str) -> Iterator[tuple[str, object]]:
    """What each answer says of its item, the same in each row: how many statements or words, which options."""
    for name, said in answers.parts_of(label, protocol).items():
        match protocol.answer(name):
            case schema.Pick(many=many) if many and ";" in said:
                yield name, said.partition(";")[2]
            case schema.Check() if said:
                yield name, said.count(",") + 1
            case schema.Words() if said:
                yield name, int(said.partition(";")[0])
            case schema.Rank() if said:
                yield name, frozenset(one for tier in rankings.tiers(said) for one in tier)


def _options(protocol: ProtocolFile, answer: schema.Pick | schema.Rank | schema.Pair) -> list[str]:
    """The names of all options that an item can have: `positive`, `candidate-3`."""
    found = [one for role in values.options_of(protocol, answer) for one in values.member_names(protocol, role)]
    return [*found, *values.fixed_of(answer)]


def _unknown(given: Sequence[str], known: Sequence[str]) -> str:
    wrong = [one for one in given if one not in known]
    return f"There is no answer “{wrong[0][:60]}”. Write one of {', '.join(known)}." if wrong else ""
