"""What the API tells of a stage and takes long: its figures, the study's funnel; stage_agreement.py has its agreement.

A small study's are computed while the client waits; a large one's are what the worker computed last (reckoning.py).
"""

from rest_framework.exceptions import APIException

from annotation import reckoning
from annotation.figures import study_figures
from annotation.funnel import funnel
from annotation.models import Stage, Study
from annotation.reckoning import Tell

FIGURES, FUNNEL = "figures", "funnel"  # kinds of figures


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
