"""The first page that managers see: what each of their studies needs next, and the list of all."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from annotation import permissions
from annotation.adjudication import cases
from annotation.dashboard.next_step import NextStep, Reached, next_step, passed_on_by, under_way
from annotation.figures.blocked_items import unstaffed_in
from annotation.figures.funnel import measures
from annotation.figures.study_list import StageResults, results_of, with_judging, with_people, with_stages
from annotation.models import Release, Role, Stage, StudyState
from benchmarks.models import Benchmark

ListedStudy = Any  # a Study with what `contents` annotates
Results = Mapping[int, StageResults] | None  # by position; None while the worker counts them


@dataclass(frozen=True, slots=True)
class StudyStep:
    study: ListedStudy
    step: NextStep


def contents(user) -> dict:
    """`studies` as the list shows them, and the next `steps` of those that are not finished. The number of queries does
    not depend on the number of studies, but for large ones (figures/cache.py) and audits.
    """
    frozen = Release.objects.filter(study=OuterRef("pk"), frozen_at__isnull=False)
    mine = permissions.studies_for(user).annotate(released=Exists(frozen))
    studies = with_stages(with_judging(with_people(mine)))
    return {"studies": studies, "steps": _steps(studies), "benchmarks": studies or Benchmark.objects.exists()}


def _steps(studies: Sequence[ListedStudy]) -> list[StudyStep]:
    """Those with something to do first, otherwise in the order of the list; none for those that are released."""
    active = [
        study
        for study in studies
        if permissions.reaches(study.role, Role.MANAGER) and (study.state != StudyState.CLOSED or not study.released)
    ]
    stages, results = _stages_of(active), results_of(active)
    reached = {study.pk: _reached_by(stages[study.pk], results[study.pk]) for study in active}
    going = [
        stage
        for study in active
        if study.state == StudyState.OPEN and study.people and study.latest is None
        for stage in [under_way(reached[study.pk])]
        if stage is not None
    ]
    unstaffed = unstaffed_in(going, stages)
    undecided = cases.undecided(stage for study in active for stage in stages[study.pk])
    found = [
        StudyStep(study, _step(study, stages[study.pk], results[study.pk], reached[study.pk], undecided, unstaffed))
        for study in active
    ]
    return sorted((one for one in found if not one.step.is_last), key=lambda one: not one.step.url)


def _stages_of(studies: Sequence[ListedStudy]) -> dict[int, list[Stage]]:
    """In order, each with its study and its source."""
    known, found = {study.pk: study for study in studies}, defaultdict(list)
    stages = {stage.pk: stage for stage in Stage.objects.filter(study__in=known).order_by("study", "position")}
    for stage in stages.values():
        stage.study = known[stage.study_id]
        if stage.source_id is not None:
            stage.source = stages[stage.source_id]
        found[stage.study_id].append(stage)
    return found


def _results_by(stages: Sequence[Stage], results: Results) -> list[tuple[Stage, StageResults]]:
    return [(stage, (results or {}).get(stage.position) or StageResults()) for stage in stages]


def _reached_by(stages: Sequence[Stage], results: Results) -> list[Reached]:
    return [_reached(*one) for one in _results_by(stages, results)]


def _step(
    study: ListedStudy, stages: Sequence[Stage], results: Results, reached: Sequence[Reached],
    undecided: Mapping[int, int], unstaffed: Mapping[int, int],
) -> NextStep:  # fmt: skip
    """The study's next step over all its stages; the first that waits for a person comes first. By a stage's key,
    `undecided` has its items that a person must decide, `unstaffed` those that no annotator is left to judge.
    """
    by_stage = _results_by(stages, results)
    shown, of = next((one for one in by_stage if one[1].came_open), by_stage[0])
    if results is None and study.state == StudyState.OPEN and study.people:
        return NextStep("Its figures are being counted.")
    return next_step(
        shown,
        reached,
        {stage.pk: [] if measures(stage) else passed_on_by(stage, stages, found.items) for stage, found in by_stage},
        adjudicate=undecided,
        reopen=of.came_open,
        joined=bool(study.people),
        released=study.released,
        unstaffed={stage.position: unstaffed[stage.pk] for stage in stages if stage.pk in unstaffed},
    )


def _reached(stage: Stage, found: StageResults) -> Reached:
    if measures(stage):
        return Reached(stage, found.settled, found.tasks)
    total = sum(found.items.values())
    return Reached(stage, total - found.items.get("open", 0), total)
