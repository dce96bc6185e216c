"""The items for a study that asks about part of its benchmark (designs/part.py)."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.db.models import Count, Exists, Expression, IntegerField, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Least

from annotation.models import Study
from annotation.pipeline.ranks import random_rank
from annotation.protocols.schema import bounds
from benchmarks.models import Caption, Item, ItemImage
from benchmarks.queries import counted
from workers import outside_json


def items_of(study: Study) -> QuerySet[Item]:
    """Return all of the study's items, whenever they were imported. A sample stays as drawn at the study's start."""
    return items_in(Item.objects.filter(benchmark=study.benchmark_id), study.part)


def count_of(study: Study) -> Expression:
    """Return the number of items in `items_of`, in a query."""
    part = study.part
    found = narrowed(Item.objects.filter(benchmark=study.benchmark_id), part)
    if "until" in part:
        found = found.filter(position__lte=part["until"])
    count = counted(found.order_by().values("benchmark").annotate(count=Count("pk")))
    return Least(count, part["sample"]) if part.get("sample") else count


def items_in(items: QuerySet[Item], part: Mapping[str, Any]) -> QuerySet[Item]:
    """Return the items in the part; for a sample, those drawn by its seed."""
    found = narrowed(items, part)
    if not part.get("sample"):
        return found
    keys = found.filter(position__lte=part["until"]) if "until" in part else found
    ranked = sorted((random_rank("part", part.get("seed", 0), key), pk) for pk, key in keys.values_list("pk", "key"))
    return items.filter(pk__in=[pk for _, pk in ranked[: part["sample"]]])


def drawn_now(part: Mapping[str, Any], items: QuerySet[Item], seed: int) -> dict[str, Any]:
    """Return the part as a new study keeps it: a sample records its seed and the items it was drawn from."""
    if not part.get("sample"):
        return dict(part)
    return {**part, "seed": seed, "until": items.aggregate(last=Max("position"))["last"] or 0}


def narrowed(items: QuerySet[Item], part: Mapping[str, Any]) -> QuerySet[Item]:
    """Return the items that pass the part's filters."""
    if types := part.get("types"):
        wanted = Q()
        for one in types:
            kind, slash, subtype = one.partition("/")
            wanted |= Q(type=kind, subtype=subtype) if slash else Q(type=kind)
        items = items.filter(wanted)
    for place, (role, count) in enumerate(part.get("roles", {}).items()):
        least, most = bounds(count)
        items = items.annotate(**{f"in_role_{place}": _count_of(role)}).filter(**{f"in_role_{place}__gte": least})
        items = items if most is None else items.filter(**{f"in_role_{place}__lte": most})
    for name, values in part.get("attributes", {}).items():
        said = Q(**{f"attributes__{name}__in": _as_json(values)})
        has = [Exists(parts.objects.filter(said, item=OuterRef("pk"))) for parts in (Caption, ItemImage)]
        items = items.filter(has[0] | has[1])
    if keys := part.get("keys"):
        items = items.filter(key__in=keys)
    return items


def _count_of(role: str) -> Coalesce:
    kind, _, name = role.partition(".")
    parts = (ItemImage if kind == "images" else Caption).objects.filter(item=OuterRef("pk"), role=name)
    of_role = parts.order_by().values("item").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(of_role, output_field=IntegerField()), 0)


def _as_json(values: list[str]) -> list[Any]:
    """Return the texts, and the numbers and booleans that they may represent."""
    found: list[Any] = list(values)
    for value in values:
        with suppress(ValueError):
            read = outside_json.read(value)
            found += [read] if isinstance(read, (bool, int, float)) else []
    return found


def unknown_keys(study: Study) -> list[str]:
    """Return listed keys that the benchmark does not have."""
    keys = study.part.get("keys", [])
    there = set(study.benchmark.items.filter(key__in=keys).values_list("key", flat=True)) if keys else set()
    return [key for key in keys if key not in there]
