"""Typed answers: free numbers, and points on scales with more points than buttons. Pure.

A number is stored as people write it in English, without redundant characters: `3`, `-0.5`.
"""

import re
import unicodedata
from decimal import Decimal
from typing import Any, NamedTuple

from annotation.protocols import schema, values
from annotation.protocols.base import InvalidAnswer
from annotation.protocols.values import written
from annotation.wording import gettext_noop

FIELD = "number"  # ending of the name of the field in which it is typed
_WRITTEN = re.compile(r"([+-]?)(?=.?\d)(\d*)(?:([.,٫])(\d+))?")
_LONGEST = 30
_WHOLE = gettext_noop("Write a whole number from %(least)s to %(most)s.")
_STEPS = gettext_noop("Write a number from %(least)s to %(most)s in steps of %(step)s.")
_TWO_WAYS = gettext_noop("“%(number)s” can be read in two ways. Write the number without a sign between thousands.")


class Span(NamedTuple):
    least: Decimal
    most: Decimal
    step: Decimal

    @property
    def size(self) -> int:
        """Return how many numbers there are."""
        return int((self.most - self.least) / self.step) + 1

    def at(self, place: int) -> str:
        """Return the number at a place, from 0."""
        return written(self.least + place * self.step)

    def has(self, number: Decimal) -> bool:
        return self.least <= number <= self.most and not (number - self.least) % self.step


def is_typed(answer: schema.Answer) -> bool:
    """Return whether the answer is a number that is typed, or set with a slider."""
    return isinstance(answer, schema.Number) or values.is_slider(answer)


def span_of(answer: schema.Answer) -> Span:
    """Return the numbers that can be typed."""
    if isinstance(answer, schema.Number):
        least, most = (_decimal(one) for one in (answer.least, answer.most))
        return Span(least, most, Decimal(1).scaleb(-answer.decimals))
    assert isinstance(answer, schema.Scale)
    first, second, *_, last = map(Decimal, values.points(answer))
    return Span(first, last, second - first)


def _decimal(number: float) -> Decimal:
    return Decimal(str(number))


def is_number(value: str) -> bool:
    """Return whether a stored value is a number, not a fixed answer."""
    return value.removeprefix("-")[:1].isdecimal()


def read(typed: str, sign: str = ".") -> Decimal | None:
    """Return the number typed; None if it is not a number. `sign` is the decimal sign of the annotator's
    language; others are read too unless they may stand between thousands. Raises InvalidAnswer.
    """
    plain = unicodedata.normalize("NFKC", typed).strip().replace("\u2212", "-")
    if len(plain) > _LONGEST or not (found := _WRITTEN.fullmatch(plain)):
        return None
    minus, whole, point, part = found.groups()
    thousands = point in (".", ",") and point != sign and len(part) == 3 and len(whole) <= 3 and int(whole or 0)
    if thousands:
        raise InvalidAnswer(_TWO_WAYS, number=typed.strip())
    return Decimal(f"{minus}{int(whole or 0)}.{''.join(str(int(one)) for one in part or '0')}")


def checked(answer: schema.Answer, typed: str, sign: str = ".") -> str:
    """Return what was typed, as stored. Raises InvalidAnswer."""
    number, span = read(typed, sign), span_of(answer)
    if number is None or not span.has(number):
        message, said = advice(answer)
        raise InvalidAnswer(message, **said)
    return written(number)


def has(answer: schema.Answer, value: str) -> bool:
    """Return whether a number is one of the answer's, written as stored."""
    number = read(value) if is_number(value) else None
    return number is not None and span_of(answer).has(number) and written(number) == value


def advice(answer: schema.Answer, sign: str = ".") -> tuple[str, dict[str, Any]]:
    """Return what to type: a message and its values, the numbers in the annotator's language."""
    span = span_of(answer)
    said = {name: written(one).replace(".", sign) for name, one in span._asdict().items()}
    whole = span.step == 1 and span.least == span.least.to_integral_value()
    return (_WHOLE, {name: said[name] for name in ("least", "most")}) if whole else (_STEPS, said)
