"""Tags of the annotators' pages: sortable headers, signs, probabilities."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django import template
from django.utils.html import format_html

from annotation.measures import counts, warning_signs

register = template.Library()


@register.simple_tag
def sorted_by(name: str, words: str, sort: str, show: str, title: str = "") -> str:
    """A header cell whose link sorts by its column, the largest first; a second click reverses the order. `show` is the
    filter of the list.
    """
    first = name if name == "who" else f"-{name}"
    again = f"-{name}" if name == "who" else name
    order = {name: "ascending", f"-{name}": "descending"}.get(sort, "none")
    query = urlencode({**({"show": show} if show else {}), "sort": again if sort == first else first})
    mark = {"ascending": "▲", "descending": "▼"}.get(order, "")
    return format_html(
        '<th scope="col" class="{}" aria-sort="{}"><a href="?{}" title="{}">{}<span aria-hidden="true" class="order">'
        "{}</span></a></th>",
        "" if name in ("who", "signs") else "number", order, query, title, words, mark,
    )  # fmt: skip


def sign_name(kind: str) -> str:
    """A sign in a word or two."""
    return warning_signs.KINDS[kind]


@register.filter
def share(same: Mapping[str, int]) -> float | None:
    """The share of {"same", "n"}: how often they gave the same answer as most of the others."""
    return counts.ratio(same["same"], same["n"])


def probability(p: float | None) -> str:
    """`0.023`, `< 0.0001`: more digits help nobody."""
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"
