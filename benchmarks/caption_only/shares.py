"""The accuracy of models that see no images, overall and for each part, and when it is too high: when captions alone
give the answers away. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, log1p, tanh
from typing import Protocol

from benchmarks.metrics import sugarcrepe
from benchmarks.predictions.kinds import ARO, BIVLC, HARD_POSITIVE, KINDS, SUGARCREPE, VISLA
from benchmarks.predictions.names import measure_name

# The main measures of a benchmark: not their halves, nor VISLA's T2T, which uses captions alone on purpose.
HEADLINES: Mapping[str, Sequence[str]] = {
    BIVLC.name: ("i2t", "t2i", "group"),
    VISLA.name: ("i2t", "p1_n", "p2_n"),
    HARD_POSITIVE.name: ("original", "augmented"),
    SUGARCREPE.name: ("overall",),
    ARO.name: ("relation", "attribution", "order"),
}
ACCIDENT = 1 / 20
# The question whose correct and wrong captions a refinement compares.
WEIGHED = {BIVLC.name: "i_pos2t", VISLA.name: "p1_n", HARD_POSITIVE.name: "original"}


class BlindRun(Protocol):
    """The fields of a run that are needed here."""

    pk: int
    title: str
    kind: str
    blind: bool


@dataclass(frozen=True, slots=True)
class Share:
    """A blind run's share of correct answers in one measure, with its 95 % interval. `right` of n; None for a mean."""

    run: int
    title: str
    measure: str
    share: float
    low: float
    high: float
    chance: float
    n: int
    right: int | None = None

    @property
    def warns(self) -> bool:
        """Whether the share is above chance by more than the interval and, since Wilson's interval is too short for few
        items (one of one is above 1/6), by more than chance reaches one time in twenty."""
        return self.low > self.chance and (self.right is None or by_chance(self.right, self.n, self.chance) <= ACCIDENT)

    def __str__(self) -> str:
        interval = f"95 % {100 * self.low:.1f} to {100 * self.high:.1f}, n {self.n:,}"
        return f"{self.title}: {self.measure} {100 * self.share:.2f} ({interval}; chance {100 * self.chance:.2f})"

    @property
    def sentence(self) -> str:
        """The warning shown on the benchmark's page."""
        told = f"{self.title}, which sees no images, gets {100 * self.share:.1f} % correct in {self.measure}"
        interval = f"95 % from {100 * self.low:.1f} up; chance {100 * self.chance:.1f}"
        return f"{told} ({interval}): the captions alone give away part of the answers."


def by_chance(right: int, n: int, chance: float) -> float:
    """The probability of `right` or more of n correct by chance alone (binomial, exact). `right` is above n times
    `chance`, which lies between 0 and 1, so each term is smaller than the one before."""
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


def shares(runs: Iterable[BlindRun], figures: Mapping[int, Mapping]) -> list[Share]:
    """The shares of blind runs. `figures`: by run, as from `runs.figures.of_runs`; runs without figures are skipped."""
    found = []
    for run in runs:
        measures = figures.get(run.pk, {}).get("measures", {}) if run.blind else {}
        headlines = [name for name in HEADLINES.get(run.kind, ()) if name in measures]
        found += [_share(run, name, measures[name]) for name in headlines if measures[name].get("low") is not None]
    return found


def _share(run: BlindRun, name: str, of: Mapping) -> Share:
    return Share(run.pk, run.title, name, of["share"], of["low"], of["high"], of["chance"], of["n"], of.get("right"))


def weighed(kind: str) -> tuple[str, str]:
    """The names of the scores of the correct and the wrong caption."""
    return KINDS[kind].measured.questions[WEIGHED.get(kind, "caption")][0]


def gaps(right: Sequence[float], wrong: Sequence[float]) -> list[float]:
    """How much a model prefers each correct caption, from -1 to 1, as in SugarCrepe's refinement (App. D.3).

    For scores between 0 and 1, as in that paper, the difference. For log-probabilities tanh(d / 2), where d is their
    difference: p - (1 - p), where p is the probability of the correct caption, given that it is one of the two.
    """
    plain = all(0 <= score <= 1 for score in (*right, *wrong))
    return [one - other if plain else tanh((one - other) / 2) for one, other in zip(right, wrong, strict=True)]


# By part: the whole benchmark, its types and subtypes

WHOLE = "all"
NAMED = 8  # parts named in a sentence
OF_GROUPS = {SUGARCREPE.name: ("accuracy",)}  # its groups have other measures than the whole
OF_WHOLE = {SUGARCREPE.name: sugarcrepe.SUBSETS}  # measures of the whole that each cover one part
ADVICE = (
    "Report this model’s figure beside those of other models, or refine the benchmark: keep only items that two models "
    "without images get right and wrong in equal numbers."
)


@dataclass(frozen=True, slots=True)
class Split:
    """A part of the benchmark. `name`: "all", "swap" or "swap att"."""

    name: str
    share: Share
    words: str  # of the measure: "I2T"

    @property
    def warning(self) -> str:
        of, low, high = self.share, 100 * self.share.low, 100 * self.share.high
        where = "the whole benchmark" if self.name == WHOLE else self.name
        return (
            f"{of.title}, which sees no image, answers {where} better than chance: {self.words} {100 * of.share:.1f} % "
            f"(95 % from {low:.1f} to {high:.1f} %, n = {of.n:,}), where chance is {100 * of.chance:.1f} %."
        )


def splits(run: BlindRun, figures: Mapping) -> list[Split]:
    """The parts of a blind run, the whole first. `figures`: as from `runs.figures.of_runs`."""
    found = [_split(run, WHOLE, name, of) for name, of in figures["measures"].items() if name in HEADLINES[run.kind]]
    parts = {name: of for name, of in figures["measures"].items() if name in OF_WHOLE.get(run.kind, ())}
    found += [_split(run, name.replace("_", " "), name, of) for name, of in parts.items()]
    found += [_split(run, *one) for one in _group_measures(run.kind, figures["groups"])]
    return [split for split in found if split is not None]


def _group_measures(kind: str, groups: Iterable[Mapping]) -> Iterator[tuple[str, str, Mapping]]:
    wanted = OF_GROUPS.get(kind, HEADLINES[kind])
    for group in groups:
        called = " ".join(filter(None, (group["type"] or "no type", group["subtype"])))
        yield from ((called, name, of) for name, of in group["measures"].items() if name in wanted)


def _split(run: BlindRun, split: str, name: str, of: Mapping) -> Split | None:
    """None if there is no interval, as with no items or with figures printed in a source."""
    if of.get("low") is None:
        return None
    known = measure_name(run.kind, name) if name in HEADLINES[run.kind] and run.kind != SUGARCREPE.name else None
    return Split(split, _share(run, name, of), known.short if known else "accuracy")


def warnings(found: Sequence[Split]) -> list[Split]:
    """Parts that are above chance by more than the interval."""
    return [split for split in found if split.share.warns]


def in_words(found: Sequence[Split]) -> list[str]:
    """One warning per model: the first part with its figures, the others by name."""
    by_run: dict[int, list[Split]] = {}
    for split in warnings(found):
        by_run.setdefault(split.share.run, []).append(split)
    return [parts[0].warning + _other_parts(parts[1:]) for parts in by_run.values()]


def _other_parts(parts: Sequence[Split]) -> str:
    named = list(dict.fromkeys(f"{split.name} ({split.words})" for split in parts))
    if not named:
        return ""
    more = f" and {len(named) - NAMED:,} more" if len(named) > NAMED else ""
    return f" So it does in {', '.join(named[:NAMED])}{more}."
