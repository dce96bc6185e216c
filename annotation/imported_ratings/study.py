"""Turn a file of ratings into a study: its protocol, annotators, judgments and outcomes, all or nothing."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.utils import timezone

from annotation.designs import presets
from annotation.imported_ratings.columns_page import role_fields
from annotation.imported_ratings.matching import RatedTask, matched
from annotation.imported_ratings.order import asked
from annotation.models import Annotator, LeaseState, Outcome, RatingsFile, Seat, Slot, Stage, Study, StudyState
from annotation.pipeline import dawid_skene, disagreement
from annotation.pipeline.stage_rules import rules_about
from annotation.protocol_files.publish import publish
from annotation.protocols import library
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.decision_rule import AWAITING_ADJUDICATION, DAWID_SKENE, OPEN, Decision
from annotation.protocols.ratings import RatedFile, read_rated
from annotation.protocols.schema import ProtocolFile
from annotation.sql import execute
from annotation.studies.lifecycle import CannotCreate, create_study
from benchmarks import audit, bulk
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.formats.own import ratings
from benchmarks.jobs import columns
from benchmarks.jobs.benchmark_work import BenchmarkWork
from benchmarks.records import Problem, Refused

_REASON = "as imported"  # of those who could not judge
_TAKE = """
UPDATE annotation_slot slot SET annotator_id = lease.annotator_id, judgment_id = judgment.id
FROM annotation_lease lease JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
WHERE lease.slot_id = slot.id AND slot.stage_id = %(stage)s
"""
_OVERLAPS = """
UPDATE annotation_task task SET overlap = given.overlap
FROM unnest(%(tasks)s::bigint[], %(overlaps)s::int[]) given(id, overlap) WHERE task.id = given.id
"""
_SPREADS = """
UPDATE annotation_task task SET entropy = given.entropy, differs = given.differs, newest = given.newest,
       waits = given.waits
FROM unnest(%(tasks)s::bigint[], %(entropies)s::float[], %(differs)s::text[], %(newest)s::bigint[], %(waits)s::bool[])
  given(id, entropy, differs, newest, waits) WHERE task.id = given.id
"""


class RatingsImport(BenchmarkWork):
    """The work of jobs of the kind `ratings`."""

    def run(self) -> None:
        params, path = self.job.params, Path(self.job.params["files"][0])
        log = ProblemLog(params["skip_incomplete"])
        name = params["protocol"]
        file = asked(name, params["roles"])
        self.progress.begin("reading ratings")
        if params["look"] or params["looks_first"]:
            found = self.looked(path, file, log)
            if params["look"] or not found["is_exact"]:
                self.finish({"look": True, **found})
                return
        try:
            rated = read_rated(path, file, log, params["mapping"], params["repeated"], has_items=True)
        except Unreadable:
            raise Refused(log.problems, log.count, log.kinds) from None
        log.refuse_if_any()
        self.progress.begin("storing")
        with self.storing():
            if "@" not in name:
                name = str(publish(text=library.text_of(name), by=self.by))
            study, stage = self._study(name)
            tasks = matched(stage, file, rated, log, params["skip_unknown"])
            if not tasks and not log.count:
                log.error("NO_ROWS", path.name, None, "", "None of the ratings is of an item in this benchmark.")
            log.refuse_if_any()
            source = RatingsFile.objects.create(
                stage=stage, name=path.name[:200], sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
                source=params["source"], mapping=rated.mapping.as_json(),
            )  # fmt: skip
            counts = _store(stage, source, tasks)
            audit.record(
                by=self.by, verb="imported ratings", subject=study, file=source.name, sha256=source.sha256, **counts
            )
            if stage.rule == DAWID_SKENE:
                dawid_skene.request_estimate(stage=stage, by=self.by)
            report = {"study": study.pk, "name": study.name, "source": source.source, "file": source.name, **counts}
            report |= {"named": _names_annotators(rated, tasks), "mapping": source.mapping, "left_out": log.left_out}
            report |= {"notes": [note.as_json() for note in log.notes[:100]]}
            self.finish({**report, "unrated": stage.tasks.count() - len(tasks)})

    def looked(self, path: Path, file: ProtocolFile, log: ProblemLog) -> dict[str, Any]:
        """Return the columns, and whether they and the protocol's roles are recognised."""
        names, sample = columns.first_rows(path, log)
        wanted = [one.name for one in file.answers]
        likely = ratings.guess(names, sample, wanted, columns.keys_of(self.benchmark))
        is_exact = ratings.is_exact(likely) and {*wanted} == likely.answers.keys()
        is_exact &= not role_fields(self.job, self.job.params["roles"])[0]
        return {**columns.looked(path.name, names, sample, likely.as_json()), "is_exact": is_exact}

    def _study(self, protocol: str) -> tuple[Study, Stage]:
        """Create the study, paused: nobody can join until a manager opens it."""
        stages = presets.single_stage(protocol).stages
        if roles := self.job.params["roles"]:
            stages = tuple(presets.with_roles_of_benchmark(stages, roles))
        try:
            study = create_study(
                name=self.job.params["name"], benchmark=self.benchmark, stages=[*stages], by=self.by,
                created_by=self.job.created_by, state=StudyState.PAUSED,
            )  # fmt: skip
        except CannotCreate as refusal:
            problems = [Problem("CANNOT_CREATE", "", None, "", line) for line in str(refusal).split("\n")]
            raise Refused(problems) from None
        return study, study.stages.get()


