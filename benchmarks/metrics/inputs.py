"""Scores as measures take them: compared, and refused with a sentence where they cannot be. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

Array = np.ndarray
Scores = Array | Sequence[Any] | Mapping[str, Sequence[float]]  # a table, or columns by name
Pairs = tuple[tuple[str, str], ...]  # names of scores: the first of each pair must be the greater one


class BadInput(ValueError):
    """The input does not suit the measure; the message says why, in a sentence."""


def beats(scores: Mapping[str, Any], pairs: Pairs, ties: bool = False) -> Any:
    """Whether in each pair the first score is greater than the second: a tie is not, unless `ties` are right. None
    where a score is absent.

    Of numbers a bool; of arrays of n scores an array of n.
    """
    if any(name not in scores for pair in pairs for name in pair):
        return None
    return np.logical_and.reduce(
        [(np.greater_equal if ties else np.greater)(scores[one], scores[other]) for one, other in pairs]
    )


def tied(scores: Mapping[str, Any], pairs: Iterable[tuple[str, str]]) -> Any:
    """Whether the two scores of any pair are equal, of numbers or of arrays; a pair of which one is absent is not."""
    found = [np.equal(scores[one], scores[other]) for one, other in pairs if one in scores and other in scores]
    return np.logical_or.reduce(found) if found else None


def column(values: Sequence[float] | Array, name: str) -> Array:
    """n scores. BadInput where they are no numbers in one row, or one of them is NaN. Infinities are in order."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise BadInput(f"{name} contains something that is not a number.") from None
    if found.ndim != 1:
        raise BadInput(f"{name} must be one row of scores of shape (n,), but it has shape {found.shape}.")
    no_nan(found, name)
    return found


def no_nan(scores: Array, name: str) -> None:
    if np.isnan(scores).any():
        place = ", ".join(map(str, np.argwhere(np.isnan(scores))[0].tolist()))
        raise BadInput(f"{name} is NaN at place {place} (from 0) and cannot be compared. Leave the item out.")


def named(scores: Scores, columns: Sequence[str]) -> dict[str, Sequence[float] | Array]:
    """Scores under the names of `columns`. `scores`: an array of shape (n, number of columns), or a mapping that has
    them all, like a data frame. BadInput names the column that is missing, or both shapes."""
    if hasattr(scores, "keys"):  # a mapping, or a data frame, which is none
        by_name = cast("Mapping[str, Sequence[float]]", scores)
        if lacking := [name for name in columns if name not in by_name]:
            raise BadInput(f"The column {lacking[0]} is missing; there must be {', '.join(columns)}.")
        return {name: by_name[name] for name in columns}
    found = table(scores, (None, len(columns)), f"one column each for {', '.join(columns)}")
    return dict(zip(columns, found.T, strict=True))


def table(scores: Any, shape: Sequence[int | None], means: str) -> Array:
    """As an array of floats of that shape; None stands for any length."""
    try:
        found = np.asarray(scores, dtype=float)
    except (TypeError, ValueError):
        raise BadInput(f"The scores are not a table of numbers: {means}.") from None
    if len(found.shape) != len(shape) or any(
        want not in (None, has) for has, want in zip(found.shape, shape, strict=True)
    ):
        wanted = ", ".join("n" if want is None else str(want) for want in shape)
        raise BadInput(f"The scores must have shape ({wanted}), {means}, but have {found.shape}.")
    return found


def one_length(columns: Mapping[str, Array]) -> int:
    lengths = {name: len(values) for name, values in columns.items()}
    if len({*lengths.values()}) > 1:
        said = ", ".join(f"{name} {n:,}" for name, n in lengths.items())
        raise BadInput(f"Every column needs a score for each item, but the lengths differ: {said}.")
    return next(iter(lengths.values()), 0)


def labels(given: Sequence[str], n: int, name: str) -> list[str]:
    """n texts; empty ones where none were given."""
    if len(given) not in (0, n):
        raise BadInput(f"There are {len(given):,} {name} for {n:,} items; give one for each, or none.")
    return list(given) if len(given) else [""] * n


def no_name_twice(keys: Sequence[str], n: int) -> None:
    labels(keys, n, "keys")
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise BadInput(f"The item {str(key)[:80]!r} appears twice. Each item may appear only once.")
        seen.add(key)
