"""How alike the captions of a benchmark are by their wording, where its items have two positive ones and a negative."""

from django.core.cache import cache
from django.db.models import Count, Max

from benchmarks.metrics import lexical
from benchmarks.models import Benchmark, Caption, Role

DAY = 24 * 3600
ROLES = (Role.POSITIVE, Role.SECOND_POSITIVE, Role.NEGATIVE)


def likeness(benchmark: Benchmark) -> dict:
    """`lexical.overlap` of all items; {} where they have no second positive. Kept until captions come in."""
    seconds = Caption.objects.filter(item__benchmark=benchmark, role=Role.SECOND_POSITIVE, position=0)
    state = seconds.aggregate(count=Count("pk"), last=Max("pk"))
    if not state["count"]:
        return {}
    key = f"likeness:{benchmark.pk}:{state['count']}:{state['last']}"
    return cache.get_or_set(key, lambda: lexical.overlap(triplets(benchmark)), DAY)


def triplets(benchmark: Benchmark) -> list[tuple[str, str, str]]:
    """The first caption of each of the three roles, of every item that has all three."""
    found: dict[int, dict[str, str]] = {}
    written = Caption.objects.filter(item__benchmark=benchmark, role__in=ROLES, position=0).order_by()
    for item, role, text in written.values_list("item_id", "role", "text"):
        found.setdefault(item, {})[role] = text
    return [tuple(texts[role] for role in ROLES) for texts in found.values() if len(texts) == len(ROLES)]
