"""What the API tells of a stage and takes long: its figures, its agreement, the study's funnel.

A small study's are computed while the client waits; a large one's are what the worker computed last (reckoning.py).
"""

from rest_framework.exceptions import APIException

from annotation import reckoning
from annotation.agreement import RESAMPLES, Table
from annotation.figures import judgment_rows, study_figures
from annotation.funnel import funnel
from annotation.models import Kind, Stage, Study
from annotation.outcomes import rule_of
from annotation.pseudonyms import pseudonym
from annotation.reckoning import Tell
from annotation.reliability import reliability

FIGURES, FUNNEL, AGREEMENT = "figures", "funnel", "reliability"  # kinds of figures


class NotYet(APIException):
    """503: the worker has not computed it once."""

    status_code = 503
    default_detail = "A worker is computing these figures for the first time. Ask again in a minute."

    def __init__(self):
        super().__init__()
        self.wait = 60  # seconds, as Retry-After


@reckoning.reckons(FIGURES)
def all_figures(stage: Stage, key: str, tell: Tell) -> dict:
    return study_figures(stage)


@reckoning.reckons(FUNNEL)
def whole_funnel(stage: Stage, key: str, tell: Tell) -> dict:
    """Of the stage's study; kept with its first stage."""
    return funnel(stage.study)


@reckoning.reckons(AGREEMENT)
def agreement(stage: Stage, view: str, tell: Tell) -> dict:
    """`reliability` of the counted judgments on live tasks, labels as `view` sees them (KeyError)."""
    see = rule_of(stage).views()[view]
    rows = [row for row in judgment_rows(stage) if row.kind == Kind.JUDGE and row.counted and row.live]
    table = Table((row.task, pseudonym(row.annotator), see(row.answer)) for row in rows)
    return reliability(table, resamples=RESAMPLES)


def figures_of(stage: Stage, by: str) -> dict:
    """`study_figures`; `now.at` says as of when. Raises NotYet."""
    if reckoning.is_small(stage.study):
        return study_figures(stage)
    found = reckoning.look(stage, FIGURES, by=by).data
    if found is None:
        raise NotYet
    return found


def funnel_of(study: Study, by: str) -> dict | None:
    """None where the worker has not counted yet."""
    if reckoning.is_small(study):
        return funnel(study)
    stage = study.stages.get(position=1)
    stage.study = study
    return reckoning.look(stage, FUNNEL, by=by).data
