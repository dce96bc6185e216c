"""What takes long in the API: a stage's figures, a study's funnel, counts of annotators.

A small study's are computed while the client waits; a large one's are what the worker computed last (figures/cache.py).
"""

from collections.abc import Collection

from django.db.models import Count, FloatField, Q, Sum
from django.db.models.functions import Cast
from rest_framework.exceptions import APIException

from annotation.figures import cache
from annotation.figures.funnel import funnel
from annotation.figures.stage import study_figures
from annotation.models import Judgment, Stage, Study
from benchmarks.jobs.jobs import Tell

FIGURES, FUNNEL, COUNTS = "figures", "funnel", "given"  # kinds of figures
COUNTED = {  # of an annotator, over every revision that they gave, checks too
    "judgment_rows": Count("pk"),
    "counted": Count("counted_on"),
    "withdrawn": Count("pk", filter=Q(withdrawn=True)),
    "surplus": Count("pk", filter=Q(surplus=True, withdrawn=False)),
    "active_minutes": Cast(Sum("active_ms"), FloatField()) / 60_000,
}


class NotYet(APIException):
    """503: the worker has not computed it once."""

    status_code = 503
    default_detail = "A worker is computing these figures for the first time. Ask again in a minute."

    def __init__(self):
        super().__init__()
        self.wait = 60  # seconds, as Retry-After


@cache.reckons(FIGURES)
def _all_figures(stage: Stage, key: str, tell: Tell) -> dict:
    return study_figures(stage)


@cache.reckons(FUNNEL)
def _whole_funnel(stage: Stage, key: str, tell: Tell) -> dict:
    """Of the stage's study; kept with its first stage."""
    return funnel(stage.study)


@cache.reckons(COUNTS)
def _all_counts(stage: Stage, key: str, tell: Tell) -> dict:
    """Of everybody in the stage's study, by their id as text; kept with its first stage."""
    ids = stage.study.annotators.values_list("pk", flat=True)
    return {str(pk): list(counts.values()) for pk, counts in _counted(ids).items()}


def _counted(ids: Collection[int]) -> dict[int, dict]:
    rows = Judgment.objects.filter(lease__annotator__in=ids).values("lease__annotator").annotate(**COUNTED)
    return {row.pop("lease__annotator"): row for row in rows.order_by()}


def stage_figures(stage: Stage, by: str) -> dict:
    """`study_figures`; `now.at` says as of when. Raises NotYet."""
    if cache.is_small(stage.study):
        return study_figures(stage)
    found = cache.look(stage, FIGURES, by=by).data
    if found is None:
        raise NotYet
    return found


def study_funnel(study: Study, by: str) -> dict | None:
    """None where the worker has not counted yet."""
    return funnel(study) if cache.is_small(study) else _of_first(study, FUNNEL, by)


def judgment_counts(study: Study, ids: Collection[int], by: str) -> dict[int, dict]:
    """Of each annotator, by id, the counts of COUNTED; None where the worker has not counted yet."""
    if cache.is_small(study):
        found, nothing = _counted(ids), 0
    else:
        data = _of_first(study, COUNTS, by)
        found = {int(pk): dict(zip(COUNTED, counts, strict=True)) for pk, counts in (data or {}).items()}
        nothing = None if data is None else 0
    return {pk: found.get(pk, dict.fromkeys(COUNTED, nothing)) for pk in ids}


def _of_first(study: Study, kind: str, by: str) -> dict | None:
    """Figures of the whole study, as the worker computed them last."""
    return cache.look(study.stages.get(position=1), kind, by=by, small=False).data