def _names_annotators(rated: RatedFile, tasks: Sequence[RatedTask]) -> bool:
    """Return whether the file names annotators, in a column or a list; otherwise each task's are numbered from 1."""
    numbered = ({who for who, *_ in task.given} == set(map(str, range(1, len(task.given) + 1))) for task in tasks)
    return bool(rated.mapping.annotator) or not all(numbered)


def _store(stage: Stage, source: RatingsFile, tasks: Sequence[RatedTask]) -> dict[str, int]:
    """Store the tasks' judgments, and what follows from them. Return counts."""
    people = _people(stage, tasks)
    slots = _slots(stage, tasks)
    given = [(task, slot, *one) for task in tasks for slot, one in zip(slots[task.pk], task.given, strict=False)]
    leases, judgments = bulk.ids("annotation_lease", len(given)), bulk.ids("annotation_judgment", len(given))
    bulk.copy(
        "annotation_lease (id, slot_id, task_id, annotator_id, state, shown)",
        ((lease, slot, task.pk, people[who], LeaseState.JUDGED.value, task.shown(stage.seed, who))
         for lease, (task, slot, who, _, _) in zip(leases, given, strict=True)),
    )  # fmt: skip
    read, language = stage.instructions.get(version=1).pk, stage.study.language
    bulk.copy(
        "annotation_judgment (id, lease_id, revision, key, digest, instructions_id, answer, content, reason, "
        "withdrawn, language, surplus, active_ms, elapsed_ms, imported_id, imported_row)",
        ((pk, lease, 1, uuid4(), _digest(source, origin.row, place), read, answer.label, json.dumps(answer.content),
          _REASON if answer.label == CANNOT_JUDGE else "", False, language, False, 0, 0, source.pk, origin.row)
         for place, (pk, lease, (*_, origin, answer)) in enumerate(zip(judgments, leases, given, strict=True))),
    )  # fmt: skip
    execute(_TAKE, stage=stage.pk)
    states = _decide(stage, tasks, iter(judgments))
    return {"judgments": len(judgments), "annotators": len(people), "tasks": len(tasks), **states}


def _digest(source: RatingsFile, row: int, place: int) -> str:
    return hashlib.sha256(json.dumps([source.sha256, row, place]).encode()).hexdigest()


def _people(stage: Stage, tasks: Sequence[RatedTask]) -> dict[str, int]:
    """Return the annotators' ids by their names in the file, numbered in the order of their first rows."""
    rows = {who: (origin.file, origin.row) for task in tasks for who, origin, _ in reversed(task.given)}
    for task in tasks:
        for who, origin, _ in task.given:
            rows[who] = min(rows[who], (origin.file, origin.row))
    names = sorted(rows, key=lambda who: (rows[who], who))
    made = bulk.insert(
        Annotator(study=stage.study, number=number, imported=True, token=None) for number, _ in enumerate(names, 1)
    )
    read, now = stage.instructions.get(version=1), timezone.now()
    bulk.insert(Seat(annotator=one, stage=stage, read=read, ready_at=now) for one in made)
    return {name: one.pk for name, one in zip(names, made, strict=True)}


def _slots(stage: Stage, tasks: Sequence[RatedTask]) -> dict[int, list[int]]:
    """Return each task's slots by number; tasks with more ratings than the protocol asks for get more slots."""
    more = [task for task in tasks if len(task.given) > task.overlap]
    bulk.insert(
        Slot(task_id=task.pk, stage=stage, number=number, rank=task.rank)
        for task in more
        for number in range(task.overlap + 1, len(task.given) + 1)
    )
    for task in more:
        task.overlap = len(task.given)
    execute(_OVERLAPS, tasks=[task.pk for task in more], overlaps=[task.overlap for task in more])
    found: dict[int, list[int]] = {}
    for task_id, slot in Slot.objects.filter(stage=stage).order_by("task", "number").values_list("task", "pk"):
        found.setdefault(task_id, []).append(slot)
    return found


def _decide(stage: Stage, tasks: Sequence[RatedTask], judgments: Iterator[int]) -> dict[str, int]:
    """Write outcomes and tasks' disagreement, as judging does one by one (pipeline/outcomes.py)."""
    rules, made, states = rules_about(stage, [task.item for task in tasks]), [], Counter[str]()
    columns: dict[str, list] = {name: [] for name in ("tasks", "entropies", "differs", "newest", "waits")}
    seen: dict[str, tuple[disagreement.Spread, Decision]] = {}  # equal answers are decided alike
    for task in tasks:
        rule, given = rules[task.item], {next(judgments): answer for _, _, answer in task.given}
        answers = [*given.values()]
        if (alike := f"{id(rule)} {task.overlap} {answers}") not in seen:
            seen[alike] = disagreement.spread(rule, given), rule.settle(answers, task.overlap)
        spread, decision = seen[alike]
        states[decision.state] += 1
        waits = decision.state == OPEN and decision.reason == AWAITING_ADJUDICATION
        if waits or spread != disagreement.Spread():
            newest = None if spread.newest is None else max(given)
            row = (task.pk, spread.entropy, spread.differs, newest, waits)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        if decision.state != OPEN:
            made.append(
                Outcome(
                    task_id=task.pk, state=decision.state, outcome=decision.outcome, content=dict(decision.content),
                    reason=decision.reason, by=decision.by, posterior=decision.posterior,
                )
            )  # fmt: skip
    execute(_SPREADS, **columns)
    bulk.insert(made)
    return {state: states[state] for state in ("kept", "dropped", "open")}
