"""How well people agree, in a sentence: first the share of equal answers, then why α and κ may be far below it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.measures.agreement_measures import MEASURES
from annotation.templatetags.figures import decimals, percent

_COMMON = 0.8  # from this share on, the most common answer alone explains much of the agreement
_LOW = 0.2  # α below which people do not agree, unless one answer is that common


@dataclass(frozen=True)
class AgreementWords:
    share: str
    lead: str
    rest: str
    basis: str


def agreement_in_words(figures: Mapping[str, Any], common: float | None) -> AgreementWords | None:
    """Of a stage's figures; `common` is the share of the most common answer. None if no item has two judgments."""
    view = next(one for one in figures["agreement"] if one["on"] == figures["by_type_on"])
    measures = view["measures"]
    share = measures["percent"]["value"]
    if share is None:
        return None
    chance = {key: found for key, found in measures.items() if found and found["value"] is not None}
    alpha = next((found["value"] for key, found in chance.items() if key.startswith("alpha")), None)
    rest = ""
    if common is not None and common >= _COMMON:
        guess = common**2 + (1 - common) ** 2
        rest = (
            f"{percent(common)} of all answers are the same, so guessing would give about {percent(guess)}; "
            "α counts only what is above that."
        )
    elif alpha is not None and alpha < _LOW:
        rest = "That is hardly more than chance: people do not agree."
    heads = [f"{one.head} {decimals(chance[one.key]['value'])}" for one in MEASURES if one.key in chance][1:]
    lead = f"Two people give the same answer on {percent(share)} of the items"
    return AgreementWords(percent(share), lead, rest, " · ".join(heads[:3]))
