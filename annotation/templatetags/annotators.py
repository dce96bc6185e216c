"""Tags for the annotators' pages: signs, shares, probabilities."""

from collections.abc import Mapping

from django import template

from annotation.measures import counts, warning_signs

register = template.Library()


def sign_name(kind: str) -> str:
    """Return a sign in a word or two."""
    return warning_signs.KINDS[kind]


@register.filter
def share(same: Mapping[str, int]) -> float | None:
    """Return the share of {"same", "n"}: how often they gave the same answer as most of the others."""
    return counts.ratio(same["same"], same["n"])


def probability(p: float | None) -> str:
    """Return `0.023` or `< 0.0001`; more digits would be useless."""
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"
