"""The rows of a benchmark's comparison: its runs, and the people who judged its questions. Five queries, whatever its
size: one for the runs, two for stages that measure people, two for these people's answers.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation import permissions
from annotation.comparison.table import BLIND, HUMANS, IMPORTED, MEASURED, REPORTED, Entry
from annotation.figures.human_baseline import JUDGMENTS, OUTCOMES
from annotation.measures import human_baseline
from annotation.measures.human_baseline import BASELINE_PROTOCOLS, Question, QuestionRow
from annotation.measures.papers import rank
from annotation.measures.papers.base import CountedJudgment, JudgedTask
from annotation.measures.types import Figures
from annotation.models import Kind, Slot, Stage, Study
from annotation.protocols import hard_positive_rank
from annotation.protocols.base import Answer
from annotation.sql import fetch
from benchmarks.metrics.base import by_type
from benchmarks.metrics.bivlc import QUESTIONS
from benchmarks.models import Benchmark, Run, RunOrigin
from benchmarks.predictions import stored
from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE
from benchmarks.runs import figures as run_figures
from benchmarks.runs.reported import HUMAN


def runs_of(benchmark: Benchmark, kind: str) -> list[Run]:
    """In order of creation."""
    return list(benchmark.runs.filter(kind=kind).select_related("model").order_by("made_at", "pk"))


def kinds_of(benchmark: Benchmark) -> list[str]:
    """The kinds that have runs, the one with the most first."""
    found = list(benchmark.runs.order_by().values_list("kind", flat=True))
    return sorted(set(found), key=lambda kind: (-found.count(kind), kind))


def entries_of(runs: Sequence[Run]) -> tuple[list[Entry], list[int]]:
    """The entries whose figures exist, and the numbers of the other runs."""
    found = run_figures.of_runs(runs)
    return [_entry(run, found.figures[run.pk]) for run in runs if run.pk in found.figures], found.missing


def _entry(run: Run, figures: dict) -> Entry:
    family, is_reported = run.figures.get("family", ""), run.origin == RunOrigin.REPORTED
    return Entry(run.title, stands(run), figures, run.source or _place(run), family, run.pk, is_reported)


def _place(run: Run) -> str:
    """Where the files of a model measured here are, relative to the folder of models or as a full path, because
    different models often share a file name. Empty if it is not a file."""
    given = [run.model.pretrained, run.model.name.partition(":")[2] or run.model.name] if run.model else []
    path = next((Path(one) for one in given if one.startswith("/")), None)
    if path is None:
        return ""
    models = Path(settings.MODELS).resolve()
    return str(path.relative_to(models) if path.is_relative_to(models) else path)


def stands(run: Run) -> str:
    if run.origin == RunOrigin.REPORTED:
        return HUMANS if run.figures.get("family") == HUMAN else REPORTED
    return BLIND if run.blind else MEASURED if run.origin == RunOrigin.MEASURED else IMPORTED


def people(user: User, benchmark: Benchmark, kind: str) -> list[Entry]:
    """The human baselines on it, from studies that the user may view."""
    if kind not in _PEOPLE:
        return []
    protocols, figures_of = _PEOPLE[kind]
    stages = _stages(user, benchmark).filter(protocol__in=protocols).select_related("study")
    return [
        Entry(study.name, HUMANS, figures, f"study {study.pk}")
        for study, figures in figures_of(stages.order_by("study", "position"))
        if any(of["n"] for of in figures["measures"].values())
    ]


def kinds_of_people(user: User, benchmark: Benchmark) -> list[str]:
    """The kinds whose questions stages of these studies ask people."""
    there = set(_stages(user, benchmark).values_list("protocol", flat=True))
    return [kind for kind, (protocols, _) in _PEOPLE.items() if there & {*protocols}]


def _stages(user: User, benchmark: Benchmark) -> QuerySet[Stage]:
    studies = permissions.studies_for(user).filter(benchmark=benchmark)
    return Stage.objects.filter(study__in=studies.order_by().values("pk"))


def _bivlc_figures(stages: Iterable[Stage]) -> Iterator[tuple[Study, Figures]]:
    """Of each baseline: a model's, but with intervals over annotators."""
    by_study: dict[Study, list[Stage]] = defaultdict(list)
    for stage in stages:
        by_study[stage.study].append(stage)
    pairs = [(study, pair) for study, found in by_study.items() for pair in human_baseline.pairs_of(found)]
    verdicts, given = _answers([stage for found in by_study.values() for stage in found])
    for study, pair in pairs:
        halves = [stage.pk for stage in pair.stages.values()]
        items = human_baseline.scored(
            {asked: found for half in halves for asked, found in verdicts[half].items()},
            [one for half in halves for one in given[half]],
        )
        answered = [item for item in items if any(getattr(item, name) is not None for name in QUESTIONS)]
        groups = [
            {"type": group.type, "subtype": group.subtype, "measures": human_baseline.rows(group.measures)}
            for group in by_type(answered, human_baseline.over_annotators)
        ]
        measures = human_baseline.rows(human_baseline.over_annotators(answered))
        yield study, {**stored.summarize(answered, BIVLC), "measures": measures, "groups": groups}


