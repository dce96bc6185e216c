"""How well people agree, in a sentence: first the share of equal answers, then why α and κ may be far below it, then
whose answers differ from everybody's.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.measures.agreement_measures import MEASURES
from annotation.templatetags.figures import decimals, percent, whole_percent

# How the measures that stand beside the sentence behave, in a line each.
BEHAVES = {
    "percent": "of two people’s answers are the same",
    "cohen": "beyond chance for each two people; low where one answer is very common",
    "alpha": "beyond chance over all answers; low where one answer is very common",
    "ac1": "beyond chance, but steady where one answer is very common",
}
_COMMON = 0.8  # from this share on, the most common answer alone explains much of the agreement
_APART = 0.1  # by so much more must pairs without somebody agree for that person to be named
_ABOVE = 0.02  # what guessing gives, so little above it is as good as nothing
_FEW = 10  # shared tasks, below which nobody is named
_LOW = 0.2  # α below which people do not agree, unless one answer is that common


@dataclass(frozen=True)
class AgreementWords:
    share: str
    lead: str
    rest: str
    basis: str
    who: str = ""


def agreement_in_words(figures: Mapping[str, Any], shares: Sequence[float]) -> AgreementWords | None:
    """Of a stage's figures; `shares` are those of the answers, the most common first. None if no item has two
    judgments.
    """
    view = next(one for one in figures["agreement"] if one["on"] == figures["by_type_on"])
    return measures_in_words(view["measures"], shares)


def measures_in_words(
    measures: Mapping[str, Any], shares: Sequence[float], pairs: Sequence[Mapping[str, Any]] = ()
) -> AgreementWords | None:
    """Of the measures of a view; `pairs` are its rows by pair of annotators, with their names."""
    share = measures["percent"]["value"] if "percent" in measures else None
    if share is None:
        return None
    chance = {key: found for key, found in measures.items() if found and found["value"] is not None}
    alpha = next((found["value"] for key, found in chance.items() if key.startswith("alpha")), None)
    rest = ""
    if shares and shares[0] >= _COMMON:
        guess = sum(one * one for one in shares)
        above = "α counts only what is above that." if share - guess >= _ABOVE else "they agree no better than that."
        common = f"One answer is so common ({percent(shares[0])} of all) that two people who guess would agree on about"
        rest = f"{common} {whole_percent(guess)}; {above}"
    elif alpha is not None and alpha < _LOW:
        chances = "less than" if alpha < 0 else "hardly more than"
        rest = f"That is {chances} by chance: people do not agree."
    heads = [f"{one.head} {decimals(chance[one.key]['value'])}" for one in MEASURES if one.key in chance][1:]
    lead = f"Two people give the same answer on {percent(share)} of the items"
    return AgreementWords(percent(share), lead, rest, " · ".join(heads[:3]), who_disagrees(pairs))


def behaviour(lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Of the measures (`measured_in_words`) in BEHAVES that are defined: name, value and how it behaves."""
    known = [(one, one["measure"]) for one in lines if one["value"] is not None]
    return [
        (measure.head, percent(one["value"]) if measure.is_share else decimals(one["value"]), words)
        for one, measure in known
        for start, words in BEHAVES.items()
        if measure.key.startswith(start)
    ]


def answer_shares(cells: Sequence[Sequence[int]]) -> list[float]:
    """The share of each label among the answers that are compared, from the pairs' (label, label, n); the most common
    first.
    """
    counts: Counter[int] = Counter()
    for one, other, n in cells:
        counts[one] += n
        counts[other] += n
    return [n / counts.total() for _, n in counts.most_common()]


def who_disagrees(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Name the one without whom pairs agree much more; "" if there is none, or too little to say so."""
    rows = [
        ({row["first"], row["second"]}, row["measures"]["percent"]) for row in pairs if "percent" in row["measures"]
    ]
    found = []
    for name in {name for both, _ in rows for name in both}:
        parts = [
            [(one["value"], one["n"]) for both, one in rows if (name in both) == mine and one["n"]] for mine in (0, 1)
        ]
        sizes = [sum(n for _, n in part) for part in parts]
        if min(sizes) >= _FEW:
            without, with_ = (
                sum(value * n for value, n in part) / size for part, size in zip(parts, sizes, strict=True)
            )
            found.append((without - with_, name, without, with_))
    apart, name, without, with_ = max(found, default=(0.0, "", 0.0, 0.0))
    if apart < _APART:
        return ""
    return (
        f"Most of the disagreement is {name}’s: pairs without {name} agree on {percent(without)}, "
        f"pairs with {name} on {percent(with_)}."
    )
