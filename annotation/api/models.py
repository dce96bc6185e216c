"""Models on a study's result: scoring it, asking about it, and the results of both."""

from typing import Any

from django.db.models import QuerySet

from annotation import permissions
from annotation.comparison.own_result import result_of
from annotation.comparison.views import ScoreResultForm
from annotation.models import Role
from benchmarks.api import orders
from benchmarks.api.runs import RunList
from benchmarks.models import Run
from benchmarks.scoring import ask, score


class _OfResult:
    """A job on the items that the study has kept; for its managers."""

    kwargs: dict[str, Any]
    user: Any

    def permit(self) -> None:
        self.study = permissions.study_for(self.user, self.kwargs["pk"], Role.MANAGER)
        self.benchmark = self.study.benchmark


class ScoreResultBody(orders.ScoreBody):
    without = tuple(ScoreResultForm.not_asked)


class ScoreResult(_OfResult, orders.Score):
    """Score the items that the study has kept, with the images people chose and the captions they wrote. The
    job's `report` has the id of the `run`.
    """

    command, takes, form = "score_result", ScoreResultBody, ScoreResultForm

    def queue(self, **given: Any) -> Any:
        return score.queue_score(result=result_of(self.study), **given)


class AskAboutResult(_OfResult, orders.Ask):
    """Ask a model at an endpoint about the items that the study has kept, as for scoring its result."""

    command = "ask_about_result"

    def queue(self, **given: Any) -> Any:
        return ask.queue_ask(result=result_of(self.study), **given)


class ResultRuns(RunList):
    """Models' answers to the study's result, with every score; newest first."""

    operation = "result_runs"

    def get_queryset(self) -> QuerySet[Run]:
        study = permissions.study_for(self.user, self.kwargs["pk"])
        return study.benchmark.runs.filter(study=study.pk).select_related("model", "job")
