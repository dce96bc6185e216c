"""What would be in a release if it were made now, and what is to be thought of before."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.figures import funnel
from annotation.models import Kind, Stage, StageState, Study, Task
from benchmarks.models import ItemImage

SHOWN = ("imported", "kept", "dropped", "open")


@dataclass(frozen=True, slots=True)
class Outlook:
    """`counts` has items, by SHOWN; `by_type` the same of each type and subtype. `images` are the benchmark's."""

    counts: dict[str, int]
    by_type: list[dict]
    stages: list[Stage]
    images: int
    no_licence: int
    checks: int  # tasks whose right answers are known

    @property
    def still_open(self) -> list[Stage]:
        return [stage for stage in self.stages if stage.state == StageState.OPEN]


def outlook(study: Study, positions: Collection[int] = ()) -> Outlook:
    """Of the stages at these positions; none: of all."""
    stages = [one for one in study.stages.order_by("position") if not positions or one.position in positions]
    whole = funnel.of_stages(study, stages)
    used = ItemImage.objects.filter(item__benchmark=study.benchmark_id)
    pictures = used.aggregate(all=Count("pk"), bare=Count("pk", filter=Q(licence="")))
    known = Task.objects.filter(stage__in=stages).exclude(kind=Kind.JUDGE).count()
    named = [{name: row[name] for name in ("type", "subtype", *SHOWN)} for row in whole["by_type"]]
    counts = {name: whole[name] for name in SHOWN}
    return Outlook(counts, named, stages, pictures["all"], pictures["bare"], known)
