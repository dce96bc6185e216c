"""Write a study's numbers on its pages: rounded for people, with every digit in a `data` element."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from annotation.measures import over_annotators, paired, pass_rules, scored
from annotation.measures.agreement_measures import BY_KEY, INTERVAL_METHODS, Measure, mean_of_pairs_on, units_in_words
from annotation.measures.audits import sentence
from annotation.measures.audits.judges import Corrected
from annotation.measures.counts import hourly_rate
from annotation.measures.human_baseline import BASELINE_PROTOCOLS
from annotation.protocols import roles
from annotation.protocols.base import BOXES, NOMINAL, POINTS, RANK, SET
from annotation.protocols.registry import title_of
from annotation.wording import counted, hours_in_words, items_in_words, pseudonym, readable_label, signed
from benchmarks.metrics import base

register = template.Library()
register.filter("words", readable_label)
register.filter("pseudonym", pseudonym)
register.filter("file_name", lambda protocol: roles.split(protocol)[0])
register.filter("items_in_words", items_in_words)
register.filter("title_of", lambda direction: title_of(BASELINE_PROTOCOLS[direction]))

SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
NOTHING = "–"
_NAME = re.compile(r"\bA-\d\d+(’s)?")  # an annotator's name

Written = Callable[..., str]


def exact(register: template.Library) -> Callable[[Written], Written]:
    """Decorate `write(value, …)`: templates get its result as `<data value="0.7164179104477612">71.6%</data>`.

    Called from Python, it returns only the text.
    """

    def keep(write: Written) -> Written:
        @wraps(write)
        def filled(value: float | None, *rest: object) -> str:
            shown = write(value, *rest)
            return shown if value is None else data(value, shown)

        register.filter(write.__name__, filled)
        return write

    return keep


def data(value: float, shown: str) -> str:
    return format_html('<data value="{}">{}</data>', repr(float(value)), shown)


METHODS = {  # methods of intervals and tests; their names are defined where they are computed
    "agreement": INTERVAL_METHODS,
    "share": base.INTERVAL_METHOD,
    "baseline": over_annotators.INTERVAL_METHOD,
    "paired": paired.TEST,
    "paired means": paired.TEST_OF_MEANS,
    "failed checks": pass_rules.SIGN_TEST,
}


@register.simple_tag
def method(of: str) -> str:
    """Return the name of a method, for templates, which don't name any themselves."""
    return METHODS[of]


@register.simple_tag
def heads(*words: str) -> str:
    """Return the head of a table, a cell for each column; `#` before a word marks a column of numbers."""
    cells = ((mark_safe(' class="number"') if word.startswith("#") else "", word.lstrip("#")) for word in words)
    row = format_html_join("", '<th scope="col"{}>{}</th>', cells)
    return format_html("<thead><tr>{}</tr></thead>", row)


@register.filter
def standing(found: Mapping[str, Any]) -> str:
    """Return the state of an audit's target, from its statistics."""
    return sentence.standing(found["met"], found["judged"] == found["items"], found.get("futile", False))


@register.filter
def without_errors(found: Mapping[str, Any] | None) -> str:
    """Return an audit's result corrected for annotators' errors, from its statistics."""
    return sentence.corrected_in_words(Corrected(**found) if found else None)


@exact(register)
def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share * 100:.1f}%"


def exact_percent(share: float | None) -> str:
    """Return a percentage with as many decimals as in papers."""
    return NOTHING if share is None else f"{share * 100:.2f}%"


def to_percent(low: float | None, high: float | None) -> str:
    """Return both ends of an interval, with one percent sign."""
    return NOTHING if low is None or high is None else f"{between(low, high, _points)}%"


def bounds(low: float, high: float) -> str:
    """Return a share's interval; if it begins at 0, only its end."""
    return to_percent(low, high) if low else f"at most {percent(high)}"


def between(low: float, high: float, write: Callable[[float], str]) -> str:
    """Return both ends of an interval as written by `write`."""
    return f"{write(low)}{_to(low)}{write(high)}"


def _points(share: float) -> str:
    return signed(share * 100, 1)


def _to(low: float) -> str:
    """Return a dash, or a word after a minus, where a dash would be hard to read."""
    return " to " if low < 0 else " – "


@register.filter("to_percent")
def exact_to_percent(low: float | None, high: float | None) -> str:
    """Return the same, with each end in full precision in `data`."""
    if low is None or high is None:
        return NOTHING
    return format_html("{}{}{}%", data(low, _points(low)), _to(low), data(high, _points(high)))


