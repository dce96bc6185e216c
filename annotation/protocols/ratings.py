"""Read a file of ratings under a protocol file: each rating with the label that a judgment would have. Pure."""

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.protocols import answers, item_data, marks, option_sets, rankings, schema, values
from annotation.protocols.base import CANNOT_JUDGE, NO_ATTRIBUTES, RIGHT, Attributes, InvalidAnswer, UnsuitableItem
from annotation.protocols.conditions import depends_on_items
from annotation.protocols.numbers import checked, is_typed
from annotation.protocols.schema import ProtocolFile
from annotation.wording import exact
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.own import ratings
from benchmarks.formats.own.ratings import ALL, LAST, REFUSE, RatingsMapping
from benchmarks.records import ItemRecord, Origin

_EMPTY = "This cell is empty."
_MOST_WORDS = 2_000_000  # in all rows together, since agreement treats each word as a separate value
_PLACE = "[1-9][0-9]{0,3}"  # place of a word; texts have at most 4,000 characters
_MARKS = re.compile(rf"({_PLACE});((?:{_PLACE}:[a-z0-9_]+)(?:,{_PLACE}:[a-z0-9_]+)*)?")


@dataclass(frozen=True, slots=True)
class Rated:
    """`question`: which of the item's tasks, if it has several. `texts`: the texts written."""

    item: str
    annotator: str
    label: str
    question: str = ""
    texts: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def task(self) -> str:
        return f"{self.item} {self.question}".rstrip()


@dataclass
class RatedFile:
    """The ratings of a file; `attributes` has the attributes of each task's parts, or of the item as a whole."""

    mapping: RatingsMapping
    rows: list[Rated] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)  # of each row
    attributes: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    def with_attributes(self, protocol: ProtocolFile) -> ProtocolFile:
        """Return the protocol with the mapping's attributes added."""
        known = list(dict.fromkeys((*protocol.item.attributes, *self.mapping.attributes)))
        return protocol.model_copy(update={"item": protocol.item.model_copy(update={"attributes": known})})


def read_rated(
    path: Path, protocol: ProtocolFile, log: ProblemLog, mapping: str = "", repeated: str = REFUSE,
    has_items: bool = False,
) -> RatedFile:  # fmt: skip
    """Return the ratings in the file's order, each with the label that a judgment would have. Errors are in the log.

    `mapping`: its JSON; without one, columns are guessed by name. `repeated`: how to treat a second rating of a task by
    one annotator, as in `measures.ratings_file`. Right answers by item are read from the file, unless its items are
    known (`has_items`). Raises Unreadable.
    """
    how = ratings.understood(path, mapping, log, [one.name for one in protocol.answers])
    return rated(ratings.read(path, how, log), how, protocol, log, repeated, has_items)


def rated(
    all_given: Iterable[ratings.Given], how: RatingsMapping, protocol: ProtocolFile, log: ProblemLog,
    repeated: str = REFUSE, has_items: bool = False,
) -> RatedFile:  # fmt: skip
    """Return these answers as `read_rated` returns a file's. Raises Unreadable."""
    found = RatedFile(how)
    places: dict[tuple[str, str], int] = {}  # task and annotator → where their rating is
    shapes: dict[tuple[str, str], object] = {}  # what the answers to a question imply about their task
    words = 0
    texts = {one.name for one in protocol.answers if isinstance(one, schema.Text | schema.Edit)}
    columns = {name: ", ".join(source.all_places) for name, source in how.answers.items()}
    for given in all_given:
        file, number = given.origin.file, given.origin.row
        before = log.count + log.left_out
        label = _label(file, number, protocol, given.answers, columns, log)
        _check_question(given, protocol, how.question, log)
        of_item = NO_ATTRIBUTES if has_items else _of_item(given, protocol, log)
        if log.count + log.left_out > before:
            continue
        written = {name: said for name, said in given.answers.items() if name in texts and label != CANNOT_JUDGE}
        one = Rated(given.item, given.annotator, label, given.question, written)
        for name, shape in _shapes(protocol, label):
            if shapes.setdefault((one.task, name), shape) != shape:
                advice = "An earlier row has a different number of parts, or different options, for this item."
                log.error("WRONG_VALUE", file, number, columns[name], f"{advice} Correct one of the two.")
            words += shape if isinstance(shape, int) else 0
        if words > _MOST_WORDS:
            advice = f"Split this file, since its texts have more than {_MOST_WORDS:,} words in total."
            log.error("TOO_LONG", file, number, "", advice)
            raise Unreadable
        _add_attributes(found.attributes.setdefault(one.task, {}), given, of_item, protocol, log)
        _add(found, one, given, places, repeated, log)
    return found


