"""The first page that managers see: what each of their studies needs next, and the list of all."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation import permissions
from annotation.adjudication import cases
from annotation.dashboard.next_step import Kind, NextStep, Point, Reached, next_step, passed_on_by, under_way, way
from annotation.figures.blocked_items import unstaffed_in
from annotation.figures.funnel import measures
from annotation.figures.study_list import StageResults, results_of, with_judging, with_people, with_stages
from annotation.models import Release, Role, Stage, Study, StudyState
from annotation.participants.review import people_to_review
from benchmarks.models import Benchmark

ListedStudy = Any  # a Study with what `contents` annotates
Results = Mapping[int, StageResults] | None  # by position; None while the worker counts them


@dataclass(frozen=True, slots=True)
class StudyStep:
    """A study's next `step`, the `way` to its release, whom to `review` (numbers), and how many items to decide."""

    study: ListedStudy
    step: NextStep
    way: Sequence[Point]
    review: Sequence[int]
    undecided: int


def contents(user) -> dict:
    """`studies` as the list shows them, and the next `steps` of those that are not finished. The number of queries does
    not depend on the number of studies, but for large ones (figures/cache.py) and audits.
    """
    studies = with_stages(with_judging(with_people(_with_released(permissions.studies_for(user)))))
    active = [
        study
        for study in studies
        if permissions.reaches(study.role, Role.MANAGER) and (study.state != StudyState.CLOSED or not study.released)
    ]
    steps = [one for one in _steps(active) if not one.step.is_last]
    return {
        "studies": studies,
        "steps": sorted(steps, key=lambda one: not one.step.url),
        "benchmarks": studies or Benchmark.objects.exists(),
    }


def step_of(user, study: Study) -> StudyStep:
    """The study's next step as the list has it, and the way to it."""
    (listed,) = with_stages(with_people(_with_released(permissions.studies_for(user).filter(pk=study.pk))))
    return _steps([listed])[0]


def _with_released(studies: QuerySet[Study]) -> QuerySet[Study]:
    frozen = Release.objects.filter(study=OuterRef("pk"), frozen_at__isnull=False)
    return studies.annotate(released=Exists(frozen))


def _steps(active: Sequence[ListedStudy]) -> list[StudyStep]:
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
    review = people_to_review([study.pk for study in active])
    found = []
    for study in active:
        at, waits = stages[study.pk], review.get(study.pk, [])
        step = _step(study, at, results[study.pk], reached[study.pk], undecided, unstaffed, waits)
        count = sum(undecided.get(stage.pk, 0) for stage in at)
        points = way(
            step, reached[study.pk], joined=study.people, review=len(waits), undecided=count, released=study.released
        )
        found.append(StudyStep(study, step, points, waits, count))
    return found


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
    undecided: Mapping[int, int], unstaffed: Mapping[int, int], review: Sequence[int],
) -> NextStep:  # fmt: skip
    """The study's next step over all its stages; the first that waits for a person comes first. By a stage's key,
    `undecided` has its items that a person must decide, `unstaffed` those that no annotator is left to judge.
    """
    by_stage = _results_by(stages, results)
    shown, of = next((one for one in by_stage if one[1].came_open), by_stage[0])
    if results is None and study.state == StudyState.OPEN and study.people:
        return NextStep(Kind.JUDGE, "Nothing to do but watch", "Its judgments are being counted.")
    return next_step(
        shown,
        reached,
        {stage.pk: [] if measures(stage) else passed_on_by(stage, stages, found.items) for stage, found in by_stage},
        adjudicate=undecided,
        reopen=of.came_open,
        joined=bool(study.people),
        released=study.released,
        review=review,
        unstaffed={stage.position: unstaffed[stage.pk] for stage in stages if stage.pk in unstaffed},
    )


def _reached(stage: Stage, found: StageResults) -> Reached:
    if measures(stage):
        return Reached(stage, found.settled, found.tasks)
    total = sum(found.items.values())
    return Reached(stage, total - found.items.get("open", 0), total)
