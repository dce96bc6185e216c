"""The basis for computing agreement on an answer: its level of measurement, and its views."""

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from types import MappingProxyType
from typing import Any

from annotation.protocols import option_sets, schema
from annotation.protocols.answers import PARTING
from annotation.protocols.base import CANNOT_JUDGE, CAPTION_PREFIX, NOMINAL, SET, Attributes, Projection, Scale, View
from annotation.protocols.numbers import is_typed, span_of
from annotation.protocols.rankings import ranks_of, weak_orders
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.values import (
    ELSE,
    NO,
    UNSURE,
    YES,
    fixed_of,
    in_table,
    member_names,
    option_name,
    options_of,
    points,
    role_of,
)
from benchmarks.formats.limits import MAX_CAPTION

BY_OPTION: Mapping[str, str] = MappingProxyType({})  # the table of a view on whether each option was chosen
BY = "by option"  # the view's name
_BY_KIND = {
    "scale": "ordinal",
    "number": "interval",
    "rank": "rank",
    "points": "points",
    "boxes": "boxes",
    "text": "",
    "edit": "",
}  # other answers are nominal


def level_of(protocol: ProtocolFile, address: str) -> str:
    """Return `nominal`, `ordinal`, `interval`, `rank`, `set`, `points` or `boxes`; "" for texts, which have none."""
    if (said := protocol.measure.get(address)) and said.agreement:
        return said.agreement
    if "." not in address and is_set(protocol.answer(address)):
        return SET
    return "nominal" if "." in address else _BY_KIND.get(protocol.answer(address).kind, "nominal")


def views(protocol: ProtocolFile, projections: Mapping[str, Projection]) -> dict[str, View]:
    """Return each projection of the compiled protocol with its scale; `answer` is the label itself. Texts have no
    agreement, unless there is nothing else.
    """
    names = [one.name for one in protocol.answers]
    alone = names[0] if len(names) == 1 else ""
    looks = seen(protocol)
    found = {"answer": View(lambda label: label)}
    if alone:
        found["answer"] = view_of(protocol, alone, found["answer"])
    for name, projection in projections.items():
        of_answer = name in names or "." in name
        if looks.get(name, ("", None))[1] is BY_OPTION:
            found[name] = by_option(protocol, looks[name][0], projection)
        elif not of_answer:
            found[name] = View(projection)
        elif level_of(protocol, name):
            found[name] = view_of(protocol, name, projection)
    return found


def seen(protocol: ProtocolFile) -> dict[str, tuple[str, Mapping[str, str] | None]]:
    """Return, for each view except `answer`, its answer or statement, and the table it is seen through, if any."""
    found: dict[str, tuple[str, Mapping[str, str] | None]] = {}
    for answer in protocol.answers:
        if len(protocol.answers) > 1:
            found[answer.name] = answer.name, None
        if is_set(answer):
            found[BY if len(protocol.answers) == 1 else f"{answer.name}, {BY}"] = answer.name, BY_OPTION
        measured = protocol.measure.get(answer.name)
        for view, table in (measured.views if measured else {}).items():
            found[view if view not in found else f"{answer.name}, {view}"] = answer.name, table
    return found | {address: (address, None) for address in protocol.measure if "." in address}


def labels_offered(protocol: ProtocolFile, view: str, options: Sequence[str]) -> set[str] | None:
    """Return the labels possible for each thing a view compares; None if they cannot be listed (texts, rankings)."""
    alone = protocol.answers[0].name if len(protocol.answers) == 1 else None
    address, table = (alone, None) if view == "answer" else seen(protocol)[view]
    if address is None:
        return None
    if table is BY_OPTION:
        return {YES, NO}
    said = _values_offered(protocol, address, options)
    if said is None or table is None:
        return None if said is None else set(said)
    listed = isinstance(protocol.answer(address), schema.Check | schema.Words)
    return None if listed else {seen_through(table, value) for value in said}


def _values_offered(protocol: ProtocolFile, address: str, options: Sequence[str]) -> Sequence[str] | None:
    answer = protocol.answer(address.partition(".")[0])
    match answer:
        case schema.Check():
            return [YES, NO, UNSURE] if answer.unsure else [YES, NO]
        case schema.Words():
            return [answer.unmarked, *answer.marks]
        case schema.Scale():
            return [*points(answer), *fixed_of(answer)]
        case schema.Pick(many=False) | schema.Pair():
            roles = {role.partition(".")[2] for role in options_of(protocol, answer)}
            named = [option_name(protocol, option) for option in options]
            return [*(one for one in named if role_of(one) in roles), *fixed_of(answer)]
    return None


_MOST_RANKED = 4  # options of a ranking whose orders are listed: 75 orders; five options have 541


def lists_labels(protocol: ProtocolFile) -> bool:
    """Return whether a whole screen's stored answers can be listed: each question is asked, and has few answers."""

    def listed(answer: schema.Answer) -> bool:
        match answer:
            case schema.Rank():
                return sum(len(member_names(protocol, role)) for role in answer.of) <= _MOST_RANKED
            case schema.Pick(many=False) | schema.Pair() | schema.Scale():
                return not is_typed(answer)
        return False

    return all(listed(one) and one.required and not one.when for one in protocol.answers)


