"""How long a claim takes as a study grows and fills: plans and times of annotation.assignment.leases.CLAIMS.

    python -m bench.claim_plans --out docs/design/claiming-plans.md        (about 2 GB of temporary disk; some minutes)

Starts a PostgreSQL of its own, fills a study by SQL and runs the claim at several points under EXPLAIN (ANALYZE,
BUFFERS), each time rolled back.
"""

import argparse
import re
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench import scratch

RUNS = 15
PEOPLE = 100
OVERLAP = 2

ITEMS = """
INSERT INTO benchmarks_item (benchmark_id, key, position, type, subtype, meta, truth)
SELECT %(benchmark)s, 'item-' || n, n, 'swap', 'obj', '{}', '{}' FROM generate_series(1, %(tasks)s) n
"""
TASKS = """
INSERT INTO annotation_task (stage_id, item_id, question, round, kind, live, rank, overlap, shared, shows, options,
                             carried, proposals, gold, note)
SELECT %(stage)s, id, '', 1, 'judge', true, row_number() OVER (ORDER BY random()) - 1, %(overlap)s, false,
       ARRAY['caption-negative-0'], ARRAY['candidate-0', 'candidate-1', 'candidate-2', 'candidate-3'],
       '{}', '{}', '{}', ''
FROM benchmarks_item WHERE benchmark_id = %(benchmark)s
"""
SLOTS = """
INSERT INTO annotation_slot (task_id, number, stage_id, rank, live)
SELECT task.id, number, task.stage_id, task.rank, true
FROM annotation_task task, generate_series(1, %(overlap)s) number WHERE task.stage_id = %(stage)s
ORDER BY task.rank, number
"""
# Judges every open slot below a rank (of one number, where given), by the annotators in turn or by one of them.
JUDGE = """
WITH lease AS (
  INSERT INTO annotation_lease (slot_id, task_id, annotator_id, state, shown)
  SELECT id, task_id, (%(people)s::bigint[])[1 + (2 * rank + number) %% cardinality(%(people)s::bigint[])], 'judged',
         ARRAY['candidate-2', 'candidate-0', 'candidate-3', 'candidate-1']
  FROM annotation_slot
  WHERE stage_id = %(stage)s AND annotator_id IS NULL AND rank < %(below)s AND number <= %(numbers)s
  RETURNING id, slot_id, annotator_id
), judgment AS (
  INSERT INTO annotation_judgment (lease_id, revision, key, digest, instructions_id, answer, content, reason, withdrawn,
                                   surplus, active_ms, elapsed_ms)
  SELECT id, 1, gen_random_uuid(), '', %(rules)s, 'none', '{}', '', false, false, 6000, 7000 FROM lease
  RETURNING id, lease_id
)
UPDATE annotation_slot slot SET annotator_id = lease.annotator_id, judgment_id = judgment.id
FROM lease JOIN judgment ON judgment.lease_id = lease.id WHERE slot.id = lease.slot_id
"""


@dataclass(frozen=True)
class Point:
    """What was measured at one state of the study. Times are ms, of planning and execution together."""

    title: str
    times: list[float]
    buffers: int
    plan: str
    shown: bool = False  # whether its plan is written out


