"""The read-only API of what was asked and answered in a study: a line for each row, as in an export, page by page."""

from functools import partial

from django.db.models import F
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import permissions
from annotation.api import figures, filters
from annotation.api import lines as api_lines
from annotation.api.pagination import window
from annotation.api.serializers import AdjudicationData, AnnotatorData, FlagData, JudgmentData, TaskData
from annotation.models import Annotator, Flag, Judgment, Task
from benchmarks.api.filters import Keyset, paged, tells
from benchmarks.audit import named


@tells("tasks", TaskData, filters.AskedTasks, Keyset)
@api_view(["GET"])
def task_list(request: Request, pk: int) -> Response:
    """What was asked, of whatever kind and round, with what came of it; right answers are told to managers alone."""
    study, asked = permissions.study_for(request.user, pk), filters.AskedTasks.of(request)
    stages = filters.stages_asked(study, asked)
    found = filters.tasks_asked(Task.objects.filter(stage__in=stages).only("pk"), asked)
    return paged(request, found, TaskData, lambda page: api_lines.tasks(page, stages, gold=study.may.manage))


@tells("judgments", JudgmentData, filters.AskedJudgments, Keyset)
@api_view(["GET"])
def judgment_list(request: Request, pk: int) -> Response:
    """Every judgment, revisions and surplus ones included, in the order of giving."""
    study, asked = permissions.study_for(request.user, pk), filters.AskedJudgments.of(request)
    stages = filters.stages_asked(study, asked)
    given = Judgment.objects.filter(lease__task__stage__in=stages).annotate(task=F("lease__task_id")).only("pk")
    by = Keyset if "annotator" in asked else partial(window, study, asked.get("since"), asked.pop("counted", None))
    found = filters.judgments_asked(given, asked, study)
    return paged(request, found, JudgmentData, lambda page: api_lines.judgments(page, stages), by)


@tells("annotators", AnnotatorData, filters.AskedAnnotators, Keyset)
@api_view(["GET"])
def annotator_list(request: Request, pk: int) -> Response:
    """Who has joined, by pseudonym, with the stages that they were in and counts of what they gave."""
    study, asked = permissions.study_for(request.user, pk), filters.AskedAnnotators.of(request)
    found = Annotator.objects.filter(study=study).only("pk")
    if "excluded" in asked:
        found = found.filter(excluded_at__isnull=not asked["excluded"])

    def lines(page: list[Annotator]) -> list[dict]:
        by = named(request.user)
        return api_lines.annotators(page, figures.given_by(study, [one.pk for one in page], by))

    return paged(request, found, AnnotatorData, lines)


@tells("adjudications", AdjudicationData, filters.AskedOfStage, Keyset)
@api_view(["GET"])
def adjudication_list(request: Request, pk: int) -> Response:
    """What adjudicators decided, and why."""
    study, asked = permissions.study_for(request.user, pk), filters.AskedOfStage.of(request)
    stages = filters.stages_asked(study, asked)
    found = filters.adjudicated(stages).only("pk")
    return paged(request, found, AdjudicationData, lambda page: api_lines.adjudications(page, stages))


@tells("flags", FlagData, filters.AskedFlags, Keyset)
@api_view(["GET"])
def flag_list(request: Request, pk: int) -> Response:
    """What annotators reported."""
    study, asked = permissions.study_for(request.user, pk), filters.AskedFlags.of(request)
    found = Flag.objects.filter(lease__task__stage__in=filters.stages_asked(study, asked)).only("pk")
    if "settled" in asked:
        found = found.filter(settled_at__isnull=not asked["settled"])
    return paged(request, found, FlagData, api_lines.flags)
