"""JSON read strictly: a depth limit, no duplicate keys, no NaN, no endless numbers; text stays text."""

import json
import re

from benchmarks.formats import limits
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.text import storable
from workers import outside_json
from workers.outside_json import children

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
NUMBER = re.compile(r"-?\d+")


class Fault(ValueError):
    """A value that is valid JSON but not accepted."""


def parse(source: str, file: str, row: int | None, log: ProblemLog) -> object | None:
    """Return the value of a JSON text, or None if it is rejected (every caller rejects a bare `null` anyway).

    `row` is the text's line in its file; None for a whole file, whose own lines are counted.
    """
    try:
        value: object = outside_json.read(
            source, object_pairs_hook=object_once, parse_constant=refuse_constant, parse_int=whole, parse_float=finite
        )
    except json.JSONDecodeError as error:
        say_invalid(error.msg, error.pos, source, file, row, log)
    except Fault as error:
        say_invalid(str(error), first_fault(source), source, file, row, log)
    except outside_json.TooDeep:
        say_deep(file, row, log)
    else:
        return value
    return None


def say_invalid(message: str, place: int, source: str, file: str, row: int | None, log: ProblemLog) -> None:
    line = source.count("\n", 0, place) + 1
    column = place - source.rfind("\n", 0, place)
    log.error("JSON_INVALID", file, row or line, f"character {column}", f"Correct the JSON: {message[:200]}.")


def say_deep(file: str, row: int | None, log: ProblemLog) -> None:
    advice = f"Nest lists and objects at most {limits.MAX_JSON_DEPTH} deep."
    log.error("JSON_TOO_DEEP", file, row, "", advice)


def object_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise Fault("an object has the same key twice")
    return made


def refuse_constant(word: str) -> None:
    raise Fault(f"{word} is not a JSON value")


def whole(digits: str) -> int:
    if len(digits) > limits.MAX_DIGITS:
        raise Fault(f"a number has more than {limits.MAX_DIGITS} digits; write it as text")
    return int(digits)


def finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Fault("a number is too large")
    return value


def first_fault(source: str) -> int:
    """Return the position of the first value for which `parse` raised Fault. The text is well-formed JSON up to it."""
    keys: list[set[str] | None] = []  # for each open object, the keys seen so far; None for a list
    previous = ""
    for token in TOKEN.finditer(source):
        word = token.group()
        if word in "{[":
            keys.append(set() if word == "{" else None)
        elif word in "}]":
            keys.pop()
        elif word.startswith('"') and previous in ("{", ",") and keys and keys[-1] is not None:
            if (key := json.loads(word)) in keys[-1]:
                return token.start()
            keys[-1].add(key)
        elif faulty(word):
            return token.start()
        previous = word
    return 0


def faulty(word: str) -> bool:
    """Return whether a number or constant outside strings is rejected."""
    if word in ("NaN", "Infinity", "-Infinity"):
        return True
    if NUMBER.fullmatch(word):
        return len(word) > limits.MAX_DIGITS
    try:
        return word[0] in "-0123456789" and abs(float(word)) == float("inf")
    except ValueError:
        return False


def storable_throughout(value: object, file: str, row: int | None, column: str, log: ProblemLog) -> bool:
    """Return whether all strings inside, including keys, have only storable characters; log those that do not."""
    before = log.count
    if isinstance(value, str):
        storable(value, file, row, column, log)
    elif isinstance(value, dict):
        for key, inner in value.items():
            storable(key, file, row, column, log)
            storable_throughout(inner, file, row, column or key[:80], log)
    else:
        for inner in children(value):
            storable_throughout(inner, file, row, column, log)
    return log.count == before
