"""What the API tells of a stage and takes long: its figures, the study's funnel; figures/agreement.py has its agreement.

A small study's are computed while the client waits; a large one's are what the worker computed last (figures/cache.py).
"""

from collections.abc import Callable, Sequence

from rest_framework.exceptions import APIException

from annotation.figures import cache
from annotation.figures.funnel import funnel
from annotation.figures.stage import study_figures
from annotation.models import Stage, Study
from annotation.sql import fetch
from benchmarks.jobs.jobs import Tell

FIGURES, FUNNEL, GIVEN = "figures", "funnel", "given"  # kinds of figures

# Of annotators, over every revision that they gave, checks too.
COUNTED = """
SELECT lease.annotator_id, count(*), count(slot.id), count(*) FILTER (WHERE judgment.withdrawn),
       count(*) FILTER (WHERE judgment.surplus AND NOT judgment.withdrawn), sum(judgment.active_ms)::float / 60000
FROM annotation_lease lease JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
LEFT JOIN annotation_slot slot ON slot.judgment_id = judgment.id
WHERE lease.annotator_id = ANY(%(ids)s) GROUP BY lease.annotator_id
"""
COUNTS = ("judgment_rows", "counted", "withdrawn", "surplus", "active_minutes")


class NotYet(APIException):
    """503: the worker has not computed it once."""

    status_code = 503
    default_detail = "A worker is computing these figures for the first time. Ask again in a minute."

    def __init__(self):
        super().__init__()
        self.wait = 60  # seconds, as Retry-After


@cache.reckons(FIGURES)
def all_figures(stage: Stage, key: str, tell: Tell) -> dict:
    return study_figures(stage)


@cache.reckons(FUNNEL)
def whole_funnel(stage: Stage, key: str, tell: Tell) -> dict:
    """Of the stage's study; kept with its first stage."""
    return funnel(stage.study)


@cache.reckons(GIVEN)
def all_given(stage: Stage, key: str, tell: Tell) -> dict:
    """Of everybody in the stage's study, by their id as text; kept with its first stage."""
    ids = list(stage.study.annotators.values_list("pk", flat=True))
    return {str(pk): counts for pk, *counts in fetch(COUNTED, ids=ids)}


def figures_of(stage: Stage, by: str) -> dict:
    """`study_figures`; `now.at` says as of when. Raises NotYet."""
    if cache.is_small(stage.study):
        return study_figures(stage)
    found = cache.look(stage, FIGURES, by=by).data
    if found is None:
        raise NotYet
    return found


def funnel_of(study: Study, by: str) -> dict | None:
    """None where the worker has not counted yet."""
    if cache.is_small(study):
        return funnel(study)
    return _of_first(study, FUNNEL, by)


def given_by(study: Study, ids: Sequence[int], by: str) -> Callable[[int], dict]:
    """What each of them gave, in counts; None where the worker has not counted yet."""
    if cache.is_small(study):
        data = {str(pk): counts for pk, *counts in fetch(COUNTED, ids=list(ids))}
    else:
        data = _of_first(study, GIVEN, by)
    nothing = [0 if data is not None else None] * len(COUNTS)
    return lambda pk: dict(zip(COUNTS, (data or {}).get(str(pk), nothing), strict=True))


def _of_first(study: Study, kind: str, by: str) -> dict | None:
    """Figures of the whole study, as the worker computed them last."""
    stage = study.stages.get(position=1)
    stage.study = study
    return cache.look(stage, kind, by=by, small=False).data
