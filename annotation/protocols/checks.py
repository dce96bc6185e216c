"""Check a protocol file beyond its form: all names exist, and every answer leads somewhere."""

import contextlib
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice, pairwise, product
from math import prod

from annotation.protocols import marks, numbers, option_sets, schema, values
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.conditions import parts_of_fact
from annotation.protocols.keys import KeysTaken, given_keys
from annotation.protocols.layout import PICTURES, TEXTS, bound_roles, drawn_by
from annotation.protocols.measuring import is_set
from annotation.protocols.schema import MOST_IN_ROW, MOST_KEYS, MOST_OPTIONS, MOST_TASKS, ProtocolFile, bounds
from annotation.protocols.values import ELSE, MARKED, NUMERIC, table_values
from annotation.wording import counted, exact
from benchmarks.formats.limits import MAX_CAPTIONS, MAX_IMAGES
from benchmarks.formats.own.mapping import columns_of

Found = tuple[str, tuple[str | int, ...], str]  # code, path and remedy
LONGEST_LABEL = 500  # characters in all stored answers of a screen together

# Fields of the judging page other than the answers' (annotation/judging/views.py).
_ENVELOPE = frozenset(
    ("lease", "key", "reason", "flag_reason", "cannot_judge", "active", "elapsed", "seen", "have", "ahead")
)
_RULES = {
    "majority": ("pick", "pair", "scale", "number"),
    "dawid_skene": ("pick", "pair", "scale"),
    "at_least": ("pick", "pair", "scale"),
    "unanimous": ("pick", "pair", "scale"),
    "mean": NUMERIC,
    "median": NUMERIC,
    "mean_rank": ("rank",),
    "bradley_terry": ("pair", "rank"),
    "latest": ("text", "edit"),
    "agreement": MARKED,
}
_AGREEMENT = {
    "pick": ("nominal",),
    "pair": ("nominal",),
    "scale": ("nominal", "ordinal", "interval"),
    "number": ("nominal", "ordinal", "interval"),
    "rank": ("nominal", "rank"),
    "check": ("nominal",),
    "words": ("nominal",),
    "text": (),
    "edit": (),
    "points": ("points",),
    "boxes": ("boxes",),
}


def problems(protocol: ProtocolFile) -> Iterator[Found]:
    """Yield every problem, with the path of the key it is about."""
    yield from _roles(protocol)
    yield from _tasks(protocol)
    yield from _screen(protocol)
    yield from _answers(protocol)
    yield from _conditions(protocol)
    yield from _decisions(protocol)
    yield from _carried(protocol)
    yield from _measures(protocol)
    yield from _combined(protocol)
    yield from _right(protocol)


def _listed(names: Iterable[str]) -> str:
    """List up to 20 names."""
    first = list(islice(names, 21))
    return ", ".join(first[:20] + ["…"] * (len(first) > 20)) or "none"


def _known_role(protocol: ProtocolFile, reference: str, path: tuple[str | int, ...]) -> Iterator[Found]:
    if reference not in protocol.roles:
        yield "UNKNOWN_ROLE", path, f"item has no {reference}. It has {_listed(list(protocol.roles))}."


def _roles(protocol: ProtocolFile) -> Iterator[Found]:
    if not protocol.roles:
        yield "NO_ROLE", ("item",), "List the images, captions, texts or lists that an item has."
    seen: dict[str, str] = {}
    for reference, count in protocol.roles.items():
        kind, _, role = reference.partition(".")
        least, most = bounds(count)
        if most is not None and (most < least or most == 0):
            advice = "Write how many there are: 2, or from a smaller number to a larger one, 2..9."
            yield "WRONG_COUNT", ("item", kind, role), advice
        if (least if most is None else max(least, most)) > (limit := MAX_IMAGES if kind == "images" else MAX_CAPTIONS):
            yield "WRONG_COUNT", ("item", kind, role), f"An item can have at most {limit} {kind}."
        if kind != "images" and seen.setdefault(role, kind) != kind:
            advice = f"{seen[role]} has this role too. Captions, texts and lists need different names."
            yield "ROLE_TWICE", ("item", kind, role), advice


def _known_answer(protocol: ProtocolFile, address: str, path: tuple[str | int, ...]) -> Iterator[Found]:
    try:
        table_values(protocol, address)
    except KeyError:
        names = [one.name for one in protocol.answers]
        yield "UNKNOWN_ANSWER", path, f"There is no answer {address}. Choose one of {_listed(names)}."