def labels_listed(protocol: ProtocolFile, options: Sequence[str]) -> list[str]:
    """Return the stored answers to a screen with these options, for a protocol that `lists_labels`."""
    each = [
        orders(protocol, one, options)
        if isinstance(one, schema.Rank)
        else _values_offered(protocol, one.name, options) or []
        for one in protocol.answers
    ]
    return list(map(PARTING.join, product(*each)))


def orders(protocol: ProtocolFile, answer: schema.Rank, options: Sequence[str]) -> list[str]:
    """Return every ranking of these options, as it is stored."""
    shown = {option_name(protocol, option) for option in options}
    names = [name for role in answer.of for name in member_names(protocol, role) if name in shown]
    return list(weak_orders(names) if answer.ties else map(">".join, permutations(names)))


def view_of(protocol: ProtocolFile, address: str, projection: Projection) -> View:
    """Return a projection to an answer or a statement, with its scale."""
    answer = protocol.answer(address.partition(".")[0])
    level = level_of(protocol, address) or NOMINAL
    if is_set(answer):
        return View(lambda label: option_sets.named(projection(label)), Scale(level))
    order = tuple(points(answer)) if isinstance(answer, schema.Scale) and level != NOMINAL else ()
    if is_typed(answer) and level != NOMINAL:
        span = span_of(answer)
        return View(projection, Scale(level, ends=(float(span.least), float(span.most))))
    if "." in address or not isinstance(answer, schema.Check | schema.Words):
        return View(projection, Scale(level, order, radius=getattr(answer, "radius", 0)))
    unit = "statement" if isinstance(answer, schema.Check) else "word"
    return View(projection, Scale(level, order), lambda value: parts_of_value(answer, value), unit)


def by_option(protocol: ProtocolFile, name: str, projection: Projection) -> View:
    """Return the view of a pick of many that compares, for each option, whether it was chosen."""
    answer = protocol.answer(name)

    def parts(value: str) -> list[str]:
        given = option_sets.chosen(value)
        options = None if value == CANNOT_JUDGE else option_sets.all_options(protocol, answer, value)
        return [YES if one in given else NO for one in options or ()]

    return View(projection, Scale(NOMINAL), parts, "option")


def is_set(answer: schema.Answer) -> bool:
    """Return whether the answer is a set of options."""
    return isinstance(answer, schema.Pick) and bool(answer.many)


def parts_of_value(answer: schema.Check | schema.Words, value: str) -> list[str]:
    """Return the answer to each statement, or the mark on each word; nothing for *cannot judge*."""
    if value == CANNOT_JUDGE:
        return []
    if isinstance(answer, schema.Check):
        return value.split(",")
    count, _, marked = value.partition(";")
    marks = dict(one.split(":") for one in marked.split(",") if one)
    return [marks.get(str(place), answer.unmarked) for place in range(1, min(int(count), MAX_CAPTION) + 1)]


def seen_as(answer: schema.Answer, view: Mapping[str, str], value: str) -> str:
    """Return an answer as seen in a view; for a set of options, each option as seen in the view."""
    if is_set(answer):
        return option_sets.as_label({seen_through(view, one) for one in option_sets.chosen(value)})
    return seen_through(view, value)


def seen_through(view: Mapping[str, str], value: str) -> str:
    """Return a view's value for a value; for a ranking, the first whose orders all hold. *Cannot judge* stays."""
    if value == CANNOT_JUDGE:
        return view.get(value, value)
    if ">" in value or "=" in value:
        ranks = ranks_of(value)
        return next((seen for orders, seen in view.items() if orders != ELSE and _hold(orders, ranks)), view[ELSE])
    return view.get(in_table(value, view), view.get(ELSE, value))


def _hold(orders: str, ranks: Mapping[str, int]) -> bool:
    """Return whether a ranking has all these orders: `positive>negative, other>=negative`."""
    for order in orders.split(","):
        sign = next(one for one in (">=", ">", "=") if one in order)
        one, other = (ranks[name.strip()] for name in order.split(sign))
        if not (one < other if sign == ">" else one == other if sign == "=" else one <= other):
            return False
    return True


def parents_of(answer: schema.Answer, of_item: Attributes) -> list[list[int]]:
    """Return, for each text in a list, the places (from 1) of texts that must hold for it to count; `tasks_of` refuses
    items whose parents are not places in the list.
    """
    if not isinstance(answer, schema.Check) or not answer.parents or not answer.of:
        return []
    start = f"{CAPTION_PREFIX}{answer.of.partition('.')[2]}-"
    own = {one.removeprefix(start): of for one, of in of_item.items() if one.startswith(start)}
    named = {int(place): of.get(answer.parents, []) for place, of in own.items()}
    return [_places(named.get(place, [])) for place in range(max(named, default=-1) + 1)]


def _places(value: object) -> list[Any]:
    """Read an attribute such as [1, 4], 1 or "1,4"; 0 means none, as in DSG's file."""
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
    found = [int(one) if isinstance(one, str) and one.strip().isdecimal() else one for one in given]
    return [one for one in found if type(one) is not int or one]
