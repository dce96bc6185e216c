"""The list of studies with their stages' counts, for the page of studies and the API."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.figures import cache
from annotation.models import Annotator, Lease, LeaseState, Stage, Strategy, Study
from annotation.pipeline import audits
from annotation.pipeline.item_results import LABEL
from annotation.protocols.base import Protocol
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch
from annotation.studies.reopening import NEWEST, came_open_since
from benchmarks.jobs.jobs import Tell
from benchmarks.queries import counted

# Each stage's live tasks with their outcomes, and the wanted and current judgments.
STAGES = """
SELECT stage.study_id, stage.position, stage.name, stage.protocol, stage.state, stage.overlap,
       count(task.id), count(outcome.task_id), count(*) FILTER (WHERE outcome.state = 'kept'),
       coalesce(sum(task.overlap), 0), coalesce(sum(place.judged), 0)
FROM annotation_stage stage
LEFT JOIN annotation_task task ON task.stage_id = stage.id AND task.kind = 'judge' AND task.live
LEFT JOIN LATERAL (SELECT task_id, state FROM annotation_outcome WHERE task_id = task.id LIMIT 1) outcome ON true
LEFT JOIN LATERAL (SELECT count(judgment_id) AS judged FROM annotation_slot WHERE task_id = task.id) place ON true
WHERE stage.study_id = ANY(%(studies)s) GROUP BY stage.id ORDER BY stage.study_id, stage.position
"""

# The results of each stage's items (kept, open, or the reason for dropping), and its tasks: how many exist, have an
# outcome, and were reopened after the stage closed (studies/reopening.py).
RESULTS = f"""
WITH item AS (
  SELECT stage.study_id, stage.position, {LABEL} AS label, count(*) AS tasks, count(outcome.state) AS settled,
    count(*) FILTER (WHERE outcome.task_id IS NULL AND stage.state = 'closed'
      AND {came_open_since("closed.newest")}) AS came_open
  FROM annotation_stage stage
  LEFT JOIN LATERAL ({NEWEST.format(subject="'stage:' || stage.id")}) closed ON stage.state = 'closed'
  JOIN annotation_task task ON task.stage_id = stage.id AND task.kind = 'judge' AND task.live
  LEFT JOIN LATERAL (
    SELECT task_id, state, reason FROM annotation_outcome WHERE task_id = task.id LIMIT 1) outcome ON true
  WHERE stage.study_id = ANY(%(studies)s)
  GROUP BY stage.study_id, stage.position, task.item_id
)
SELECT study_id, position, label, count(*), sum(tasks), sum(settled), sum(came_open)
FROM item GROUP BY study_id, position, label ORDER BY study_id, position, label
"""

COUNTS = "counts"  # kind of result: STAGES and RESULTS for a study, kept with its first stage


@dataclass(frozen=True, slots=True)
class StageRow:
    """The counts are None if the worker has not counted yet."""

    position: int
    name: str
    protocol: str
    state: str
    overlap: int
    tasks: int | None = None
    settled: int | None = None
    kept: int | None = None
    wanted: int | None = None
    judged: int | None = None

    @property
    def asks(self) -> Protocol:
        return protocol_named(self.protocol)


@dataclass(slots=True)
class StageResults:
    """A stage's items by `label` (kept, open, or why they were dropped), and its tasks. In an audit, `items` has only
    the open items that it is expected to need.
    """

    items: dict[str, int] = field(default_factory=dict)
    tasks: int = 0
    settled: int = 0
    came_open: int = 0  # after the stage was closed

    def add(self, label: str, items: int, *tasks: int) -> None:
        self.items[label] = items
        for name, count in zip(("tasks", "settled", "came_open"), tasks, strict=True):
            setattr(self, name, getattr(self, name) + count)


def results_of(studies: Sequence[Any]) -> dict[int, dict[int, StageResults] | None]:
    """Return for each study (from `with_stages`) the results of its stages by position. Makes one query for all; for a
    large study, uses the worker's last counts, or None if there are none yet.
    """
    small = [study.pk for study in studies if study.latest is None]
    rows = [list(row) for row in fetch(RESULTS, studies=small)]
    for study in studies:
        _only_needed(rows, study.pk, study.needs)
    found: dict[int, dict[int, StageResults] | None] = {study: _results(rows, study) for study in small}
    for study in studies:
        if study.latest is not None:
            data = study.latest.data or {}
            found[study.pk] = _results(data["results"], study.pk) if "results" in data else None
    return found


def _only_needed(rows: Iterable[list], study: int, needs: Mapping[int, audits.Needs]) -> None:
    """For the audits in `needs` (by position), reduce the open items in RESULTS to those expected to be needed."""
    for row in rows:
        if row[0] == study and row[1] in needs and row[2] == "open":
            row[3] = len(needs[row[1]].to_come)


def _needs_of(stages: Iterable[Stage]) -> dict[int, audits.Needs]:
    """Return what the audits among the stages need, by position."""
    return {stage.position: audits.needs(stage) for stage in stages if stage.strategy == Strategy.AUDIT}


def _results(rows: Iterable[Sequence], study: int) -> dict[int, StageResults]:
    found: dict[int, StageResults] = defaultdict(StageResults)
    for of, position, label, *counts in rows:
        if of == study:
            found[position].add(label, *map(int, counts))
    return found


def with_judging(found: QuerySet[Study]) -> QuerySet[Study]:
    """Add to each study `judging`: how many of its annotators have judged something, including those since excluded."""
    judged = Lease.objects.filter(annotator=OuterRef("pk"), state=LeaseState.JUDGED)
    people = Annotator.objects.filter(Exists(judged), study=OuterRef("pk")).order_by().values("study")
    return found.annotate(judging=counted(people.annotate(count=Count("pk"))))


def with_people(found: QuerySet[Study]) -> QuerySet[Study]:
    """Add to each study `people`, how many have joined, `active`, how many of them have not left or been excluded, and
    its benchmark, in one query.
    """
    people = Annotator.objects.filter(study=OuterRef("pk")).order_by().values("study").annotate(count=Count("pk"))
    active = people.filter(left_at=None, excluded_at=None)
    return found.select_related("benchmark").annotate(people=counted(people), active=counted(active))


def with_latest(studies: Sequence[Any], stages: Mapping[int, Sequence[Stage]], large: Collection[int]) -> None:
    """Add to each study what the audits among its `stages` need (`needs`, by position; some queries for each) and, if
    `large`, the worker's latest counts (`latest`; otherwise None).
    """
    for study in studies:
        own = stages[study.pk]
        study.latest = cache.latest(own[0], COUNTS, small=False) if study.pk in large else None
        study.needs = _needs_of(own)


def with_stages(found: Iterable[Any]) -> list[Any]:
    """Add to each study the `rows` of its stages, `wanted` and `judged` judgments, and what the last selecting stage
    kept (`kept`, None if none selects). Makes one query for any number of studies, and those of `with_latest` unless
    already added.
    """
    studies, rows = list(found), defaultdict(list)
    new = {study.pk: study for study in studies if "needs" not in vars(study)}
    stages = defaultdict(list)
    for stage in Stage.objects.filter(study__in=new).order_by("position") if new else ():
        stage.study = new[stage.study_id]
        stages[stage.study_id].append(stage)
    with_latest([*new.values()], stages, cache.large(new))
    for study_id, *row in fetch(STAGES, studies=[study.pk for study in studies if study.latest is None]):
        rows[study_id].append(StageRow(*row[:-2], *map(int, row[-2:])))
    for study in studies:
        if study.latest is not None:
            rows[study.pk] = _counted(study, study.latest.data or {})
        mine = [
            replace(row, wanted=study.needs[row.position].judgments) if row.position in study.needs else row
            for row in rows[study.pk]
        ]
        vars(study).update(
            rows=mine,
            wanted=_total([row.wanted for row in mine]),
            judged=_total([row.judged for row in mine]),
            kept=next((row.kept for row in reversed(mine) if not row.asks.measures), None),
        )
    return studies


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _counted(study: Study, data: Mapping) -> list[StageRow]:
    """Return the stages as they are now, with the counts in `data` (`counts_of`)."""
    counts = {position: rest for position, *rest in data.get("stages", [])}
    stages = study.stages.order_by("position").values_list("position", "name", "protocol", "state", "overlap")
    return [StageRow(*stage, *counts.get(stage[0], ())) for stage in stages]


@cache.computes(COUNTS)
def counts_of(stage: Stage, key: str, tell: Tell) -> dict:
    """Return each stage's position, tasks, settled, kept, wanted and judged. `results` has the rows of RESULTS."""
    study = stage.study_id
    rows, results = ([list(row) for row in fetch(statement, studies=[study])] for statement in (STAGES, RESULTS))
    needs = _needs_of(stage.study.stages.all())
    _only_needed(results, study, needs)
    for row in rows:
        row[-2] = needs[row[1]].judgments if row[1] in needs else row[-2]
    return {
        "stages": [[row[1], *map(int, row[6:])] for row in rows],
        "results": [[*row[:3], *map(int, row[3:])] for row in results],
    }