def _tasks(protocol: ProtocolFile) -> Iterator[Found]:
    for name, roles in bound_roles(protocol).items():
        for role in roles:
            yield from _known_role(protocol, role, ("tasks",))
        if len({role.partition(".")[0] == "images" for role in roles}) > 1:
            yield "MIXED_ROLES", ("tasks",), f"{name} stands for pictures and for texts. Choose one."
    match protocol.tasks:
        case schema.Each(each=each):
            for name, roles in each.items():
                if len(set(roles)) < len(roles):
                    yield "VALUE_TWICE", ("tasks", "each", name), f"{name} goes through a role twice. Name it once."
            least = prod(sum(bounds(protocol.roles.get(role, "1"))[0] for role in roles) for roles in each.values())
            if least > MOST_TASKS:
                advice = f"An item would make at least {least:,} tasks, but it can have at most {MOST_TASKS:,}."
                yield "TOO_MANY_TASKS", ("tasks", "each"), f"{advice} Go through fewer roles."
        case schema.Pairs(pairs=role, design=design, per_item=per_item):
            yield from _known_role(protocol, role, ("tasks", "pairs"))
            if role in protocol.roles and (bounds(protocol.roles[role])[1] or 2) < 2:
                yield "PAIR_OF_ONE", ("tasks", "pairs"), f"A pair needs two, but an item has only one {role}."
            if (design == "all") != (per_item is None):
                advice = "Add per_item, the number of pairs per item." if design != "all" else "Remove per_item."
                yield "WRONG_DESIGN", ("tasks", "design"), advice
            if not any(isinstance(one, schema.Pair) and one.of == "pair" for one in protocol.answers):
                yield "PAIR_NOT_ASKED", ("tasks", "pairs"), "Add an answer of kind pair with of: pair."
        case schema.Rows(rows=rows):
            for (_, one), (name, other) in pairwise(rows.items()):
                if one.keys() != other.keys():
                    yield "ROWS_DIFFER", ("tasks", "rows", name), f"Every row needs the names {_listed(list(one))}."


def _screen(protocol: ProtocolFile) -> Iterator[Found]:
    bound = bound_roles(protocol)
    options = {role for one in protocol.answers for role in _all_options(protocol, one)}
    shown: set[tuple[tuple[str, ...], str]] = set()
    for place, block in enumerate(protocol.screen):
        key, name = next((key, value) for key, value in block if key not in ("layout", "label"))
        path = ("screen", place, key)
        kinds = PICTURES if key in ("picture", "pictures", "on_request") else TEXTS
        roles = bound.get(name) or [f"{kind}.{name}" for kind in kinds if f"{kind}.{name}" in protocol.roles]
        if not roles or roles[0].partition(".")[0] not in kinds:
            there = [one.partition(".")[2] for one in protocol.roles if one.partition(".")[0] in kinds]
            there += [one for one, of in bound.items() if of[0].partition(".")[0] in kinds]
            yield "UNKNOWN_ROLE", path, f"There is no {name} to show here. Choose one of {_listed(there)}."
            continue
        counts = [bounds(protocol.roles[role])[1] for role in roles if role in protocol.roles]
        if name not in bound and key in ("picture", "sentence", "on_request") and counts != [1]:
            several = {"picture": "pictures", "sentence": "list"}.get(key, "tasks: each")
            yield "SEVERAL", path, f"An item has several {name}. Use {several}, or make a task for each."
        if isinstance(block, schema.Picture):
            yield from _drawn(protocol, block, ("screen", place))
        if isinstance(block, schema.Pictures) and block.layout == "row" and not _fits_row(counts):
            advice = f"On a phone, a row holds only {MOST_IN_ROW} pictures. Limit the role, as in 1..{MOST_IN_ROW}, or"
            yield "ROW_TOO_LONG", ("screen", place, "layout"), f"{advice} use layout: grid."
        if (kinds, name) in shown:
            yield "SHOWN_TWICE", path, f"{name} is on the screen already."
        if name not in bound and options & set(roles):
            yield "SHOWN_TWICE", path, f"{name} is among the options of an answer, which show it."
        shown.add((kinds, name))
    names = {name for _, name in shown}
    for name in bound:
        if name not in names and not any(_works_on(one, name) for one in protocol.answers):
            yield "NOT_SHOWN", ("tasks",), f"The tasks go through {name}, but the screen does not show it."
    texts = {of for one in protocol.answers if isinstance(of := getattr(one, "of", None), str)}
    if not protocol.screen and not options and not texts:
        yield "NOTHING_SHOWN", ("screen",), "Show at least a picture or a sentence."
    roles = [*options, *texts, *(f"{kind}.{name}" for kinds, name in shown for kind in kinds)]
    least = [bounds(protocol.roles[role])[0] for role in roles if role in protocol.roles]
    if least and not any(least) and not names & bound.keys() and not texts & bound.keys():
        advice = "An item may lack everything that the screen shows. Require at least 1 for one role."
        yield "NOTHING_SHOWN", ("screen",), advice


def _drawn(protocol: ProtocolFile, block: schema.Picture, path: tuple[str | int, ...]) -> Iterator[Found]:
    for kind, name in drawn_by(block):
        role = next((f"{of}.{name}" for of in TEXTS if f"{of}.{name}" in protocol.roles), "")
        if not role and name not in protocol.item.attributes:
            there = [one.partition(".")[2] for one in protocol.roles if not one.startswith("images.")]
            advice = f"Name a text or an attribute that has the {kind}. There are: "
            yield "UNKNOWN_ROLE", (*path, kind), advice + _listed([*there, *protocol.item.attributes]) + "."
        elif role and bounds(protocol.roles[role])[1] != 1:
            yield "SEVERAL", (*path, kind), f"An item may have several {name}. Write all {kind} as one JSON list."


def _fits_row(counts: Sequence[int | None]) -> bool:
    return all(most is not None and most <= MOST_IN_ROW for most in counts)


def _works_on(answer: object, name: str) -> bool:
    return isinstance(answer, schema.Words | schema.Edit) and answer.of == name


def _all_options(protocol: ProtocolFile, answer: object) -> Sequence[str]:
    if isinstance(answer, schema.Pick | schema.Rank | schema.Pair):
        return values.options_of(protocol, answer)
    if isinstance(answer, schema.Check):
        return [answer.of] if answer.of else []
    return []