@register.filter
def intervals(figure: Mapping[str, Any], is_share: bool = False) -> str:
    """Return a score's intervals, and for whom they hold (measures.scored.intervals), after a comma."""
    write = exact_to_percent if is_share else to_decimals
    each = [f"{write(low, high)} {whom}" for low, high, whom in scored.intervals(dict(figure))]
    alone = ", no interval from one item" if figure["n_items"] == 1 else ""
    return mark_safe(", 95% interval " + ", ".join(each)) if each else alone


def to_decimals(low: float | None, high: float | None) -> str:
    return span({"low": low, "high": high})


@register.filter
def span(figure: Mapping[str, Any], places: int = 2) -> str:
    """Return a measure's interval (measures.agreement.figure), or a dash if there is none."""
    if figure["low"] is None:
        return NOTHING
    low, high = (data(figure[end], decimals(figure[end], places)) for end in ("low", "high"))
    return format_html("{}{}{}", low, _to(figure["low"]), high)


@exact(register)
def whole_percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share * 100:.0f}%"


@exact(register)
def decimals(value: float | None, places: int = 2) -> str:
    return NOTHING if value is None else signed(value, places)


def points(difference: float | None) -> str:
    """Return percentage points with their sign."""
    return NOTHING if difference is None else signed(100 * difference, 1, "+")


@exact(register)
def money(amount: float | None, currency: str) -> str:
    """Return an amount, in whole units from a hundred on."""
    if amount is None:
        return NOTHING
    written = f"{amount:,.0f}" if amount >= 100 else f"{amount:,.2f}"
    return f"{SYMBOLS[currency]}{written}" if currency in SYMBOLS else f"{written} {currency}"


@exact(register)
def hours(minutes: float | None) -> str:
    return NOTHING if minutes is None else hours_in_words(minutes)


@register.filter
def latest_span(hours: float) -> str:
    """Return a span of up to an hour before now: "the last hour", "1 minute"."""
    minutes = max(1, round(hours * 60))
    return "the last hour" if minutes >= 60 else counted(minutes, "minute")


@register.filter
def active_rate(row: Mapping[str, float]) -> str:
    """Return an annotator's answers per hour of active time; a dash if there is too little time for a rate."""
    rate = hourly_rate(int(row["answers"]), row["active_minutes"] / 60)
    return NOTHING if rate is None else data(rate, f"{rate:,.0f}")


def labels(takes: list[str]) -> str:
    """Return what a stage takes from another, in words."""
    return " and ".join(readable_label(one) for one in takes)


@register.filter
def kappa_name(level: str | None) -> str:
    """Return the name of two annotators' agreement on labels of that level; without a level, labels have no order."""
    return mean_of_pairs_on(level or NOMINAL).pair_head


@register.filter
def measure_named(key: str) -> Measure:
    return BY_KEY[key]


@register.filter
def headline_unit(headline: Mapping[str, Any]) -> str:
    """Return what its n counts."""
    return units_in_words(BY_KEY[headline["measure"]], headline["n"], headline.get("unit", ""))


@register.filter
def near_words(level: str | None) -> str:
    """Return what an annotator's share of agreement counts (measures.agreement.agreement_with_majority)."""
    if level == RANK:
        return "ordered most pairs of options like the others’ mean ranks"
    if level == SET:
        return "shared at least half with the options chosen by more than half of the others"
    if level in (POINTS, BOXES):
        return "made marks that agreed with the others’ to 0.5 or more on average"
    if level:
        return "was at most one step from the others’ median, or half a step on a scale of up to four points"
    return "gave the same answer as most of the others"


def top_share(places: Sequence[int]) -> float | None:
    """Return the share of picks at the most-picked position."""
    return max(places) / sum(places) if sum(places) else None


@register.filter
def unbroken(sentence: str) -> SafeString:
    """Return the sentence, keeping annotators' names from breaking at their hyphen."""
    return mark_safe(_NAME.sub(r'<span class="nowrap">\g<0></span>', escape(sentence)))


@register.filter
def local(at: str | None) -> str:
    """Return a `time` element in UTC, which the page's script rewrites to the reader's zone; the title stays."""
    if not at:
        return NOTHING
    written = datetime.fromisoformat(at).astimezone(UTC).strftime("%a %d %b, %H:%M UTC")
    return format_html('<time datetime="{}" title="{}" data-local>{}</time>', at, written, written)


@register.filter
def utc(at: str | None) -> str:
    """Return `21 Nov 2026, 17:44 UTC`, for paper, where no script can convert it to the reader's zone."""
    if not at:
        return NOTHING
    moment = datetime.fromisoformat(at).astimezone(UTC)
    return format_html('<time datetime="{}">{}</time>', at, f"{moment.day} {moment:%b %Y, %H:%M} UTC")