def _add(
    found: RatedFile, rated: Rated, given: ratings.Given, places: dict[tuple[str, str], int], repeated: str,
    log: ProblemLog,
) -> None:  # fmt: skip
    earlier = places.get((rated.task, rated.annotator))
    if earlier is None or repeated == ALL:
        if earlier is not None:
            again = sum(who.startswith(f"{rated.annotator} (") for task, who in places if task == rated.task)
            rated = replace(rated, annotator=f"{rated.annotator} ({again + 2})")
        places[rated.task, rated.annotator] = len(found.rows)
        found.rows.append(rated)
        found.origins.append(given.origin)
    elif repeated == REFUSE:
        column = found.mapping.annotator or "annotator"
        log.error("REPEATED_RATING", given.origin.file, given.origin.row, column, ratings.REPEATED)
    else:
        log.note("REPEATED_RATING", given.origin.file, given.origin.row, "", f"The {repeated} rating counts.")
        if repeated == LAST:
            found.rows[earlier], found.origins[earlier] = rated, given.origin


def _add_attributes(
    known: dict[str, dict[str, Any]], given: ratings.Given, of_item: Attributes, protocol: ProtocolFile, log: ProblemLog
) -> None:
    if known.get(RIGHT, of_item.get(RIGHT)) != of_item.get(RIGHT):
        advice = "An earlier row of this item has a different right answer. Correct one of the two."
        columns = ", ".join(item_data.columns(protocol))
        log.error("WRONG_VALUE", given.origin.file, given.origin.row, columns, advice)
    for part, of_part in (*given.attributes.items(), *of_item.items()):
        known.setdefault(part, {}).update(of_part)


def _of_item(given: ratings.Given, protocol: ProtocolFile, log: ProblemLog) -> Attributes:
    """Return the row's data about its item: its right answers, and the values that define groups."""
    if not item_data.columns(protocol):
        return NO_ATTRIBUTES
    item = ItemRecord(given.item, "", "", (), (), meta=dict(given.row))
    try:
        item_data.require_right_answers(protocol, item)
    except UnsuitableItem as reason:
        columns = ", ".join(item_data.columns(protocol))
        log.error("WRONG_VALUE", given.origin.file, given.origin.row, columns, f"{reason}.")
    return item_data.attributes_of(protocol, item)


def _check_question(given: ratings.Given, protocol: ProtocolFile, column: str, log: ProblemLog) -> None:
    """Check that the protocol can make a task of this name; a file need not name tasks."""
    match protocol.tasks:
        case schema.Each(each=each):
            fits = given.question.count(answers.PARTING) == len(each) - 1
        case schema.Pairs():
            fits = given.question.count(answers.PARTING) == 1
        case schema.Rows(rows=rows):
            fits = given.question in rows
        case _:
            fits = False
    if given.question and not fits:
        advice = "The protocol has no task of this name. Write it as exports do, or leave the column out."
        log.error("WRONG_VALUE", given.origin.file, given.origin.row, column, advice)


def _label(
    file: str, row: int, protocol: ProtocolFile, cells: dict[str, str], columns: dict[str, str], log: ProblemLog
) -> str:
    cells = {name: _spelled(said, [CANNOT_JUDGE]) for name, said in cells.items()}
    if CANNOT_JUDGE in cells.values():
        for name in (name for name, said in cells.items() if said not in ("", CANNOT_JUDGE)):
            advice = f"Leave this cell empty, or remove {CANNOT_JUDGE} from the row: it applies to all questions."
            log.error("WRONG_VALUE", file, row, columns[name], advice)
        return CANNOT_JUDGE
    parts: dict[str, str] = {}
    for answer in protocol.answers:
        said = cells.get(answer.name, "")
        asked = answers.is_asked(answer, parts, protocol)
        advice = ""
        if said and not asked:
            advice = "This question is not asked after the other answers. Leave the cell empty."
        elif not said and asked and answer.required and not _may_be_open(protocol, answer):
            advice = _EMPTY
        elif said:
            said, advice = _checked(protocol, answer, said)
        column = columns.get(answer.name, answer.name)
        if advice and not cells.get(answer.name):
            ratings.incomplete(Origin(file, row), column, log)
        elif advice:
            log.error("WRONG_VALUE", file, row, column, advice)
            said = ""
        parts[answer.name] = said
    return answers.PARTING.join(parts.values())


def _may_be_open(protocol: ProtocolFile, answer: schema.Answer) -> bool:
    """Return whether the question is not asked about some items; the table doesn't show which."""
    return depends_on_items(answer) or values.may_ask_nothing(protocol, answer)


