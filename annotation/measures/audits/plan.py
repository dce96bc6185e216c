"""When an audit stops, and how many items it needs."""

from dataclasses import dataclass

import numpy as np

from annotation.measures.audits import intervals
from annotation.measures.audits.intervals import ALPHA, Bounds
from annotation.measures.types import Array

EVERY = 10  # items between looks by width, since looking after each item would stop a little too early too often


@dataclass(frozen=True, slots=True)
class Target:
    """Stop when the interval is at most ± `half_width`, or when its upper end is at most `at_most`.

    A bound needs intervals valid `at_any_look`, because it stops the audit when the rate looks good. With
    `stops_if_futile` it also stops once the lower end is above the bound.
    """

    half_width: float | None = None
    at_most: float | None = None
    at_any_look: bool = False
    stops_if_futile: bool = False

    def __post_init__(self) -> None:
        if (self.half_width is None) == (self.at_most is None):
            raise ValueError("Choose a half-width or a bound.")
        if self.at_most is not None and not self.at_any_look:
            raise ValueError("A bound needs an interval that is valid at any look.")

    def met(self, bounds: Bounds) -> Array:
        """Return the looks at which the audit may stop."""
        if self.half_width is not None:
            return np.asarray(bounds.half_width <= self.half_width + 1e-12)
        return np.asarray(bounds.high <= (self.at_most or 0) + 1e-12)

    def is_missed(self, wrong: int, size: int) -> bool:
        """Return whether a bound is out of reach: `wrong` items are too many even if all others are right."""
        return self.at_most is not None and wrong > (self.at_most + 1e-12) * size

    def is_futile(self, low: float) -> bool:
        """Return whether even the interval's lower end is above the bound: with 95% confidence it cannot be met."""
        return self.at_most is not None and low > self.at_most + 1e-12

    def stop(self, bounds: Bounds, size: int) -> int | None:
        """Return after how many items the audit stops because its target is met or out of reach, or all items are
        judged, given the bounds after each item so far; None if not yet.
        """
        n = np.arange(1, len(bounds.low) + 1)
        looks = self.met(bounds) & ((n % (1 if self.at_any_look else EVERY) == 0) | (n == size))
        if self.stops_if_futile and self.at_most is not None:
            looks |= bounds.low > self.at_most + 1e-12
        looks |= n == size
        return int(np.argmax(looks)) + 1 if looks.any() else None


@dataclass(frozen=True, slots=True)
class Plan:
    """Number of items an audit needs: `expected` if the guess is right (None without one), `most` whatever it finds."""

    expected: int | None
    most: int


def plan(
    size: int, target: Target, guess: float | None = None, *, n: int = 0, wrong: int = 0, alpha: float = ALPHA
) -> Plan:
    """Plan the total number of items for an audit of `size` items, of which `n` are judged and `wrong` of these wrong.

    `guess` is the share of wrong items among those not yet judged. `most` assumes, for a half-width, the possible rate
    nearest to one half, since the interval is widest there; for a bound it is all items. Strata and side information
    can only reduce the number, scores at any look with `alpha` = `side_information.ALPHA_OF_RATIO`.
    """
    to_come = np.arange(0 if n else 1, size - n + 1)
    looks = n + to_come
    expected = None
    if guess is not None:
        expected = _first(target, looks, wrong + np.round(to_come * guess).astype(int), size, alpha)
    if target.at_most is not None:
        return Plan(expected, size)
    return Plan(expected, _first(target, looks, np.clip(looks // 2, wrong, wrong + to_come), size, alpha))


def _first(target: Target, looks: Array, wrong: Array, size: int, alpha: float) -> int:
    """Find the first look that meets the target by itself; earlier looks can only narrow the interval."""
    if target.at_any_look:
        met = target.met(intervals.any_look(looks, wrong, size, alpha))
    else:
        met = target.met(intervals.by_width(looks, wrong, size)) & (looks % EVERY == 0)
    return int(looks[np.argmax(met | (looks == size))])