def _answers(protocol: ProtocolFile) -> Iterator[Found]:
    names: set[str] = set()
    longest = 0
    for place, one in enumerate(protocol.answers):
        path = ("answers", place)
        if one.name in names:
            yield "ANSWER_TWICE", (*path, "name"), f"Another answer is called {one.name}."
        names.add(one.name)
        if one.name in _ENVELOPE:
            yield "NAME_TAKEN", (*path, "name"), f"The judging page uses {one.name} itself. Choose another name."
        if len(protocol.answers) > 1 and not one.ask:
            yield "NOT_ASKED", path, "Add ask, its question. If there are several answers, each needs one."
        for role in _all_options(protocol, one):
            yield from _known_role(protocol, role, (*path, "of"))
        if isinstance(one, schema.Pick | schema.Rank | schema.Pair):
            yield from _options(protocol, one, path)
        if isinstance(one, schema.Scale):
            yield from _scale(one, path)
        if isinstance(one, schema.Number):
            yield from _number(one, path)
        if isinstance(one, schema.Check):
            yield from _check(protocol, one, path)
        if isinstance(one, schema.Words | schema.Edit):
            yield from _shown_text(protocol, one, path)
        if isinstance(one, schema.Points | schema.Boxes):
            yield from _marked(protocol, one, path)
        if isinstance(one, schema.Text) and one.shortest > one.longest:
            yield "WRONG_COUNT", (*path, "shortest"), f"The shortest text is longer than the longest, {one.longest}."
        with contextlib.suppress(KeyError):  # an unknown role, which has its own problem
            longest += _longest(protocol, one) + 1
    if all(values.may_ask_nothing(protocol, one) for one in protocol.answers):
        advice = "An item may lack all that the answers are about. Require at least 1 in one of their lists, as in 1.."
        yield "NOTHING_ASKED", ("answers",), advice
    if longest > LONGEST_LABEL:
        advice = f"Ask less on one screen: its answers can take {longest} characters, but {LONGEST_LABEL} are stored."
        yield "TOO_LONG", ("answers",), advice
    try:
        given_keys(protocol)
    except KeysTaken as taken:
        yield "SAME_KEY", ("answers", taken.place), str(taken)


def _options(
    protocol: ProtocolFile, one: schema.Pick | schema.Rank | schema.Pair, path: tuple[str | int, ...]
) -> Iterator[Found]:
    roles = [role for role in values.options_of(protocol, one) if role in protocol.roles]
    fixed = values.fixed_of(one)
    if one.of == "pair":
        if not isinstance(protocol.tasks, schema.Pairs):
            yield "PAIR_NOT_ASKED", (*path, "of"), "of: pair needs tasks: {pairs: …}."
        least: int = 2
        most: int | None = 2
    else:
        counts = [bounds(protocol.roles[role]) for role in roles]
        least = sum(low for low, _ in counts)
        most = None if any(high is None for _, high in counts) else sum(high or 0 for _, high in counts)
    kinds = {role.partition(".")[0] == "images" for role in roles}
    if len(kinds) > 1:
        yield "MIXED_ROLES", (*path, "of"), "Options must be all pictures or all texts."
    if len(set(roles)) < len(roles):
        yield "VALUE_TWICE", (*path, "of"), "A role is named twice."
    if isinstance(one, schema.Rank) and (most is None or most > MOST_KEYS):
        advice = (
            f"A ranking can have at most {MOST_KEYS} options, since ranks have the keys 1 to {MOST_KEYS}; limit the "
        )
        advice += f"role, as in 2..{MOST_KEYS}, or compare pairs (tasks: pairs, and an answer of kind pair)."
        yield "TOO_MANY_OPTIONS", (*path, "of"), advice
    elif most is None or most > MOST_OPTIONS:
        advice = f"There can be at most {MOST_OPTIONS} options; limit the role, as in 2..{MOST_OPTIONS}."
        yield "TOO_MANY_OPTIONS", (*path, "of"), advice
    if isinstance(one, schema.Pick) and one.many:
        yield from _how_many(one, (least + len(fixed), None if most is None else most + len(fixed)), path)
    if isinstance(one, schema.Pair) and (least, most) != (2, 2):
        yield "PAIR_OF_ONE", (*path, "of"), "A pair compares exactly two options."
    if isinstance(one, schema.Rank) and least < 2:
        yield "PAIR_OF_ONE", (*path, "of"), "A ranking needs at least two options."
    if isinstance(one, schema.Pick) and least + len(fixed) < 2:
        yield "UNREACHABLE_ANSWER", path, "An answer needs at least two values to choose from."
    for value in fixed.keys() & {role.partition(".")[2] for role in roles}:
        yield "VALUE_TWICE", (*path, "fixed", value), f"{value} is also the role of an option."
    labels = [said.label.casefold() for said in fixed.values()]
    if len(set(labels)) < len(labels):
        yield "VALUE_TWICE", (*path, "fixed"), "Two fixed answers have the same label."
    for value in fixed.keys() & {CANNOT_JUDGE, ELSE}:
        yield "VALUE_TWICE", (*path, "fixed", value), f"{value} has a meaning of its own; choose another name."


