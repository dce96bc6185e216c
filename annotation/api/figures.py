"""The API's slow statistics: a stage's, and counts for annotators.

For a small study they are computed on request; for a large one, the worker's latest are used (figures/cache.py).
"""

from collections.abc import Collection

from django.db.models import Count, FloatField, Q, QuerySet, Sum
from django.db.models.functions import Cast
from rest_framework.exceptions import APIException

from annotation.figures import cache
from annotation.figures.stage import study_figures, without_pairs
from annotation.models import Judgment, Stage, Study

FIGURES, GIVEN = "figures", "given"  # kinds of statistics
PAIRS = "pairs"  # key of FIGURES: for every pair of annotators
COUNTS = ("judgment_rows", "counted", "withdrawn", "surplus", "active_minutes")  # counts of an annotator


class NotYet(APIException):
    """503: the worker has not computed the statistics yet."""

    status_code = 503
    default_detail = "A worker is computing these numbers for the first time. Try again in a minute."
    wait = 60  # seconds, for Retry-After


def _counted(annotators: Collection[int] | QuerySet) -> dict[str, list]:
    """Return COUNTS by annotator's id (as text, for JSON), over all their revisions, including checks."""
    rows = Judgment.objects.filter(lease__annotator__in=annotators).values("lease__annotator").order_by()
    rows = rows.annotate(
        judgment_rows=Count("pk"),
        counted=Count("counted_on"),
        surplus=Count("pk", filter=Q(surplus=True, withdrawn=False)),
        withdrawn=Count("pk", filter=Q(withdrawn=True)),  # after `surplus`, where that name means the column
        active_minutes=Cast(Sum("active_ms"), FloatField()) / 60_000,
    )
    return {str(pk): counts for pk, *counts in rows.values_list("lease__annotator", *COUNTS)}


# Statistics of a whole study are kept with its first stage.
cache.computes(FIGURES)(lambda stage, key, tell: _figures(stage, key))
cache.computes(GIVEN)(lambda stage, key, tell: _counted(stage.study.annotators.values("pk")))


def _figures(stage: Stage, key: str) -> dict:
    return study_figures(stage) if key == PAIRS else without_pairs(study_figures(stage))


def stage_figures(stage: Stage, by: str, pairs: bool = False) -> dict:
    """Return `study_figures`, without `kappa_pairs` unless requested; `now.at` is their date. Raises NotYet."""
    key = PAIRS if pairs else ""
    if cache.is_small(stage.study):
        return _figures(stage, key)
    found = cache.latest(stage, FIGURES, key, by=by).data
    if found is None:
        raise NotYet
    return found


def judgment_counts(study: Study, ids: Collection[int], by: str) -> dict[int, dict]:
    """Return each annotator's COUNTS, by id; None if the worker has not counted yet."""
    first = study.stages.get(position=1)
    found = _counted(ids) if cache.is_small(study) else cache.latest(first, GIVEN, by=by, small=False).data
    if found is None:
        return {pk: dict.fromkeys(COUNTS) for pk in ids}
    return {pk: dict(zip(COUNTS, found.get(str(pk), [0] * len(COUNTS)), strict=True)) for pk in ids}
