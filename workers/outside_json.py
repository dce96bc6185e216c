"""JSON from outside: whatever it is, it is read or raises ValueError."""

import json
from collections.abc import Iterator
from typing import Any

DEEPEST = 64  # lists and objects in each other, of any JSON that comes in


class TooDeep(ValueError):
    """Well-formed perhaps, but what works on it later could exceed Python's recursion limit."""


def read(text: str | bytes, **hooks: Any) -> Any:
    """The value. `hooks`: as of json.loads. Raises ValueError: JSONDecodeError, UnicodeDecodeError, TooDeep, or what
    the hooks raise."""
    try:
        value = json.loads(text, **hooks)
    except RecursionError:
        raise TooDeep(_ADVICE) from None
    check_depth(value)
    return value


def check_depth(value: object) -> None:
    """Level by level, without recursion. Raises TooDeep."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in children(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise TooDeep(_ADVICE)


def children(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        return iter(value.values())
    return iter(value) if isinstance(value, list) else iter(())


_ADVICE = f"Nest lists and objects at most {DEEPEST} deep."
