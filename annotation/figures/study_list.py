"""The list of studies with the counts of their stages: what the page of studies and the API show."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, OuterRef, QuerySet

from annotation.figures import cache
from annotation.models import Annotator, Stage, Study
from annotation.protocols.base import Protocol
from annotation.protocols.registry import PROTOCOLS
from annotation.sql import fetch
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

COUNTS = "counts"  # kind of figures: those of STAGES for a study, kept with its first stage


@dataclass(frozen=True, slots=True)
class StageRow:
    """The counts are None where the worker has not counted yet."""

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
        return PROTOCOLS[self.protocol]


def with_people(found: QuerySet[Study]) -> QuerySet[Study]:
    """Each study with `people`, how many have joined, and its benchmark, in one query."""
    people = Annotator.objects.filter(study=OuterRef("pk")).order_by().values("study").annotate(count=Count("pk"))
    return found.select_related("benchmark").annotate(people=counted(people))


def with_stages(found: Iterable[Study]) -> list[Study]:
    """Each study with `rows` of its stages, `wanted` and `judged` judgments, and what the last selecting stage kept
    (`kept`, None if none selects). Two more queries, however many studies. A large study has the worker's latest counts
    (`reckoned`), None if there are none yet.
    """
    studies, rows = list(found), defaultdict(list)
    large = cache.large([study.pk for study in studies])
    for study_id, *row in fetch(STAGES, studies=[study.pk for study in studies if study.pk not in large]):
        rows[study_id].append(StageRow(*row[:-2], *map(int, row[-2:])))
    for study in studies:
        counts = None
        if study.pk in large:
            counts = cache.look(study.stages.select_related("study").get(position=1), COUNTS, small=False)
            rows[study.pk] = _counted(study, counts.data or {})
        mine = rows[study.pk]
        vars(study).update(
            reckoned=counts,
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
    """The stages as they are now, with the counts in `data` (`counts_of`)."""
    counts = {position: rest for position, *rest in data.get("stages", [])}
    fields = ("position", "name", "protocol", "state", "overlap")
    stages = study.stages.order_by("position").values_list(*fields)
    return [StageRow(*stage, *counts.get(stage[0], ())) for stage in stages]


@cache.reckons(COUNTS)
def counts_of(stage: Stage, key: str, tell: Tell) -> dict:
    """Of each stage of its study: position, tasks, settled, kept, wanted, judged."""
    rows = fetch(STAGES, studies=[stage.study_id])
    return {"stages": [[row[1], *map(int, row[6:])] for row in rows]}