def _how_many(one: schema.Pick, there: tuple[int, int | None], path: tuple[str | int, ...]) -> Iterator[Found]:
    """Check a pick of many; `there` are the fewest and the most options of an item, with fixed answers."""
    least, most = option_sets.limits(one)
    fewest = there[0] - (option_sets.NONE in one.fixed)
    if most is not None and (most < least or most == 1):
        advice = "Write how many must be chosen: 2, or from a smaller number to a larger one, 1..3."
        yield "WRONG_COUNT", (*path, "many"), advice
    elif least > fewest:
        advice = f"An item may have only {fewest} to choose from, fewer than {least}. Ask for fewer, or require more."
        yield "WRONG_COUNT", (*path, "many"), advice
    if one.alike:
        advice = "Remove alike, because with many, each option is decided separately."
        yield "RULE_DOES_NOT_FIT", (*path, "alike"), advice


def _scale(one: schema.Scale, path: tuple[str | int, ...]) -> Iterator[Found]:
    steps = values.points(one)
    if isinstance(one.points, list) and sorted(set(one.points)) != one.points:
        yield "WRONG_COUNT", (*path, "points"), "List the points from low to high, each once."
    if isinstance(one.points, str):
        last = Decimal(one.points.rpartition("..")[2])
        if len(steps) > schema.MOST_POINTS:
            yield (
                "WRONG_COUNT",
                (*path, "step"),
                f"There would be more than {schema.MOST_POINTS:,} points. Use larger steps.",
            )
            return
        if len(steps) < 2 or Decimal(steps[-1]) != last:
            yield (
                "WRONG_COUNT",
                (*path, "points"),
                "Go from a lower point to a higher one that the steps reach, as in 0..100.",
            )
            return
    elif "step" in one.model_fields_set:
        yield "WRONG_COUNT", (*path, "step"), "Steps need a range of points, as in points: 0..100. Remove step."
    for anchor in one.anchors:
        if anchor not in steps:
            yield "UNKNOWN_VALUE", (*path, "anchors", anchor), f"The scale lacks the point {anchor}: {_listed(steps)}."


def _number(one: schema.Number, path: tuple[str | int, ...]) -> Iterator[Found]:
    if one.least >= one.most:
        yield ("WRONG_COUNT", (*path, "most"), f"The largest number must be above the smallest, {exact(one.least)}.")
    for name in ("least", "most"):
        value = getattr(one, name)
        if round(value, one.decimals) != value:
            yield "WRONG_COUNT", (*path, name), f"{exact(value)} has more than {one.decimals} decimals."


def _check(protocol: ProtocolFile, one: schema.Check, path: tuple[str | int, ...]) -> Iterator[Found]:
    if bool(one.of) == bool(one.statements):
        yield "NO_STATEMENTS", path, "Use either statements or, in of, a list of the item, not both."
    if one.of and one.of.startswith("images."):
        yield "MIXED_ROLES", (*path, "of"), "Statements must be texts."
    if one.of and schema.uses_first(protocol.roles.get(one.of, "")):
        yield "WRONG_COUNT", (*path, "of"), "A check asks about every text in its role. Give the role a count."
    if one.parents and (not one.of or one.parents not in protocol.item.attributes):
        yield "UNKNOWN_ATTRIBUTE", (*path, "parents"), "Name one of item.attributes that the texts of the list have."


def _shown_text(
    protocol: ProtocolFile, one: schema.Words | schema.Edit, path: tuple[str | int, ...]
) -> Iterator[Found]:
    bound = bound_roles(protocol)
    if one.of in bound:
        return
    if one.of.startswith("images.") or one.of not in protocol.roles:
        there = [*bound, *(role for role in protocol.roles if not role.startswith("images."))]
        yield "UNKNOWN_ROLE", (*path, "of"), f"There is no text {one.of}. Choose one of {_listed(there)}."
    elif bounds(protocol.roles[one.of]) != (1, 1):
        yield "SEVERAL", (*path, "of"), f"An item may have several {one.of}. Make a task for each."
    if isinstance(one, schema.Words) and one.unmarked in one.marks:
        yield "VALUE_TWICE", (*path, "unmarked"), f"{one.unmarked} is also a mark."


def _marked(protocol: ProtocolFile, one: schema.Points | schema.Boxes, path: tuple[str | int, ...]) -> Iterator[Found]:
    shown = [block.picture for block in protocol.screen if isinstance(block, schema.Picture)]
    if one.of not in shown:
        yield "NOT_SHOWN", (*path, "of"), f"Name a picture block of the screen. Choose one of {_listed(shown)}."
    elif one.of not in bound_roles(protocol) and bounds(protocol.roles.get(f"images.{one.of}", "1"))[0] == 0:
        yield "WRONG_COUNT", (*path, "of"), f"An item may lack {one.of}, and then nothing could be marked. Require 1."
    if one.least > one.most:
        yield "WRONG_COUNT", (*path, "least"), f"least is more than most, {one.most}."
    if marks.NONE in one.labels:
        yield (
            "VALUE_TWICE",
            (*path, "labels", marks.NONE),
            f"{marks.NONE} has a meaning of its own; choose another name.",
        )
    labels = [said.label.casefold() for said in one.labels.values()]
    if len(set(labels)) < len(labels):
        yield "VALUE_TWICE", (*path, "labels"), "Two marks have the same label."


