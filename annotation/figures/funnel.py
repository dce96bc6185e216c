"""Read a study's rows for measures/funnel.py, which counts the items from imported to kept."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from django.db.models import Count

from annotation.figures import cache
from annotation.measures import funnel as measures_funnel
from annotation.measures.funnel import Fate, Walk, fates
from annotation.models import Kind, Stage, Study, Task
from annotation.pipeline.item_results import REASON, STATE
from annotation.pipeline.part import items_of
from annotation.protocols.registry import protocol_named
from annotation.sql import stream
from benchmarks import audit
from benchmarks.jobs.jobs import Tell
from benchmarks.models import Event

KIND = "funnel"

# The result of each item in each stage: `item_results.results` for all stages at once, without what is carried over.
RESULTS = f"""
SELECT task.stage_id, task.item_id, {STATE}, coalesce({REASON}, '')
FROM annotation_task task JOIN annotation_stage stage ON stage.id = task.stage_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE stage.study_id = %(study)s AND task.stage_id = ANY(%(stages)s) AND task.kind = 'judge' AND task.live
GROUP BY task.stage_id, task.item_id
"""


def measures(stage: Stage) -> bool:
    return protocol_named(stage.protocol).measures


def funnel(study: Study) -> dict:
    """Return counts and shares at every step, JSON-able; docs/reference/measures.md defines them."""
    return of_stages(study, list(study.stages.order_by("position")))


@cache.computes(KIND)
def _at(stage: Stage, key: str, tell: Tell) -> dict:
    """Compute the funnel through the stages at the positions in `key` (“1,3”), or through all if empty."""
    at = [int(one) for one in key.split(",") if one]
    stages = stage.study.stages.order_by("position")
    return of_stages(stage.study, list(stages.filter(position__in=at) if at else stages))


def latest(study: Study, positions: Collection[int] = (), by: str = "app") -> cache.LatestFigures:
    """Return the latest funnel through the stages at these positions (empty: through all)."""
    return cache.latest(study.stages.get(position=1), KIND, ",".join(map(str, sorted(positions))), by=by)


def of_stages(study: Study, stages: Sequence[Stage]) -> dict:
    """Return the same for some of the study's stages; each stage's source must be among them."""
    walk = walk_of(study, [stage for stage in stages if not measures(stage)])
    return figures_of(walk, fates(walk), stages)


def figures_of(walk: Walk, ends: Mapping[int, Fate], stages: Sequence[Stage]) -> dict:
    """Return the same if the `walk` through the selecting stages and its fates (`ends`) are known."""
    return measures_funnel.figures(walk, ends, _measured([stage for stage in stages if measures(stage)]))


def walk_of(study: Study, stages: Sequence[Stage]) -> Walk:
    """Read a study's walk in four queries for any number of items; one more if it covers only part of its benchmark."""
    places = [stage.pk for stage in stages]
    found: dict[int, dict[int, tuple[str, str]]] = defaultdict(dict)
    known: dict[int, set[int]] = defaultdict(set)
    unsuited: dict[int, set[int]] = defaultdict(set)
    same: dict[tuple[str, str], tuple[str, str]] = {}  # items with equal values share one tuple
    for stage, item, state, reason in stream(RESULTS, study=study.pk, stages=places):
        found[stage][item] = same.setdefault((state, reason), (state, reason))
    for stage, item in Task.objects.filter(stage__in=places).exclude(kind=Kind.JUDGE).values_list("stage", "item"):
        known[stage].add(item)
    named = {audit.named(stage): stage.pk for stage in stages}
    refused = Event.objects.filter(subject__in=named, verb="could not ask").values_list("subject", "data__item")
    for subject, item in refused:
        unsuited[named[subject]].add(item)
    items = items_of(study).order_by("type", "subtype", "position")
    kinds, withdrawn = dict[int, tuple[str, str]](), set[int]()
    for item, kind, subtype, gone in items.values_list("pk", "type", "subtype", "withdrawn").iterator():
        kinds[item] = same.setdefault((kind, subtype), (kind, subtype))
        if gone:
            withdrawn.add(item)
    return Walk(stages, kinds, found, known, unsuited, withdrawn)


def _measured(stages: Sequence[Stage]) -> list[dict]:
    asked = Task.objects.filter(stage__in=stages, kind=Kind.JUDGE, live=True).values_list("stage").order_by()
    rows = asked.annotate(Count("item", distinct=True), Count("pk"), Count("decided"))
    counts = {stage: row for stage, *row in rows}
    return [measures_funnel.measured(stage, *counts.get(stage.pk, (0, 0, 0))) for stage in stages]
