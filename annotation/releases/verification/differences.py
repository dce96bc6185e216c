"""Find where two trees of figures differ: the computed and the stated ones."""

from collections.abc import Iterator
from numbers import Real

TOLERANCE = 1e-9
MISSING = object()
PLAIN = {int, float, str, bool, type(None)}
WORDS = {"reason", "note"}  # texts about why a figure is undefined, not figures


def differences(ours: object, theirs: object, path: str = "", file: str = "figures.json") -> list[str]:
    """Return a sentence for each figure that differs; numbers differ by more than 1e-9 (relative if above 1)."""
    return list(_differing(ours, theirs, path, file))


def _differing(ours: object, theirs: object, path: str, file: str) -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        explained = {name for name in WORDS - ours.keys() if isinstance(theirs.get(name), str)}
        names = [
            one
            for one in ours.keys() | theirs.keys()
            if not _is_equal(ours.get(one, MISSING), theirs.get(one, MISSING))
        ]
        for name in sorted({*names} - explained, key=str):
            yield from _differing(ours.get(name, MISSING), theirs.get(name, MISSING), f"{path}/{name}", file)
    elif isinstance(ours, list | tuple) and isinstance(theirs, list) and len(ours) == len(theirs):
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if not _is_equal(one, other):
                yield from _differing(one, other, f"{path}/{place}", file)
    elif ours is MISSING:
        yield f"{path}: not checked, because the figure is unknown"
    elif not _same(ours, theirs):
        yield f"{path}: {_short(ours)} here, {'missing' if theirs is MISSING else _short(theirs)} in {file}"


def _is_equal(ours: object, theirs: object) -> bool:
    """Return whether both are the same single value, as nearly all of a million figures are."""
    return type(ours) in PLAIN and type(ours) is type(theirs) and ours == theirs


def _same(ours: object, theirs: object) -> bool:
    if isinstance(ours, Real) and isinstance(theirs, Real) and bool not in (type(ours), type(theirs)):
        return abs(float(ours) - float(theirs)) <= TOLERANCE * max(1, abs(float(ours)))
    return type(ours) is type(theirs) and ours == theirs


def _short(value: object) -> str:
    if isinstance(value, list | tuple | dict) and len(repr(value)) > 80:
        return f"{'rows' if isinstance(value, list | tuple) else 'a table'} ({len(value)})"
    return repr(value)


def leaves(tree: object) -> int:
    """Return how many figures a tree has."""
    if not isinstance(tree, dict | list | tuple):
        return 1
    return sum(map(leaves, tree.values() if isinstance(tree, dict) else tree))
