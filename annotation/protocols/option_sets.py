"""Answers that are sets of options, to a pick of many.

A stored set has its options sorted, with commas between them. If items have different numbers of options, the number in
each such role follows: `candidate-0,candidate-3;5` of five candidates. This lets agreement use what was not chosen,
too. A fixed answer called `none` is chosen without others.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb

from annotation.protocols import schema, values
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.schema import ProtocolFile, bounds

NONE = "none"
_COUNTS, _OF_ROLES = ";", "+"


def limits(answer: schema.Pick) -> tuple[int, int | None]:
    """Return the fewest and the most options that may be chosen; None: any number."""
    return bounds(answer.many) if isinstance(answer.many, str) else (1, None)


def chosen(said: str) -> frozenset[str]:
    """Return the options of a stored set."""
    return frozenset(filter(None, named(said).split(",")))


def named(said: str) -> str:
    """Return a stored set without the numbers of options."""
    return said.partition(_COUNTS)[0]


def as_label(options: Iterable[str]) -> str:
    return ",".join(sorted(options))


def with_counts(protocol: ProtocolFile, answer: schema.Pick, options: Iterable[str], shown: Sequence[str]) -> str:
    """Return the set as stored; `shown` are the names of all options on the screen."""
    counts = [str(_count(shown, role)) for role in _open_roles(protocol, answer)]
    return as_label(options) + (_COUNTS + _OF_ROLES.join(counts) if counts else "")


def has_counts(protocol: ProtocolFile, answer: schema.Pick, said: str) -> bool:
    """Return whether the set has the numbers of options that the file requires, and that an item can have."""
    roles, counts = _open_roles(protocol, answer), said.partition(_COUNTS)[2].split(_OF_ROLES)
    if len(roles) != len(counts) or not all(one.isdecimal() and len(one) < 4 for one in counts):
        return False
    given = zip(roles, map(int, counts), strict=True)
    return all(schema.is_within(count, protocol.roles[role]) for role, count in given)


def all_options(protocol: ProtocolFile, answer: schema.Pick, said: str) -> list[str] | None:
    """Return what could be chosen on a stored set's screen, fixed answers last; None if it does not show that."""
    open_roles, counts = _open_roles(protocol, answer), said.partition(_COUNTS)[2]
    if open_roles and not counts:
        return None
    told = dict(zip(open_roles, map(int, counts.split(_OF_ROLES)), strict=True)) if open_roles else {}
    found: list[str] = []
    for role in answer.of:
        count = told.get(role, bounds(protocol.roles[role])[0])
        found += values.member_names(protocol, role)[:count]
    return [*found, *answer.fixed]


def _open_roles(protocol: ProtocolFile, answer: schema.Pick) -> list[str]:
    """Return the roles whose number of members varies between items."""
    counts = {role: bounds(protocol.roles[role]) for role in answer.of}
    return [role for role, (least, most) in counts.items() if least != most]


def _count(shown: Sequence[str], role: str) -> int:
    name = role.partition(".")[2]
    return sum(values.role_of(one) == name for one in shown)


def jaccard(one: Iterable[str], other: Iterable[str]) -> float:
    """Return the overlap of two sets: options in both over options in either (Jaccard 1912). 1 for two empty sets."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first | second else 1.0


def how_many_sets(answer: schema.Pick, options: Sequence[str]) -> int:
    """Return how many different answers a question with these options has."""
    least, most = limits(answer)
    free = len(options) - len(_apart(answer))
    sizes = range(least, free + 1 if most is None else min(most, free) + 1)
    return sum(comb(free, size) for size in sizes) + len(_apart(answer))


def is_allowed(answer: schema.Pick, options: frozenset[str]) -> bool:
    """Return whether somebody may choose these options."""
    least, most = limits(answer)
    if options & _apart(answer):
        return len(options) == 1
    return least <= len(options) <= (most or len(options))


def is_split(answer: schema.Pick, said: Sequence[str]) -> bool:
    """Return whether some option has exactly half of the judgments, or the options with more are not an answer."""
    counts = Counter(option for one in said for option in chosen(one))
    won = frozenset(option for option, count in counts.items() if count * 2 > len(said))
    level = any(count * 2 == len(said) for count in counts.values())
    return bool(said) and (level or not (is_allowed(answer, won) or won == {CANNOT_JUDGE}))


def closest_vote(said: Sequence[str]) -> list[str]:
    """Return the votes for and against the option closest to half of them; "" for annotators who were not asked."""
    counts = Counter(option for one in said for option in chosen(one))
    closest = min(sorted(counts), key=lambda option: abs(counts[option] * 2 - len(said)), default="")
    return [(values.YES if closest in chosen(one) else values.NO) if one else "" for one in said]


def in_words(answer: schema.Pick) -> str:
    """Return how many may be chosen: `at least 2`, `exactly 2`."""
    least, most = limits(answer)
    if least == most:
        return f"exactly {least}"
    return f"at least {least}" if most is None else f"at most {most}" if least == 1 else f"{least} to {most}"


def _apart(answer: schema.Pick) -> set[str]:
    """Return the values that can only be chosen on their own."""
    return {NONE} & answer.fixed.keys()
