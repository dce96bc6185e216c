"""Managers' pages about models and people: a benchmark's comparison, and the tasks on which they disagree."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotation import permissions
from annotation.adjudication.disagreement_list import types_of
from annotation.charts.study import Subject
from annotation.comparison import charts, corrected, items, own_result, page
from annotation.comparison.disagreements_with_models import LISTS, MISSED, SORTS, WRONG
from annotation.comparison.question_map import asked_in
from annotation.models import Role, Stage
from annotation.protocols.registry import protocol_named
from benchmarks.jobs.orders import OrderForm
from benchmarks.jobs.views import asked_before, benchmark_order_page
from benchmarks.models import Benchmark, Job, Run
from benchmarks.permissions import StaffRequest, benchmark_for, staff_only
from benchmarks.scoring import ask, score
from benchmarks.scoring.views import AskForm, ScoreForm, in_parts
from benchmarks.tables import page_or_csv

PAGE = 12


@require_safe
@staff_only
def benchmark_models(request: StaffRequest, pk: int) -> HttpResponse:
    """Handle `?measure=group&order=best&other=7`."""
    contents = page.contents(request, benchmark_for(request.user, pk))
    return page_or_csv(
        request, "comparison/models.html", {"section": "benchmarks", **contents}, f"paired-benchmark-{pk}"
    )


@dataclass(frozen=True, slots=True)
class _Filters:
    """The filters in an address; by default, models that see images."""

    which: str = MISSED
    sort: str = WRONG
    type: str = ""
    subtype: str = ""
    models: tuple[int, ...] = ()

    def link(self, **more: object) -> str:
        mine = {"which": self.which, "sort": self.sort, "type": self.type, "subtype": self.subtype}
        given = {name: value for name, value in {**mine, **more}.items() if value}
        return urlencode({**given, "model": self.models}, doseq=True)


def _filters(query: QueryDict) -> _Filters:
    """Parse the filters; invalid choices are ignored."""
    which, sort = query.get("which", ""), query.get("sort", "")
    models = [int(one) for one in query.getlist("model")[:100] if one.isascii() and one.isdecimal() and len(one) < 19]
    return _Filters(
        which if which in LISTS else MISSED, sort if sort in SORTS else WRONG,
        query.get("type", "")[:60], query.get("subtype", "")[:60], tuple(models),
    )  # fmt: skip


@require_safe
@staff_only
def study_corrected(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Show an audit stage's corrected table: `?kind=bivlc&measure=group`."""
    shown = {"section": "studies", **corrected.contents(permissions.stage_for(request.user, pk, position), request)}
    return page_or_csv(request, "comparison/corrected.html", shown, f"corrected-study-{pk}-stage-{position}")


@require_safe
@staff_only
def study_model_errors(request: StaffRequest, pk: int) -> HttpResponse:
    """Handle `?stage=2&which=against&sort=margin&model=7&model=9&type=swap&page=3`."""
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""))
    stages = [one for one in stage.study.stages.order_by("position") if asked_in(one.protocol)]
    if stages and stage not in stages:
        stages[0].study, stage = stage.study, stages[0]
    wanted, there = _filters(request.GET), items.comparable(stage)
    runs = [run for run in there if run.pk in wanted.models] or [run for run in there if not run.blind] or there
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "protocol": protocol_named(stage.protocol),
        "tabs": [(one, wanted.link(stage=one.position)) for one in stages], "wanted": wanted, "there": there,
        "chosen": runs, "sorts": SORTS.items(), **(_listed(request, stage, runs, wanted) if runs else {}),
    }  # fmt: skip
    return render(request, "comparison/wrong.html", context)


def _listed(request: StaffRequest, stage: Stage, runs: Sequence[Run], wanted: _Filters) -> dict[str, object]:
    """Return the page's list, its neighbours, and the plot of all tasks that pass the filters."""
    whole = items.table(stage, runs, wanted.type, wanted.subtype)
    found = whole.listed(wanted.which, wanted.sort)
    last = max(1, math.ceil(len(found) / PAGE))
    page = min(max(1, permissions.row_id(request.GET.get("page"))), last)
    of = Subject(stage.study_id, stage.study.name, timezone.now().isoformat(), stage.position, stage.title)
    counts = whole.counts()
    lists = [(name, f"{words} ({counts[name]:,})") for name, words in LISTS.items()]
    return {
        "cases": items.cases(stage, runs, found[(page - 1) * PAGE : page * PAGE].tolist(), whole),
        "lists": lists, "count": len(found), "compared": len(whole.tasks), "page": page, "last": last,
        **types_of(stage), "plot": charts.margins(whole, of),
    }  # fmt: skip


# Models that answer a study's result


class ScoreResultForm(ScoreForm):
    not_asked = ("measure", "seeds")


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_score(request: StaffRequest, pk: int) -> HttpResponse:
    """Score the study's result."""
    form = ScoreResultForm(request.POST or None, initial=in_parts(asked_before(request, score.KIND)))
    return _order_page(request, pk, "comparison/score_result.html", form, score.queue_score)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_ask(request: StaffRequest, pk: int) -> HttpResponse:
    """Ask an endpoint about the study's result; with `estimate`, only estimate the requests and cost."""
    form = AskForm(request.POST or None, initial=asked_before(request, ask.KIND).get("order", {}))
    return _order_page(request, pk, "comparison/ask_result.html", form, ask.queue_ask, ask.estimate_for)


def _order_page(
    request: StaffRequest, pk: int, template: str, form: OrderForm, queue: Callable[..., Job],
    estimate: Callable[..., object] | None = None,
) -> HttpResponse:  # fmt: skip
    study = permissions.study_for(request.user, pk, Role.MANAGER)

    def queue_it(**given) -> Job:
        return queue(result=own_result.result_of(study), **given)

    def estimate_it(benchmark: Benchmark, order: object) -> object:
        return estimate and estimate(benchmark, order, own_result.result_of(study))

    return benchmark_order_page(
        request, template, form, study.benchmark, queue_it, estimate and estimate_it, study=study, section="studies"
    )