def _longest(protocol: ProtocolFile, one: object) -> int:
    """Return the most characters that a stored answer can take."""
    match one:
        case schema.Number():
            return max(len(str(int(end))) for end in (one.least, one.most)) + 1 + one.decimals
        case schema.Scale():
            return max(map(len, (*values.points(one), *values.fixed_of(one))))
        case schema.Rank():
            roles = values.options_of(protocol, one)
            return sum((bounds(protocol.roles[role])[1] or 0) * (len(role.partition(".")[2]) + 3) for role in roles)
        case schema.Pick() if one.many:
            names = [name for role in values.options_of(protocol, one) for name in values.member_names(protocol, role)]
            lengths = sorted((len(name) + 1 for name in [*names, *one.fixed]), reverse=True)
            return sum(lengths[: option_sets.limits(one)[1]]) + 4 * len(one.of)
        case schema.Check():
            most = len(one.statements) if one.statements else bounds(protocol.roles[str(one.of)])[1] or 30
            return 7 * most
        case schema.Points() | schema.Boxes():
            label = max((len(name) + 1 for name in one.labels), default=0)
            return one.most * ((10 if one.kind == "points" else 20) + label)
        case schema.Words():
            return 100  # a text usually has few marks
    return 20


def _conditions(protocol: ProtocolFile) -> Iterator[Found]:
    places = {one.name: place for place, one in enumerate(protocol.answers)}
    for place, one in enumerate(protocol.answers):
        if one.when is None:
            continue
        path = ("answers", place, "when")
        for kind, listed in (("all", one.when.all), ("any", one.when.any)):
            for address, wanted in listed.items():
                name = address.partition(".")[0]
                at = (*path, kind, address)
                if name not in places:
                    yield from _known_answer(protocol, address, at)
                elif places[name] >= place:
                    cycle = any(name == other.name and _asks_for(other, one.name) for other in protocol.answers)
                    code = "CYCLE" if cycle or name == one.name else "ASKED_LATER"
                    yield code, at, f"{one.name} waits for {name}, which comes later. Name an earlier answer."
                else:
                    yield from _known_values(protocol, address, wanted, at)
                    yield from _blind(protocol, address, wanted, at)
        for fact, wanted in one.when.item.items():
            yield from _of_item(protocol, fact, wanted, (*path, "item", fact))
        if not one.when.all and not one.when.any and not one.when.item:
            advice = "State after which answers this is asked, or about which items: item: {images.second: 1..}."
            yield "UNREACHABLE_ANSWER", path, advice
        yield from _reachable(protocol, one, path)


def _of_item(protocol: ProtocolFile, fact: str, wanted: Sequence[str], path: tuple[str | int, ...]) -> Iterator[Found]:
    role, attribute = parts_of_fact(fact)
    if role and role not in protocol.roles:
        yield from _known_role(protocol, role, path)
    elif role and attribute:
        if attribute not in protocol.item.attributes:
            there = _listed(protocol.item.attributes)
            yield "UNKNOWN_ATTRIBUTE", path, f"item has no attribute {attribute}. It has {there}."
    elif role and (len(wanted) != 1 or not re.fullmatch(r"\d{1,3}(\.\.\d{0,3})?", wanted[0])):
        yield "WRONG_COUNT", path, "Write how many an item must have: 1, 2..9, or 1.. for one or more."
    elif role and not schema.overlap(wanted[0], protocol.roles[role]):
        has = schema.how_many(protocol.roles[role])
        yield "UNREACHABLE_ANSWER", path, f"An item always has {has} of {role}, so this question is never asked."


def _blind(protocol: ProtocolFile, address: str, wanted: Sequence[str], path: tuple[str | int, ...]) -> Iterator[Found]:
    """Yield each question that comes only after some options, since that would reveal which options they are."""
    with contextlib.suppress(KeyError):
        members = _members(protocol, address)
        named = [value for value in wanted if values.role_of(value) in members]
        if named and not set(members) <= set(wanted):
            advice = f"A question that comes only after {_listed(named)} reveals which option that is. "
            yield "NOT_BLIND", path, advice + f"Name all of {_listed(list(members))} here, or none."


def _asks_for(answer: schema._Asked, name: str) -> bool:
    return answer.when is not None and any(
        address.partition(".")[0] == name for address in [*answer.when.all, *answer.when.any]
    )


def _reachable(protocol: ProtocolFile, one: schema._Asked, path: tuple[str | int, ...]) -> Iterator[Found]:
    """Yield each question that can never be asked, because no answer to an earlier one meets all its conditions."""
    needed: dict[str, set[str]] = {}
    todo, seen = [one], {one.name}
    sets = {other.name for other in protocol.answers if is_set(other)}
    while todo:
        asked = todo.pop()
        for address, wanted in (asked.when.all if asked.when else {}).items():
            name = address.partition(".")[0]
            if name in sets:  # several of its values can hold
                continue
            needed[address] = needed.get(address, set(wanted)) & set(wanted)
            todo += [other for other in protocol.answers if other.name == name and name not in seen]
            seen.add(name)
    for address, left in needed.items():
        if not left:
            yield "UNREACHABLE_ANSWER", path, f"{one.name} is never asked: no value of {address} meets all conditions."


