"""Models on a study's result: scoring it, asking about it, and the results of both."""

from dataclasses import asdict
from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import permissions
from annotation.api.figures import NotYet
from annotation.api.studies import StudyEndpoint
from annotation.comparison import paired
from annotation.comparison.own_result import result_of
from annotation.comparison.views import ScoreResultForm
from annotation.dashboard import results_page
from annotation.models import Role
from benchmarks import permissions as permissions_of_benchmarks
from benchmarks.api import orders
from benchmarks.api.commands import refuse_filters
from benchmarks.api.endpoints import Endpoint, Filters, WholeNumberField
from benchmarks.api.runs import RunList
from benchmarks.models import Run
from benchmarks.scoring import ask, score

NO_RUN = "This benchmark has no run with this id that has answers to single items."
OTHER_KIND = "Name another run of the same kind as the first."


class StudyResults(StudyEndpoint):
    """People and models in one table, as on *Results*: `rows`, people first, then models, the best first.

    `all`, `valid` (items kept) and each of `parts` have the `share` right with `low` and `high` (95%) and `n`; `why`
    has the reasons for nulls. `decided`: a model's share on the items that were kept or dropped. `gap` and, by part,
    `part_gaps`: people − model, paired on the items that both answered. `stands`: `humans` for people. `apart`: people
    were asked something else than models; `fewer`: a model answered fewer items than others, and comes after them.
    """

    operation = "results"
    refusals = {503: "A worker is computing them for the first time; `Retry-After` says when to ask again."}

    def get(self, request: Request, pk: int) -> Response:
        refuse_filters(request)
        _, found = results_page.latest(self.all_stages[0], self.by)
        if found.data is None:
            raise NotYet
        table = {name: value for name, value in found.data.items() if name not in ("tiles", "whole", "audit")}
        rows = results_page.rows_for(self.user, self.study, found.data)
        return Response({**table, "rows": rows, "current": found.current, "made_at": found.made_at})


class PairedFilters(Filters):
    first = WholeNumberField(min_value=1, help_text="The id of a run that has answers to single items.")
    second = WholeNumberField(min_value=1, help_text="The id of another run of the same kind.")


class PairedRuns(Endpoint):
    """Two models on the items that both answered. `rows` has each measure over all items (`type` empty), by type
    (`subtype` null) and by subtype, as in the comparison's file. `lower`: lower is better. `asked_alike` is false if
    only one of them was asked in both orders, and so has to be right twice.
    """

    operation, filters = "paired_runs", PairedFilters

    def get(self, request: Request, pk: int) -> Response:
        benchmark = permissions_of_benchmarks.benchmark_for(self.user, pk)
        mine = Q(study=None) | Q(study__in=permissions.studies_for(self.user))
        there = {run.pk: run for run in paired.comparable([*benchmark.runs.filter(mine, pk__in=self.asked.values())])}
        if wrong := {name: [NO_RUN] for name, number in self.asked.items() if number not in there}:
            raise ValidationError(wrong)
        runs = [there[self.asked[name]] for name in ("first", "second")]
        if runs[0] == runs[1] or runs[0].kind != runs[1].kind:
            raise ValidationError({"second": [OTHER_KIND]})
        rows = [asdict(row) for row in paired.rows_of(runs, by_type=True)]
        alike = runs[0].asked_in_both_orders == runs[1].asked_in_both_orders
        return Response({"asked_alike": alike, "rows": [{**row.pop("found"), **row} for row in rows]})


class _OfResult:
    """A job on the items that the study has kept, for its managers."""

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
