"""Blind models on pages: a card on the benchmark's page, a warning on pages that depend on it."""

from django import template

from benchmarks.caption_only import warning
from benchmarks.caption_only.shares import ADVICE
from benchmarks.models import Benchmark

register = template.Library()


@register.inclusion_tag("caption_only/_card.html")
def blind_card(benchmark: Benchmark) -> dict:
    return {"blind": warning.blindness_of(benchmark), "benchmark": benchmark, "advice": ADVICE}


@register.inclusion_tag("caption_only/_warning.html")
def blind_warning(benchmark: Benchmark) -> dict:
    return {"blind": warning.blindness_of(benchmark), "benchmark": benchmark, "advice": ADVICE}


@register.filter
def in_percent(share: float) -> str:
    return f"{100 * share:.1f} %"