def _known_values(
    protocol: ProtocolFile, address: str, wanted: Sequence[str], path: tuple[str | int, ...], *more: str
) -> Iterator[Found]:
    try:
        known = table_values(protocol, address)
    except KeyError:
        yield from _known_answer(protocol, address, path)
        return
    answer = protocol.answer(address.partition(".")[0])
    if isinstance(answer, schema.Number):
        fixed = (*values.fixed_of(answer), CANNOT_JUDGE, *more)
        span = " to ".join(map(exact, (answer.least, answer.most)))
        for value in wanted:
            if value not in fixed and not numbers.has(answer, value):
                yield "UNKNOWN_VALUE", path, f"{address} has no value {value}. It is a number from {span}."
        return
    if known is None:
        yield "NO_VALUES", path, f"{address} does not have a list of values to name here."
        return
    members = _members(protocol, address)
    for value in wanted:
        if value not in (*known, CANNOT_JUDGE, *more, *(one for of in members.values() for one in of)):
            yield "UNKNOWN_VALUE", path, f"{address} has no value {value}. It has {_listed(known)}."


def _members(protocol: ProtocolFile, address: str) -> dict[str, list[str]]:
    """Return the names that tables may use for each role's members."""
    answer = protocol.answer(address.partition(".")[0])
    if not isinstance(answer, schema.Pick | schema.Rank | schema.Pair):
        return {}
    roles = [role for role in values.options_of(protocol, answer) if role in protocol.roles]
    return {role.partition(".")[2]: values.member_names(protocol, role) for role in roles}


def _unsaid(protocol: ProtocolFile, address: str, known: Sequence[str], said: Container[str]) -> list[str]:
    """Return the values that a table leaves out: roles, if neither they nor all their members are in it."""
    members = _members(protocol, address)
    return [
        value for value in known if value not in said and not all(one in said for one in members.get(value, [value]))
    ]


def _decisions(protocol: ProtocolFile) -> Iterator[Found]:
    seen: set[str] = set()
    for place, one in enumerate(protocol.decide):
        path = ("decide", place)
        unknown = list(_known_answer(protocol, one.answer, (*path, "answer")))
        yield from unknown
        if unknown:
            continue
        if one.answer in seen:
            yield "DECIDED_TWICE", (*path, "answer"), f"There is already a rule for {one.answer}."
        seen.add(one.answer)
        answer = protocol.answer(one.answer.partition(".")[0])
        fits = "." in one.answer and one.rule in ("majority", "dawid_skene", "at_least", "unanimous")
        if not fits and answer.kind not in _RULES[one.rule]:
            code = "BOUND_ON_NOMINAL" if one.rule in ("mean", "median") else "RULE_DOES_NOT_FIT"
            kinds = _listed(_RULES[one.rule])
            yield code, (*path, "rule"), f"{one.rule} needs an answer of kind {kinds}; {one.answer} is {answer.kind}."
            continue
        of_sets = "." not in one.answer and is_set(answer)
        if of_sets and isinstance(one, schema.DawidSkene):
            advice = "Decide a pick of many by majority, at_least or unanimous."
            yield "RULE_DOES_NOT_FIT", (*path, "rule"), advice
            continue
        if isinstance(one, schema.AtLeast) and bool(one.of) == of_sets:
            advice = f"Write the value that at least {one.m} must give, as in of: yes." if not of_sets else ""
            advice = advice or f"Remove of: each option that at least {one.m} chose counts."
            yield "UNKNOWN_KEY" if of_sets else "MISSING_KEY", (*path, "of"), advice
            continue
        if isinstance(one, schema._Table):
            yield from _table(protocol, one, path, of_sets)
        if getattr(one, "tie", "") == "none" and "none" not in values.fixed_of(answer):
            yield "UNKNOWN_VALUE", (*path, "tie"), f"{one.answer} has no fixed answer called none."
        if isinstance(one, schema.DawidSkene) and any(
            isinstance(other, schema.DawidSkene) for other in protocol.decide[:place]
        ):
            advice = "A study estimates one answer. Decide the others by majority, at_least or unanimous."
            yield "TWO_ESTIMATES", (*path, "rule"), advice
        if isinstance(one, schema.AtLeast) and not one.is_met(protocol.judgments, protocol.judgments):
            few = f"A task gets only {counted(protocol.judgments, 'judgment')}, which is fewer than m."
            advice = few if isinstance(one.m, int) else "A share cannot be more than 1. Write 2/3, not 3/2."
            yield "M_OUT_OF_K", (*path, "m"), advice
        over = getattr(one, "over", None)
        if over and over not in protocol.item.attributes:
            there = _listed(protocol.item.attributes)
            yield "UNKNOWN_ATTRIBUTE", (*path, "over"), f"item has no attribute {over}. It has {there}."