def _checked(protocol: ProtocolFile, answer: schema.Answer, said: str) -> tuple[str, str]:
    """Return the cell as stored, and what is wrong with it."""
    match answer:
        case schema.Number():
            return _number(answer, said)
        case schema.Scale():
            if is_typed(answer):
                return _number(answer, said)
            known = own_values(protocol, answer)
            said = _spelled(said, known)
            with contextlib.suppress(ValueError):  # 2.0 is the point 2
                said = exact(float(said))
            return said, "" if said in known else f"Write one of {', '.join(known)}."
        case schema.Pick(many=False) | schema.Pair():
            known = _options(protocol, answer)
            return (said := _spelled(said, known)), _unknown([said], known)
        case schema.Pick():
            return _several(protocol, answer, said)
        case schema.Rank():
            return _ranking(protocol, answer, said)
        case schema.Check():
            known = own_values(protocol, answer)
            given = [_spelled(one, known) for one in said.split(",")]
            count = str(len(answer.statements)) if answer.statements else protocol.roles[str(answer.of)]
            few = f"Write {schema.how_many(count)} answers, with commas between them."
            return ",".join(given), _unknown(given, known) if schema.is_within(len(given), count) else few
        case schema.Words():
            return _marked(answer, said.lower())
        case schema.Points() | schema.Boxes():
            return said, _no_marks(answer, said)
        case schema.Text(shortest=shortest, longest=longest):
            return answers.WRITTEN, _too_long_or_short(said, shortest, longest)
    return answers.EDITED, _too_long_or_short(said, 1, answer.longest)


def own_values(protocol: ProtocolFile, answer: schema.Answer) -> list[str]:
    """Return the values that a cell can have; none for an answer whose cells are free."""
    match answer:
        case schema.Pick(many=False) | schema.Pair():
            return _options(protocol, answer)
        case schema.Scale() if not is_typed(answer):
            return values.table_values(protocol, answer.name) or []
        case schema.Check():
            return [values.YES, values.NO, *([values.UNSURE] if answer.unsure else [])]
    return []


def _several(protocol: ProtocolFile, answer: schema.Pick, said: str) -> tuple[str, str]:
    """Return the set as a judgment has it: `a-0,a-3`, or `a-0,a-3;5` with the (optional) number of options."""
    chosen, sign, counts = said.partition(";")
    known = _options(protocol, answer)
    given = [_spelled(one, known) for one in chosen.split(",")]
    label = option_sets.as_label(given) + sign + counts.strip()
    if unknown := _unknown(given, known):
        return label, unknown
    if len(set(given)) < len(given):
        return label, "Name each answer only once."
    if not option_sets.is_allowed(answer, frozenset(given)):
        return label, f"Nobody could choose these together: {option_sets.in_words(answer)}."
    if sign and not option_sets.has_counts(protocol, answer, label):
        return label, "Remove what comes after “;”, or write how many options the item has: a-0,a-3;5."
    there = option_sets.all_options(protocol, answer, label)
    return label, "" if there is None else _unknown(given, there)


def _number(answer: schema.Scale | schema.Number, said: str) -> tuple[str, str]:
    fixed = values.fixed_of(answer)
    if (word := _spelled(said, fixed)) in fixed:
        return word, ""
    try:
        return checked(answer, said), ""
    except InvalidAnswer as problem:
        return said, str(problem)


def _ranking(protocol: ProtocolFile, answer: schema.Rank, said: str) -> tuple[str, str]:
    known = _options(protocol, answer)
    tiers = [[_spelled(one, known) for one in tier] for tier in rankings.tiers(said)]
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
    """Return the marks as a judgment has them: `9;3:unsure,7:not`."""
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


def _no_marks(answer: schema.Points | schema.Boxes, said: str) -> str:
    """Return what is wrong with the marks."""
    try:
        there = len(marks.read(answer.kind, said, answer.labels))
    except marks.NotMarks as error:
        shape = "x:y" if answer.kind == "points" else "left:top:right:bottom"
        label = ":" + "|".join(answer.labels) if answer.labels else ""
        return f"A mark {error}. Write {shape}{label} in ten-thousandths of the picture, with commas between marks."
    known = answer.least <= there <= answer.most
    return "" if known else f"Write {answer.least} to {answer.most} marks, or {marks.NONE} if there may be none."


def _too_long_or_short(said: str, shortest: int, longest: int) -> str:
    return "" if shortest <= len(said) <= longest else f"Write {shortest:,} to {longest:,} characters."


def _shapes(protocol: ProtocolFile, label: str) -> Iterator[tuple[str, object]]:
    """Yield what each answer reveals about its item, equal in all rows: how many statements or words, which options."""
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
    """Return the names of all options that an item can have: `positive`, `candidate-3`."""
    found = [one for role in values.options_of(protocol, answer) for one in values.member_names(protocol, role)]
    return [*found, *values.fixed_of(answer)]


def _spelled(said: str, known: Iterable[str]) -> str:
    """Return the known word that equals the cell except for case and outer spaces; otherwise the cell."""
    word = said.strip().casefold()
    return next((one for one in known if one.casefold() == word), said)


def _unknown(given: Sequence[str], known: Sequence[str]) -> str:
    wrong = [one for one in given if one not in known]
    return f"There is no answer “{wrong[0][:60]}”. Write one of {', '.join(known)}." if wrong else ""
