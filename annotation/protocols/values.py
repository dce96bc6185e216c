"""The values that an answer of a protocol file can have, and the names of its options.

An option is named by its role, and if the role may have more members, by role and place: `positive`, `candidate-2`.
Tables of a file name roles: `candidate` stands for all its members.
"""

from collections.abc import Container, Sequence
from decimal import Decimal
from functools import cache
from itertools import takewhile

from annotation.protocols import schema
from annotation.protocols.base import CAPTION_PREFIX
from annotation.protocols.schema import ProtocolFile, bounds

TIE, BOTH_BAD, NOT_APPLICABLE = "tie", "both_bad", "not_applicable"
YES, NO, UNSURE = "yes", "no", "unsure"
ELSE = "else"
_RIGHT = "right"
MARKED = ("points", "boxes")  # kinds of answers that are marks on a picture
NUMERIC = ("scale", "number", "check", "words")  # kinds of answers that have a number


def options_of(protocol: ProtocolFile, answer: schema.Pick | schema.Rank | schema.Pair) -> Sequence[str]:
    """Return the roles whose members are the options: `images.candidate`."""
    if answer.of == "pair":
        return [protocol.tasks.pairs] if isinstance(protocol.tasks, schema.Pairs) else []
    return [one for one in answer.of if one != "pair"]


def points(scale: schema.Scale) -> list[str]:
    """Return the points of a scale from low to high, as they are stored."""
    if isinstance(scale.points, list):
        return [str(schema.as_value(point)) for point in scale.points]
    return list(_steps(f"1..{scale.points}" if isinstance(scale.points, int) else scale.points, scale.step))


@cache
def _steps(points: str, step: float) -> tuple[str, ...]:
    """Return the points, at most one more than a scale may have."""
    least, most = map(Decimal, points.split(".."))
    by = Decimal(str(step))
    found = takewhile(lambda one: one <= most, (least + place * by for place in range(schema.MOST_POINTS + 1)))
    return tuple(written(one) for one in found)


def written(number: Decimal) -> str:
    """Return the number without zeros at the end: `3.5` for 3.50, `0` for -0.0."""
    plain = format(number, "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain == "-0" else plain


def is_slider(answer: object) -> bool:
    """Return whether the answer is a scale with more points than there are buttons for."""
    return isinstance(answer, schema.Scale) and len(points(answer)) > schema.MOST_BUTTONS


def fixed_of(answer: object) -> dict[str, schema.Fixed]:
    """Return the answers that are not shuffled, by value."""
    match answer:
        case schema.Pick():
            return answer.fixed
        case schema.Pair():
            return {name: one for name, one in ((TIE, answer.tie), (BOTH_BAD, answer.both_bad)) if one}
        case schema.Scale(not_applicable=str(label)) | schema.Number(not_applicable=str(label)):
            return {NOT_APPLICABLE: schema.Fixed(label=label)}
    return {}


def table_values(protocol: ProtocolFile, address: str) -> list[str] | None:
    """Return what tables may name: roles, fixed answers, points. None if there is no finite list. Raises KeyError.

    The address is an answer's name, or for one statement of a check `holds.same`.
    """
    name, _, statement = address.partition(".")
    answer = protocol.answer(name)
    if statement:
        if not isinstance(answer, schema.Check) or statement not in answer.statements:
            raise KeyError(address)
        return [YES, NO, UNSURE] if answer.unsure else [YES, NO]
    match answer:
        case schema.Pick() | schema.Pair():
            return [*(one.partition(".")[2] for one in options_of(protocol, answer)), *fixed_of(answer)]
        case schema.Scale():
            return [*points(answer), *fixed_of(answer)]
    return None


def is_of_right(protocol: ProtocolFile, rule: object) -> bool:
    """Return whether the rule is about the right answer (`of: right`, unless a value has that name)."""
    if not isinstance(rule, schema.AtLeast) or rule.of != _RIGHT:
        return False
    return _RIGHT not in (table_values(protocol, rule.answer) or [])


def option_name(protocol: ProtocolFile, identity: str) -> str:
    """Return `positive` for `caption-positive-0` if an item has one such caption, else `positive-0`."""
    kinds = ("captions", "texts", "lists") if identity.startswith(CAPTION_PREFIX) else ("images",)
    name = identity.removeprefix(CAPTION_PREFIX)
    role = name.rpartition("-")[0]
    return next((role for kind in kinds if is_alone(protocol, f"{kind}.{role}")), name)


def is_alone(protocol: ProtocolFile, role: str) -> bool:
    """Return whether an item has at most one part in that role."""
    return role in protocol.roles and bounds(protocol.roles[role])[1] == 1


def member_names(protocol: ProtocolFile, role: str) -> list[str]:
    """Return the possible names of a role's members: `candidate-0` and so on; for a single member the role."""
    name, most = role.partition(".")[2], bounds(protocol.roles[role])[1]
    return (
        [name] if most == 1 else [f"{name}-{place}" for place in range(schema.MOST_OPTIONS if most is None else most)]
    )


def member_count(protocol: ProtocolFile, role: str) -> int:
    """Return the least number of members in a role, and the largest unless it is open."""
    least, most = bounds(protocol.roles[role])
    return least if most is None else most


def may_ask_nothing(protocol: ProtocolFile, answer: object) -> bool:
    """Return whether the answer is a check of a list that an item may lack."""
    return isinstance(answer, schema.Check) and bounds(protocol.roles.get(str(answer.of), "1"))[0] == 0


def role_of(value: str) -> str:
    """Return `candidate` for `candidate-2`; other values as they are."""
    role, _, number = value.rpartition("-")
    return role if role and number.isdecimal() else value


def in_table(value: str, table: Container[str]) -> str:
    """Return what represents the value in a table: the value itself, or its role."""
    return value if value in table else role_of(value)