def _table(
    protocol: ProtocolFile, one: schema._Table, path: tuple[str | int, ...], of_sets: bool = False
) -> Iterator[Found]:
    known = table_values(protocol, one.answer)
    if isinstance(protocol.answer(one.answer.partition(".")[0]), schema.Number):
        known = []  # numbers not in the table are kept
    if known is None:
        yield "NO_VALUES", (*path, "answer"), f"{one.answer} does not have a list of values to decide by."
        return
    more = (ELSE,) if of_sets or isinstance(one, schema.AtLeast | schema.Unanimous) else ()
    yield from _known_values(protocol, one.answer, one.keep, (*path, "keep"))
    yield from _known_values(protocol, one.answer, list(one.drop), (*path, "drop"), *more)
    for value in set(one.keep) & one.drop.keys():
        yield "KEPT_AND_DROPPED", (*path, "drop", value), f"{value} is also kept. Choose one."
    if values.is_of_right(protocol, one):
        if not isinstance(protocol.right.get(one.answer), str | schema.ByItem):
            advice = f"Define the right answer for all tasks alike, such as right: {{{one.answer}: {{from: label}}}}."
            yield "NO_RIGHT_ANSWER", (*path, "of"), advice
        known = []  # any value can be wrong, and else covers them all
    elif isinstance(one, schema.AtLeast) and one.of:
        yield from _known_values(protocol, one.answer, [one.of], (*path, "of"))
        if one.of in one.drop:
            yield "KEPT_AND_DROPPED", (*path, "drop", one.of), f"at_least keeps {one.of}. Remove it here."
    decided = {*_kept(one), *one.drop}
    if missing := _unsaid(protocol, one.answer, [*known, *more], decided):
        advice = f"Define what happens to {_listed(missing)}: list each in keep, or in drop with its reason."
        yield "DROP_NOT_TOTAL", (*path, "drop"), advice


def _kept(rule: schema._Table) -> list[str]:
    return [*rule.keep, *([rule.of] if isinstance(rule, schema.AtLeast) and rule.of else [])]


def _carried(protocol: ProtocolFile) -> Iterator[Found]:
    """Check what is carried: a text that annotators wrote, or an image that was kept."""
    for reference, name in protocol.carry.items():
        path = ("carry", reference)
        if unknown := list(_known_answer(protocol, name, path)):
            yield from unknown
            continue
        if not reference.startswith("images."):
            if protocol.answer(name).kind not in ("text", "edit"):
                yield "CARRY_DOES_NOT_FIT", path, f"{name} is not a text. Name an answer of kind text or edit."
            continue
        match protocol.answers:
            case [schema.Pick(many=False) | schema.Pair() as one]:
                roles, fixed = values.options_of(protocol, one), values.fixed_of(one)
            case _:
                roles, fixed = [], {}
        if not roles or not roles[0].startswith("images."):
            advice = f"{name} doesn't choose an image. Carry one from a pick of pictures that is the only answer."
            yield "CARRY_DOES_NOT_FIT", path, advice
        elif not protocol.decide or not isinstance(protocol.decide[0], schema._Table):
            yield "CARRY_DOES_NOT_FIT", path, f"No rule chooses the image. Decide {name} by majority, for example."
        elif imageless := [one for one in _kept(protocol.decide[0]) if one in (*fixed, CANNOT_JUDGE)]:
            yield "CARRY_DOES_NOT_FIT", path, f"An item kept by {_listed(imageless)} would carry no image. Drop it."


def _measures(protocol: ProtocolFile) -> Iterator[Found]:
    for address, one in protocol.measure.items():
        path = ("measure", address)
        unknown = list(_known_answer(protocol, address, path))
        yield from unknown
        if unknown:
            continue
        kind = "pick" if "." in address else protocol.answer(address).kind
        of_set = kind == "pick" and "." not in address and is_set(protocol.answer(address))
        levels = (*_AGREEMENT[kind], *(["set"] if of_set else []))
        if one.agreement and one.agreement not in levels:
            fitting = _listed(levels)
            advice = f"{address} is a {kind}; its agreement can be {fitting}."
            yield "AGREEMENT_DOES_NOT_FIT", (*path, "agreement"), advice
        known = table_values(protocol, address)
        for name, view in one.views.items():
            at = (*path, "views", name)
            if kind == "rank":
                yield from _orders(protocol, address, view, at)
                continue
            yield from _known_values(protocol, address, list(view), at, ELSE)
            if known is not None and ELSE not in view and (missing := _unsaid(protocol, address, known, view)):
                yield "VIEW_NOT_TOTAL", at, f"Define what {_listed(missing)} become, or add else."
        if one.score == "mean" and kind not in NUMERIC:
            yield "BOUND_ON_NOMINAL", (*path, "score"), f"{address} doesn’t have a number to take the mean of."
        elif one.score and one.score not in ("mean", *(seen for view in one.views.values() for seen in view.values())):
            yield from _known_values(protocol, address, [one.score], (*path, "score"))
    bound = list(protocol.tasks.rows) if isinstance(protocol.tasks, schema.Rows) else list(bound_roles(protocol))
    for name, of in protocol.group.items():
        if isinstance(of, schema.Over):
            if not of.over and not of.every:
                yield "MISSING_KEY", ("group", name), "Name a column of the items, as in over: sentence."
            continue
        over = of.within if isinstance(of, schema.Comparison) else of
        if isinstance(of, schema.Comparison):
            yield from _comparison(protocol, of, ("group", name))
        for through in over:
            if through not in bound:
                there = _listed(bound)
                yield "UNKNOWN_ROLE", ("group", name), f"The tasks have no {through}. They have {there}."


def _comparison(protocol: ProtocolFile, of: schema.Comparison, path: tuple[str | int, ...]) -> Iterator[Found]:
    if not isinstance(protocol.tasks, schema.Each):
        advice = "compare needs tasks that go through each. Remove it, or list rows that count together."
        yield "WRONG_DESIGN", path, advice
    for address in protocol.right:
        yield from _known_values(protocol, address, [of.compare], (*path, "compare"))


