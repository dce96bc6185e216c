"""Reads that are used twice: each takes a queryset and returns one."""

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Annotator, Slot, Stage, Study


def with_progress(found: QuerySet[Study]) -> QuerySet[Study]:
    """Each study with `protocol`, `wanted`, `judged` and `people`, in one query."""
    slots = Slot.objects.filter(stage__study=OuterRef("pk"))
    people = Annotator.objects.filter(study=OuterRef("pk"))
    return found.select_related("benchmark").annotate(
        protocol=Subquery(Stage.objects.filter(study=OuterRef("pk")).values("protocol")[:1]),
        overlap=Subquery(Stage.objects.filter(study=OuterRef("pk")).values("overlap")[:1]),
        wanted=_count(slots, "stage__study"),
        judged=_count(slots.filter(judgment__isnull=False), "stage__study"),
        people=_count(people, "study"),
    )


def _count(rows: QuerySet, by: str) -> Coalesce:
    counted = rows.order_by().values(by).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
