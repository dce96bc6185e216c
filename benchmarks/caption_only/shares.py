"""The accuracy of models that do not see images, overall and for each part, with warnings if captions by themselves
give the answers away. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import erfc, exp, lgamma, log, log1p, sqrt
from typing import Protocol

from benchmarks.metrics import sugarcrepe
from benchmarks.metrics.base import Z
from benchmarks.naming import kind_name
from benchmarks.predictions.cut_captions import listed
from benchmarks.predictions.kinds import ARO, BIVLC, HARD_POSITIVE, SUGARCREPE, VISLA
from benchmarks.predictions.names import measure_name

# The main measures of a benchmark: not their halves, nor VISLA's T2T, which uses only captions on purpose.
HEADLINES: Mapping[str, Sequence[str]] = {
    BIVLC.name: ("i2t", "t2i", "group"),
    VISLA.name: ("i2t", "p1_n", "p2_n"),
    HARD_POSITIVE.name: ("original", "augmented"),
    SUGARCREPE.name: ("overall",),
    ARO.name: ("relation", "attribution", "order"),
}
WHOLE = "all"  # the part that is the whole benchmark; the others are its types and subtypes
NAMED = 8  # parts named in a sentence
ACCIDENT = 1 / 20
OF_GROUPS = {SUGARCREPE.name: ("accuracy",)}  # measures of its groups, which differ from those of the whole
OF_WHOLE = {SUGARCREPE.name: sugarcrepe.SUBSETS}  # measures of the whole that each cover one part
ADVICE = (
    "Report this model’s score beside those of other models, or refine the benchmark: keep only items that two models "
    "without images get right and wrong in equal numbers."
)


class BlindRun(Protocol):
    """The fields needed from a run."""

    pk: int
    title: str
    kind: str
    blind: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A blind run's share of correct answers in one measure of one part of the benchmark, with its 95% interval.
    `name`: "all", "swapped" or "swapped attribute"; `words`: the name of the `measure`, such as I2T. `right` of n; None
    for a mean. `warns`: whether it is above chance, given how many parts of the run were tested (`with_warnings`)."""

    run: int
    title: str
    name: str
    measure: str
    words: str
    share: float
    low: float
    high: float
    chance: float
    n: int
    right: int | None = None
    warns: bool = False

    @property
    def p(self) -> float:
        """Return the probability of such a large share by chance: exact, or from its interval for a mean."""
        if self.share <= self.chance:
            return 1.0
        if self.right is not None:
            return by_chance(self.right, self.n, self.chance)
        return erfc((self.share - self.chance) / max(self.share - self.low, 1e-300) * Z / sqrt(2)) / 2

    def __str__(self) -> str:
        interval = f"95% {100 * self.low:.1f} to {100 * self.high:.1f}, n {self.n:,}"
        return f"{self.title}: {self.measure} {100 * self.share:.2f} ({interval}; chance {100 * self.chance:.2f})"

    @property
    def warning(self) -> str:
        where = "the whole benchmark" if self.name == WHOLE else self.name
        return (
            f"{self.title}, which sees no image, answers {where} better than chance: {self.words} "
            f"{100 * self.share:.1f}% (95% from {100 * self.low:.1f} to {100 * self.high:.1f}%, n = {self.n:,}), "
            f"with chance at {100 * self.chance:.1f}%."
        )


def with_warnings(parts: Sequence[Part]) -> list[Part]:
    """Warn about a run's parts that are above chance by more than the interval, and by Holm's procedure (1979), so that
    a guessing model gets any warning in at most one case in twenty.
    """
    below, held = {}, True
    for at, place in enumerate(sorted(range(len(parts)), key=lambda one: parts[one].p)):
        held = held and parts[place].p <= ACCIDENT / (len(parts) - at)
        below[place] = held
    return [replace(part, warns=below[place] and part.low > part.chance) for place, part in enumerate(parts)]


def by_chance(right: int, n: int, chance: float) -> float:
    """Return the probability of `right` or more of n correct purely by chance (binomial, exact). `right` is above n
    times `chance`, which lies between 0 and 1, so each term is smaller than the one before."""
    odds = chance / (1 - chance)
    ways = lgamma(n + 1) - lgamma(right + 1) - lgamma(n - right + 1)
    term = exp(ways + right * log(chance) + (n - right) * log1p(-chance))
    total = term
    for more in range(right, n):
        term *= (n - more) / (more + 1) * odds
        total += term
        if term < total * 1e-12:
            break
    return total


def parts_of(run: BlindRun, figures: Mapping) -> list[Part]:
    """Return the parts of a blind run, the whole first. `figures`: as from `runs.figures.of_runs`."""
    found = [_part(run, WHOLE, name, of) for name, of in figures["measures"].items() if name in HEADLINES[run.kind]]
    parts = {name: of for name, of in figures["measures"].items() if name in OF_WHOLE.get(run.kind, ())}
    found += [_part(run, kind_name(name), name, of) for name, of in parts.items()]
    found += [_part(run, *one) for one in _group_measures(run.kind, figures["groups"])]
    return with_warnings([part for part in found if part is not None])


def _group_measures(kind: str, groups: Iterable[Mapping]) -> Iterator[tuple[str, str, Mapping]]:
    wanted = OF_GROUPS.get(kind, HEADLINES[kind])
    for group in groups:
        called = kind_name(group["type"], group["subtype"])
        yield from ((called, name, of) for name, of in group["measures"].items() if name in wanted)


def _part(run: BlindRun, part: str, name: str, of: Mapping) -> Part | None:
    """Return a part; None if there is no interval, as without items or with scores printed in a source."""
    if of.get("low") is None:
        return None
    known = measure_name(run.kind, name) if name in HEADLINES[run.kind] and run.kind != SUGARCREPE.name else None
    words = known.short if known else "accuracy"
    shares = (of["share"], of["low"], of["high"], of["chance"])
    return Part(run.pk, run.title, part, name, words, *shares, of["n"], of.get("right"))


def in_words(found: Sequence[Part]) -> list[str]:
    """Write one warning per model with parts above chance: the first part with its numbers, the others by name."""
    by_run: dict[int, list[Part]] = {}
    for part in found:
        if part.warns:
            by_run.setdefault(part.run, []).append(part)
    return [parts[0].warning + _other_parts(parts[1:]) for parts in by_run.values()]


def _other_parts(parts: Sequence[Part]) -> str:
    named = list(dict.fromkeys(f"{part.name} ({part.words})" for part in parts))
    return f" The same is true of {listed(named, most=NAMED)}." if named else ""
