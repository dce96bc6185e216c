"""Fetch and permission in one step: a link is found by its token, or there is nothing (404)."""

from dataclasses import dataclass

from django.http import Http404
from django.shortcuts import get_object_or_404

from annotation.models import Annotator, Flag, Seat, Stage, Study
from annotation.rows import columns, fetch, instances
from benchmarks.access import check_staff
from benchmarks.models import Job


@dataclass(frozen=True)
class Desk:
    """Whoever holds the token sits here: the annotator, the stage they are in and their seat there, how many screens
    of it they have done, the id of its newest instructions.
    """

    annotator: Annotator
    stage: Stage
    seat: Seat
    done: int
    newest: int


DESK = f"""
SELECT {columns(Annotator, "annotator")}, {columns(Stage, "stage")}, {columns(Seat, "seat")}, {columns(Study, "study")},
       (SELECT count(*) FROM annotation_slot
        WHERE stage_id = stage.id AND annotator_id = annotator.id AND judgment_id IS NOT NULL),
       (SELECT id FROM annotation_instructions WHERE stage_id = stage.id ORDER BY version DESC LIMIT 1)
FROM annotation_annotator annotator
JOIN annotation_study study ON study.id = annotator.study_id
JOIN annotation_stage stage ON stage.id = annotator.stage_id
JOIN annotation_seat seat ON seat.stage_id = stage.id AND seat.annotator_id = annotator.id
WHERE annotator.token = %(token)s
"""


def desk(token: str) -> Desk:
    found = fetch(DESK, token=token)
    if not found:
        raise Http404("No such link.")
    annotator, stage, seat, study = instances(found[0], Annotator, Stage, Seat, Study)
    annotator.study = stage.study = study
    return Desk(annotator, stage, seat, *found[0][-2:])


def invited(invite: str) -> tuple[Study, Stage | None]:
    """The study that a link invites to, and the stage where it is to one stage alone."""
    study = Study.objects.filter(invite=invite).first()
    stage = None if study else Stage.objects.filter(invite=invite).select_related("study").first()
    if study is None and stage is None:
        raise Http404("No such invitation.")
    return study or stage.study, stage


def study_for(user, pk: int) -> Study:
    """A study, for managers (403 for others), with its benchmark."""
    check_staff(user)
    return get_object_or_404(Study.objects.select_related("benchmark"), pk=pk)


def stage_for(user, study: int, position: str | int = 1) -> Stage:
    """A study's stage, for managers (403 for others), with the study and its benchmark.

    `position` may come from an address as it is; what is no position is the first.
    """
    check_staff(user)
    text = str(position)
    wanted = int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 1
    return get_object_or_404(Stage.objects.select_related("study__benchmark"), study=study, position=wanted)


def annotator_for(user, study: int, number: str | int) -> Annotator:
    """A study's annotator by their number (A-01 is 1), for managers (403 for others)."""
    check_staff(user)
    text = str(number)
    wanted = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
    return get_object_or_404(Annotator.objects.select_related("study"), study=study, number=wanted)


def flag_for(user, pk: int) -> Flag:
    check_staff(user)
    return get_object_or_404(Flag.objects.select_related("lease__task__stage"), pk=pk)


def export_for(user, study: int, job: int) -> Job:
    """A finished export of that study."""
    check_staff(user)
    return get_object_or_404(Job, pk=job, kind="export", state="done", params__study=study)