def _hard_positive_figures(stages: Iterable[Stage]) -> Iterator[tuple[Study, Figures]]:
    """Of each stage that ranks captions."""
    by_number = {stage.pk: stage for stage in stages}
    slots = Slot.objects.filter(stage__in=by_number, judgment__isnull=False, task__live=True, task__kind=Kind.JUDGE)
    of_task = "stage", "task", "task__item__type", "task__item__subtype", "task__overlap"
    given: dict[tuple, list[CountedJudgment]] = defaultdict(list)
    for *task, annotator, answer in slots.values_list(*of_task, "annotator__number", "judgment__answer"):
        given[tuple(task)].append(CountedJudgment(annotator, Answer(answer)))
    tasks: dict[int, list[JudgedTask]] = defaultdict(list)
    for (number, _, kind, subtype, overlap), judgments in given.items():
        tasks[number].append(JudgedTask(kind, subtype, overlap, judgments))
    for number, stage in by_number.items():
        yield stage.study, stored.summarize(rank.as_models_answer(tasks[number]), HARD_POSITIVE)


# By kind of evaluation: the protocols that measure people by its questions, and their figures
_PEOPLE: Mapping[str, tuple[Collection[str], Callable[[Iterable[Stage]], Iterator[tuple[Study, Figures]]]]] = {
    BIVLC.name: (BASELINE_PROTOCOLS.values(), _bivlc_figures),
    HARD_POSITIVE.name: ([hard_positive_rank.PROTOCOL.name], _hard_positive_figures),
}


def _answers(stages: Sequence[Stage]) -> tuple[dict[Any, dict[Question, bool | None]], dict[Any, list]]:
    """By stage: each question, and whether it was answered correctly; and the annotators of its counted judgments. Two
    queries for all stages, none for none.
    """
    verdicts: dict[Any, dict[Question, bool | None]] = defaultdict(dict)
    given: dict[Any, list[tuple[Question, int]]] = defaultdict(list)
    if stages:
        question, asked_of = human_baseline.questions(stages), [stage.pk for stage in stages]
        for *task, state, outcome in fetch(OUTCOMES, stages=asked_of):
            asked, right = question(QuestionRow(*task))
            verdicts[task[0]][asked] = human_baseline.verdict(right, state, outcome)
        for *task, number, _ in fetch(JUDGMENTS, stages=asked_of):
            given[task[0]].append((question(QuestionRow(*task))[0], number))
    return verdicts, given


def others(benchmark: Benchmark) -> list[Benchmark]:
    """Benchmarks with runs, whose ranking of models can be compared with this one's."""
    with_runs = Run.objects.order_by().values("benchmark").distinct()
    return list(Benchmark.objects.filter(pk__in=with_runs).exclude(pk=benchmark.pk).order_by("name"))
