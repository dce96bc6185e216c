"""Blind models on pages: a card on the benchmark's page, and a warning on pages that depend on it."""

from django import template
from django.utils.html import format_html

from benchmarks.caption_only import warning
from benchmarks.caption_only.shares import ADVICE, Part
from benchmarks.models import Benchmark
from benchmarks.tables import Column, Table, bdi, number

register = template.Library()


def in_percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _correct(part: Part) -> object:
    share = in_percent(part.share)
    return format_html('{} <b class="warn">above chance</b>', share) if part.warns else share


PARTS = [
    Column("model", "title", bdi),
    Column("part", "name"),
    Column("measure", "words"),
    number("correct", html=_correct),
    number("95%", html=lambda part: f"{in_percent(part.low)} to {in_percent(part.high)}"),
    number("chance", "chance", in_percent),
    number("n", "n"),
]


@register.inclusion_tag("caption_only/_card.html")
def blind_card(benchmark: Benchmark) -> dict:
    blind = warning.blindness_of(benchmark)
    parts = Table("blind-parts", PARTS, blind.found, caption="Blind models on each part")
    return {"blind": blind, "benchmark": benchmark, "advice": ADVICE, "parts": parts}


@register.inclusion_tag("caption_only/_warning.html")
def blind_warning(benchmark: Benchmark) -> dict:
    return {"blind": warning.blindness_of(benchmark), "benchmark": benchmark, "advice": ADVICE}