class Filled:
    """A study of so many tasks, filled by SQL."""

    def __init__(self, tasks: int):
        from annotation.models import Annotator, Instructions, Stage, Study
        from benchmarks.models import Benchmark

        self.tasks = tasks
        self.benchmark = Benchmark.objects.create(name=f"{tasks} tasks", source="measure")
        study = Study.objects.create(name=f"{tasks} tasks", benchmark=self.benchmark)
        self.stage = Stage.objects.create(study=study, name="choose", protocol="bivlc-choose", overlap=OVERLAP, seed=1)
        self.rules = Instructions.objects.create(stage=self.stage, version=1, text="x")
        self.people = [Annotator.objects.create(study=study, number=n).pk for n in range(1, PEOPLE + 3)]
        self.lone, self.fresh = self.people[-2:]
        self.fill()

    def fill(self) -> None:
        run(ITEMS, benchmark=self.benchmark.pk, tasks=self.tasks)
        run(TASKS, benchmark=self.benchmark.pk, stage=self.stage.pk, overlap=OVERLAP)
        run(SLOTS, stage=self.stage.pk, overlap=OVERLAP)
        run("VACUUM ANALYZE")

    def judge(self, below: int, people: list[int], numbers: int = OVERLAP) -> None:
        """Without the checks of foreign keys, which would take most of the time."""
        run("SET session_replication_role = replica")
        run(JUDGE, stage=self.stage.pk, rules=self.rules.pk, below=below, people=people, numbers=numbers)
        run("SET session_replication_role = DEFAULT")

    def measure(self, title: str, annotator: int, shown: bool = False, apart: bool = False) -> Point:
        from annotation.assignment.leases import CLAIMS, POOL

        plans = [self.explain(annotator, CLAIMS[POOL, apart]) for _ in range(RUNS)]
        times = [total(plan) for plan in plans]
        middle = plans[times.index(statistics.median_low(times))]
        whole = re.search(r"^ *Buffers: shared(.*)$", middle, re.M)[1]  # the first such line is the whole statement's
        buffers = sum(map(int, re.findall(r"(?:hit|read)=(\d+)", whole)))
        point = Point(title, times, buffers, middle, shown)
        print(f"{self.tasks:>9,} tasks  {row(point)}", file=sys.stderr)
        return point

    def compare(self) -> str:
        """The read at every click: the ORM's time to write such a query, PostgreSQL's to answer the one by hand."""
        from annotation.assignment.leases import KEEP
        from annotation.models import Lease

        written = []
        for _ in range(200):
            begun = time.perf_counter()
            Lease.objects.filter(annotator=self.fresh, state="held").select_related("task").query.sql_with_params()
            written.append(1000 * (time.perf_counter() - begun))
        answered = [total(self.explain(self.fresh, KEEP)) for _ in range(RUNS)]
        orm, server = statistics.median(written), statistics.median(answered)
        return f"What is held: the ORM writes its query in {orm:.2f} ms, PostgreSQL answers KEEP in {server:.2f} ms."

    def explain(self, annotator: int, statement: str) -> str:
        from django.db import connection, transaction

        with transaction.atomic(), connection.cursor() as cursor:
            values = {"annotator": annotator, "stage": self.stage.pk, "wanted": 2, "seconds": 600, "apart": [9]}
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {statement}", values)
            plan = "\n".join(line for (line,) in cursor.fetchall())
            transaction.set_rollback(True)
        return plan


def total(plan: str) -> float:
    """Milliseconds of planning and execution."""
    return sum(map(float, re.findall(r"^(?:Planning|Execution) Time: ([\d.]+)", plan, re.M)))


def run(statement: str, **values: object) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)


def points(tasks: int) -> list[Point]:
    study = Filled(tasks)
    alone = min(10_000, tasks // 4)
    print(study.compare(), file=sys.stderr)
    found = [study.measure("nobody has judged", study.fresh, shown=True)]
    study.judge(alone, [study.lone], numbers=1)
    run("ANALYZE")
    found.append(study.measure(f"one annotator alone judged {alone:,}; their claim", study.lone, shown=True))
    found.append(study.measure("at the same moment, anybody else's claim", study.fresh))
    study.judge(tasks // 2, study.people[:PEOPLE])
    found.append(study.measure("half is judged, by one update just now, nothing vacuumed", study.fresh))
    run("VACUUM ANALYZE")
    found.append(study.measure("half is judged", study.fresh, shown=True))
    found.append(study.measure("half is judged; who judged a hundredth of it", study.people[0]))
    found.append(study.measure("the same, in a stage kept apart from another", study.people[0], apart=True))
    study.judge(tasks - 50, study.people[:PEOPLE])
    run("VACUUM ANALYZE")
    found.append(study.measure("all but 50 tasks are judged", study.fresh))
    return found


def row(point: Point) -> str:
    return f"| {point.title} | {statistics.median(point.times):.2f} | {max(point.times):.2f} | {point.buffers:,} |"


def report(measured: dict[int, list[Point]]) -> str:
    parts = [
        "# Claims: plans and times",
        "Written by `python -m bench.claim_plans --out docs/design/claiming-plans.md`; [claiming.md](claiming.md) says "
        f"what it means. Overlap {OVERLAP}, {PEOPLE} annotators, {RUNS} claims at each point, each rolled back. "
        "Milliseconds are PostgreSQL's, planning and execution together, with EXPLAIN's own cost; a buffer is 8 kB.",
    ]
    for tasks, found in measured.items():
        head = f"## {tasks:,} tasks\n\n| state of the study | median ms | longest ms | buffers |\n|---|---|---|---|"
        parts.append("\n".join([head, *map(row, found)]))
        parts += [f"### {tasks:,} tasks: {point.title}\n\n```\n{point.plan}\n```" for point in found if point.shown]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tasks", type=int, nargs="+", default=[1_000, 1_000_000])
    options.add_argument("--out", type=Path, help="where to write; default: standard output")
    given = options.parse_args()
    with scratch.winnow(durable=False):
        text = report({tasks: points(tasks) for tasks in given.tasks})
    if given.out:
        given.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