def _combined(protocol: ProtocolFile) -> Iterator[Found]:
    names = {one.name: one.kind for one in protocol.answers}
    for name, score in protocol.scores.items():
        path = ("scores", name)
        if name in names:
            yield "VALUE_TWICE", path, f"An answer is called {name}. Choose another name."
        if len(score.rules) != 1:
            yield (
                "WRONG_VALUE",
                path,
                f"Define how to combine answers, with one of the keys {_listed(type(score).model_fields)}.",
            )
            continue
        listed = isinstance(terms := getattr(score, score.rule), list)
        for place, one in enumerate(terms):
            at = (*path, score.rule, place if listed else one)
            yield from _known_answer(protocol, one, at)
            if one in names and names[one] not in NUMERIC:
                advice = f"{one} doesn’t have a number to combine. Name answers of kind {_listed(NUMERIC)}."
                yield "BOUND_ON_NOMINAL", at, advice
        if len(terms) > len(set(terms)):
            yield "VALUE_TWICE", (*path, score.rule), "Name each answer once. A table has weights: {fit: 2, style: 1}."
        if score.rule == "mean" and min(score.weights.values()) <= 0:
            yield "WRONG_VALUE", (*path, "mean"), "A mean’s weights must be above 0. Use sum to subtract."


def _orders(
    protocol: ProtocolFile, address: str, view: Mapping[str, str], path: tuple[str | int, ...]
) -> Iterator[Found]:
    names = {one for of in _members(protocol, address).values() for one in of}
    for orders in view:
        for order in orders.split(","):
            pair = re.fullmatch(r" *(\S+?) *(>=|>|=) *(\S+) *", order)
            if orders != ELSE and (pair is None or not {pair[1], pair[3]} <= names):
                advice = f"Write orders such as a>b, with commas between them, of {_listed(sorted(names))}."
                yield "WRONG_VALUE", path, advice
    if ELSE not in view:
        yield "VIEW_NOT_TOTAL", path, "Add else: what the other orders become."


def _right(protocol: ProtocolFile) -> Iterator[Found]:
    if protocol.group and not protocol.right:
        yield "NO_RIGHT_ANSWER", ("group",), "Groups count right answers. Define them under right."
    sets = [one.name for one in protocol.answers if is_set(one)]
    for name, said in protocol.right.items():
        path = ("right", name)
        if name == "from" and len(protocol.answers) > 1 and name not in (one.name for one in protocol.answers):
            advice = f"State for which answer: right: {{{protocol.answers[0].name}: {{from: {said}}}}}."
            yield "UNKNOWN_ANSWER", path, advice
            continue
        if isinstance(said, list) and not (said and name in sets):
            yield "WRONG_VALUE", path, "Name one value, because only a pick of many has several right ones."
            continue
        if isinstance(said, str | list):
            yield from _known_values(protocol, name, [said] if isinstance(said, str) else said, path)
            continue
        if isinstance(said, schema.ByItem):
            yield from _by_item(protocol, name, said, path)
            continue
        parts = _names_of_parts(protocol)
        for task, value in said.items():
            names = task.split("/")
            if len(names) != len(parts) or not all(name in of for name, of in zip(names, parts, strict=True)):
                there = _listed(map("/".join, product(*parts) if parts else ()))
                yield "UNKNOWN_TASK", (*path, task), f"There is no task {task}. Choose one of {there}."
            yield from _known_values(protocol, name, [value], (*path, task))


def _by_item(protocol: ProtocolFile, name: str, of: schema.ByItem, path: tuple[str | int, ...]) -> Iterator[Found]:
    yield from _known_values(protocol, name, list(of.values.values()), (*path, "values"))
    if any(one.name == name and getattr(one, "of", None) == "pair" for one in protocol.answers):
        yield "WRONG_DESIGN", path, "Not every pair has the right option of the item. Use a pick or a ranking."
    shown = {name.partition(".")[0] for name in columns_of(of.column, ())}
    roles = [role for role in protocol.roles if role.partition(".")[2] in shown]
    for role in roles:
        advice = f"{role} is shown to annotators, so it cannot have the right answer. Remove it from item: a role "
        yield "NOT_BLIND", (*path, "from"), advice + "that the file does not name is not shown."
    pictures = [block for block in protocol.screen if isinstance(block, schema.Picture)]
    drawn = {name: block.picture for block in pictures for _, name in drawn_by(block)}
    for name in [] if roles else sorted(shown & drawn.keys()):
        advice = f"{name} is drawn on {drawn[name]} for annotators, so it cannot have the right answer. "
        yield "NOT_BLIND", (*path, "from"), advice + "Draw something else, or take the right answer from elsewhere."


def _names_of_parts(protocol: ProtocolFile) -> list[list[str]]:
    """Return the possible parts of a task's name: the rows' names, or the members each name ranges over. The full names
    would be their product, which even a short file can make arbitrarily large.
    """
    match protocol.tasks:
        case schema.Rows(rows=rows):
            return [list(rows)]
        case schema.Each(each=each):
            return [_members_named(protocol, roles) for roles in each.values()]
    return []


def _members_named(protocol: ProtocolFile, roles: Sequence[str]) -> list[str]:
    names = [role.partition(".")[2] for role in roles]
    several = any(bounds(protocol.roles.get(role, "1"))[1] != 1 for role in roles)
    return [f"{name}-{place}" for name in names for place in range(MOST_OPTIONS)] if several else names
