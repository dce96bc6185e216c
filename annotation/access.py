"""Fetch and permission in one step: a link is found by its token, or there is nothing (404)."""

from dataclasses import dataclass

from django.db.models import OuterRef, Subquery
from django.http import Http404

from annotation.models import Annotator, Instructions, Stage, Study


@dataclass(frozen=True)
class Desk:
    """Whoever holds the token sits here: the annotator, the stage they judge, the id of its newest instructions."""

    annotator: Annotator
    stage: Stage
    newest: int


def desk(token: str) -> Desk:
    """Two queries: the stage (with its study), the annotator."""
    newest = Instructions.objects.filter(stage=OuterRef("pk")).order_by("-version").values("pk")[:1]
    stages = Stage.objects.filter(study__annotators__token=token).select_related("study")
    stage = stages.annotate(newest=Subquery(newest)).order_by("position").first()
    if stage is None:
        raise Http404("No such link.")
    annotator = Annotator.objects.get(token=token)
    annotator.study = stage.study
    return Desk(annotator, stage, stage.newest)


def invited(invite: str) -> Study:
    study = Study.objects.filter(invite=invite).first()
    if study is None:
        raise Http404("No such invitation.")
    return study
