"""Fetch and permission in one step: a link is found by its token, or there is nothing (404)."""

from dataclasses import dataclass

from django.http import Http404
from django.shortcuts import get_object_or_404

from annotation.models import Annotator, Flag, Stage, Study
from annotation.rows import columns, fetch, instances
from benchmarks.access import check_staff
from benchmarks.models import Job


@dataclass(frozen=True)
class Desk:
    """Whoever holds the token sits here: the annotator, the stage they judge, the id of its newest instructions."""

    annotator: Annotator
    stage: Stage
    newest: int


DESK = f"""
SELECT {columns(Annotator, "annotator")}, {columns(Stage, "stage")}, {columns(Study, "study")},
       (SELECT id FROM annotation_instructions WHERE stage_id = stage.id ORDER BY version DESC LIMIT 1)
FROM annotation_annotator annotator
JOIN annotation_study study ON study.id = annotator.study_id
JOIN annotation_stage stage ON stage.study_id = study.id
WHERE annotator.token = %(token)s ORDER BY stage.position LIMIT 1
"""


def desk(token: str) -> Desk:
    found = fetch(DESK, token=token)
    if not found:
        raise Http404("No such link.")
    annotator, stage, study = instances(found[0], Annotator, Stage, Study)
    annotator.study = stage.study = study
    return Desk(annotator, stage, found[0][-1])


def invited(invite: str) -> Study:
    study = Study.objects.filter(invite=invite).first()
    if study is None:
        raise Http404("No such invitation.")
    return study


def stage_for(user, study: int) -> Stage:
    """A study's stage, for managers (403 for others), with the study and its benchmark."""
    check_staff(user)
    return get_object_or_404(Stage.objects.select_related("study__benchmark"), study=study)


def flag_for(user, pk: int) -> Flag:
    check_staff(user)
    return get_object_or_404(Flag.objects.select_related("lease__task__stage"), pk=pk)


def export_for(user, study: int, job: int) -> Job:
    """A finished export of that study."""
    check_staff(user)
    return get_object_or_404(Job, pk=job, kind="export", state="done", params__study=study)
