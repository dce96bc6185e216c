"""From imported to kept, of a study in the database: the rows behind measures/funnel.py, which counts them."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.measures import funnel as measures_funnel
from annotation.measures.funnel import Walk
from annotation.models import Stage, Study
from annotation.protocols.registry import PROTOCOLS
from annotation.sql import fetch
from benchmarks import audit

# What each stage makes of each item that is in it: `promotion.results` for all stages at once, without what is carried.
RESULTS = """
SELECT task.stage_id, task.item_id,
       CASE WHEN bool_or(outcome.state = 'dropped') THEN 'dropped'
            WHEN bool_or(outcome.state IS NULL) THEN 'open' ELSE 'kept' END,
       coalesce((array_agg(outcome.reason ORDER BY task.question) FILTER (WHERE outcome.state = 'dropped'))[1], '')
FROM annotation_task task JOIN annotation_stage stage ON stage.id = task.stage_id
LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE stage.study_id = %(study)s AND task.stage_id = ANY(%(stages)s) AND task.kind = 'judge' AND task.live
GROUP BY task.stage_id, task.item_id
"""
ITEMS = """
SELECT id, type, subtype FROM benchmarks_item WHERE benchmark_id = %(benchmark)s ORDER BY type, subtype, position
"""
KNOWN = """
SELECT DISTINCT task.stage_id, task.item_id FROM annotation_task task
WHERE task.stage_id = ANY(%(stages)s) AND task.kind <> 'judge'
"""
UNSUITED = """
SELECT subject, (data->>'item')::bigint FROM benchmarks_event
WHERE subject = ANY(%(subjects)s) AND verb = 'could not ask'
"""
MEASURED = """
SELECT task.stage_id, count(DISTINCT task.item_id), count(*), count(outcome.task_id)
FROM annotation_task task LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
WHERE task.stage_id = ANY(%(stages)s) AND task.kind = 'judge' AND task.live GROUP BY task.stage_id
"""


def measures(stage: Stage) -> bool:
    return PROTOCOLS[stage.protocol].measures


def funnel(study: Study) -> dict:
    """Counts and shares at every step, JSON-able; docs/reference/measures.md defines them."""
    return of_stages(study, list(study.stages.order_by("position")))


def of_stages(study: Study, stages: Sequence[Stage]) -> dict:
    """The same where some of the study's stages are all there is: with a stage must come its source."""
    walk = walk_of(study, [stage for stage in stages if not measures(stage)])
    return measures_funnel.figures(walk, _measured([stage for stage in stages if measures(stage)]))


def walk_of(study: Study, stages: Sequence[Stage]) -> Walk:
    """Four queries, however many items and stages."""
    places = [stage.pk for stage in stages]
    found, known, unsuited = defaultdict(dict), defaultdict(set), defaultdict(set)
    for stage, item, *result in fetch(RESULTS, study=study.pk, stages=places):
        found[stage][item] = tuple(result)
    for stage, item in fetch(KNOWN, stages=places):
        known[stage].add(item)
    named = {audit.named(stage): stage.pk for stage in stages}
    for subject, item in fetch(UNSUITED, subjects=list(named)):
        unsuited[named[subject]].add(item)
    kinds = {item: kind for item, *kind in fetch(ITEMS, benchmark=study.benchmark_id)}
    return Walk(stages, {item: tuple(kind) for item, kind in kinds.items()}, found, known, unsuited)


def _measured(stages: Sequence[Stage]) -> list[dict]:
    rows = {stage: row for stage, *row in fetch(MEASURED, stages=[stage.pk for stage in stages])} if stages else {}
    return [measures_funnel.measured(stage, *rows.get(stage.pk, (0, 0, 0))) for stage in stages]
