"""The read-only API of what was asked and answered in a study: a line for each row, as in an export, page by page."""

from functools import partial

from django.db.models import F
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access, api_asked, api_figures, api_lines
from annotation.api_data import AdjudicationData, AnnotatorData, FlagData, JudgmentData, TaskData
from annotation.api_pages import window
from annotation.models import Annotator, Flag, Judgment, Task
from benchmarks.asking import Keyset, paged, tells
from benchmarks.events import named


@tells("tasks", TaskData, api_asked.AskedTasks, Keyset)
@api_view(["GET"])
def task_list(request: Request, pk: int) -> Response:
    """What was asked, of whatever kind and round, with what came of it; right answers are told to managers alone."""
    study, asked = access.study_for(request.user, pk), api_asked.AskedTasks.of(request)
    stages = api_asked.stages_asked(study, asked)
    found = api_asked.tasks_asked(Task.objects.filter(stage__in=stages).only("pk"), asked)
    return paged(request, found, TaskData, lambda page: api_lines.tasks(page, stages, gold=study.may.manage))


@tells("judgments", JudgmentData, api_asked.AskedJudgments, Keyset)
@api_view(["GET"])
def judgment_list(request: Request, pk: int) -> Response:
    """Every judgment, revisions and surplus ones included, in the order of giving."""
    study, asked = access.study_for(request.user, pk), api_asked.AskedJudgments.of(request)
    stages = api_asked.stages_asked(study, asked)
    given = Judgment.objects.filter(lease__task__stage__in=stages).annotate(task=F("lease__task_id")).only("pk")
    by = Keyset if "annotator" in asked else partial(window, study, asked.get("since"), asked.pop("counted", None))
    found = api_asked.judgments_asked(given, asked, study)
    return paged(request, found, JudgmentData, lambda page: api_lines.judgments(page, stages), by)


@tells("annotators", AnnotatorData, api_asked.AskedAnnotators, Keyset)
@api_view(["GET"])
def annotator_list(request: Request, pk: int) -> Response:
    """Who has joined, by pseudonym, with the stages that they were in and counts of what they gave."""
    study, asked = access.study_for(request.user, pk), api_asked.AskedAnnotators.of(request)
    found = Annotator.objects.filter(study=study).only("pk")
    if "excluded" in asked:
        found = found.filter(excluded_at__isnull=not asked["excluded"])

    def lines(page: list[Annotator]) -> list[dict]:
        by = named(request.user)
        return api_lines.annotators(page, api_figures.given_by(study, [one.pk for one in page], by))

    return paged(request, found, AnnotatorData, lines)


@tells("adjudications", AdjudicationData, api_asked.AskedOfStage, Keyset)
@api_view(["GET"])
def adjudication_list(request: Request, pk: int) -> Response:
    """What adjudicators decided, and why."""
    study, asked = access.study_for(request.user, pk), api_asked.AskedOfStage.of(request)
    stages = api_asked.stages_asked(study, asked)
    found = api_asked.adjudicated(stages).only("pk")
    return paged(request, found, AdjudicationData, lambda page: api_lines.adjudications(page, stages))


@tells("flags", FlagData, api_asked.AskedFlags, Keyset)
@api_view(["GET"])
def flag_list(request: Request, pk: int) -> Response:
    """What annotators reported."""
    study, asked = access.study_for(request.user, pk), api_asked.AskedFlags.of(request)
    found = Flag.objects.filter(lease__task__stage__in=api_asked.stages_asked(study, asked)).only("pk")
    if "settled" in asked:
        found = found.filter(settled_at__isnull=not asked["settled"])
    return paged(request, found, FlagData, api_lines.flags)
