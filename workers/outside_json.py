"""JSON from outside: it is either read or raises ValueError, whatever it is."""

import json
from collections.abc import Iterator
from typing import Any

DEEPEST = 64  # nested lists and objects, in any incoming JSON


class TooDeep(ValueError):
    """Perhaps well-formed, but later processing could exceed Python's recursion limit."""


def read(text: str | bytes, **hooks: Any) -> Any:
    """Return the value. `hooks`: as in json.loads. Raises ValueError: JSONDecodeError, UnicodeDecodeError, TooDeep, or
    what the hooks raise."""
    try:
        value = json.loads(text, **hooks)
    except RecursionError:
        raise TooDeep(_ADVICE) from None
    check_depth(value)
    return value


def check_depth(value: object) -> None:
    """Check the depth level by level, without recursion. Raises TooDeep."""
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
