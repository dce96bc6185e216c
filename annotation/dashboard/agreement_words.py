"""Describe how well people agree: first the share of equal answers, then what guessing would give. The main measure is
shown beside it, with what each measure is for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from annotation.measures.agreement_measures import MEASURES, Measure, chief_on, is_common, units_in_words
from annotation.protocols.base import NOMINAL
from annotation.templatetags.figures import decimals, percent, whole_percent
from annotation.wording import readable_label

# What a measure is for, in a line; other measures' definitions say so.
_USES = {
    "percent": "how often two people give the same answer, including by chance",
    "cohen_mean": "to compare with papers that report it for pairs of annotators",
    "weighted_cohen_mean": "the same for answers on a scale, counting near answers as nearly equal",
    "fleiss": "to compare with papers in which every task has the same number of judgments",
    "alpha_nominal": "agreement beyond chance, however many judgments a task has",
    "alpha_ordinal": "agreement beyond chance, counting near answers as nearly equal",
    "alpha_interval": "agreement beyond chance, counting near numbers as nearly equal",
    "ac1": "agreement beyond chance that stays high if one answer is very common",
    "bennett": "agreement beyond picking at random, however common each answer is",
}
_FROM_TO = ", from 0 for guessing to 1 for full agreement"
_APART_SHARES = 0.01  # a view's share and the answer's own are both stated if they differ by this much
_ABOVE = 0.02  # this close to what guessing gives, agreement means nothing
_LOW = 0.2  # people with α below this do not agree, unless one answer is that common


@dataclass(frozen=True)
class AgreementWords:
    """`doubtful`: people agree no better than by guessing, as `rest` explains."""

    share: str
    lead: str
    rest: str
    basis: str
    doubtful: bool = False


def agreement_in_words(figures: Mapping[str, Any], shares: Sequence[float]) -> AgreementWords | None:
    """Describe a stage's statistics, on the view that pages show first; `shares` are its answers' shares, the most
    common first. None if no item has two judgments.
    """
    views = {one["on"]: one for one in figures["agreement"]}
    on = figures["by_type_on"]
    level, whole = views[on].get("level", NOMINAL), views.get("answer", {"measures": {}})
    return measures_in_words(views[on]["measures"], shares, on, level, whole=whole["measures"])


def measures_in_words(
    measures: Mapping[str, Any], shares: Sequence[float], on: str, level: str, *,
    whole: Mapping[str, Any] = MappingProxyType({}),
) -> AgreementWords | None:  # fmt: skip
    """Describe the measures on the view `on`, whose labels have that `level`; `whole` has the answer's own measures, if
    known.
    """
    share, same = (of["percent"]["value"] if "percent" in of else None for of in (measures, whole))
    if share is None:
        return None
    lead = f"Two people give the same answer on {percent(share)} of the items"
    if on != "answer":
        lead = f"Two people agree on “{readable_label(on)}” for {percent(share)} of the items"
        if same is not None and abs(share - same) >= _APART_SHARES:
            lead += f", and give the same answer on {percent(same)}"
    values = [(one, found["value"]) for one in MEASURES if (found := measures.get(one.key))]
    known = [(one, value) for one, value in values if value is not None]
    rest, doubtful = _beside_chance(share, shares, known)
    beyond = [(one, value) for one, value in known if one in (chief_on(level, shares), chief_on(level))]
    basis = [f"{one.head} {decimals(value)}" for one, value in beyond]
    basis += [f"{(n := measures[one.key]['n']):,} {units_in_words(one, n)}" for one, _ in beyond[:1]]
    return AgreementWords(percent(share), lead, rest, " · ".join(basis), doubtful)


def _beside_chance(share: float, shares: Sequence[float], known: Sequence[tuple[Measure, float]]) -> tuple[str, bool]:
    """Describe what guessing would give, if that is informative, and whether people do no better."""
    if is_common(shares):
        guess = sum(one * one for one in shares)
        why = f"{percent(shares[0])} of all answers are the same"
        if share - guess < _ABOVE:
            by_chance = f"{why}, so {whole_percent(guess)} would match by chance"
            return f"That is no more than chance gives: {by_chance}. Look at the tasks on which people differ.", True
        return f"About {whole_percent(guess)} would match by chance, since {why}.", False
    alpha = next((value for one, value in known if one.key.startswith("alpha")), None)
    if alpha is None or alpha >= _LOW:
        return "", False
    return f"That is {'less than' if alpha < 0 else 'hardly more than'} chance would give.", True


def lower_than_ac1(measures: Mapping[str, Any], shares: Sequence[float]) -> str:
    """Explain why κ and α are lower than AC1 for answers with these `shares`; "" if none is that common."""
    alpha, guess = measures["alpha_nominal"]["value"], whole_percent(sum(one * one for one in shares))
    if alpha is None or not is_common(shares):
        return ""
    expect = f"they expect {guess} to match by chance, because {percent(shares[0])} of the answers are the same"
    return f"κ and α ({decimals(alpha)}) are lower than AC1: {expect}; AC1 expects far fewer."


def use_of(measure: Measure) -> str:
    return _USES.get(measure.key, measure.definition)


def scale_of(measure: Measure) -> str:
    """Explain how to read a measure's values; "" for a measure that ignores chance."""
    return _FROM_TO if " beyond " in _USES.get(measure.key, "") else ""
