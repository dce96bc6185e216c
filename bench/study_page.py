"""How much longer a study's pages and its figures take as it grows: the page and its live part, the list of studies,
the lists of disagreements, the adjudicator's page.

    python -m bench.study_page                        (about 3 GB of temporary disk; some minutes)
    python -m bench.study_page --judgments 1000 10000

Starts a PostgreSQL and a Valkey of its own and fills a study for each size by SQL: five judgments a task, of up to 500
annotators who err now and then. Times are of whole requests through Django's test client, the median of several; the
worker's job runs in a process of its own, whose largest memory is told.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bench import scratch

OVERLAP = 5
PEOPLE = 500
RUNS = 9
CHOICES = 4

ITEMS = """
INSERT INTO benchmarks_item (benchmark_id, key, position, type, subtype, meta, truth)
SELECT %(benchmark)s, 'item-' || n, n, (ARRAY['replace', 'swap', 'add'])[1 + n %% 3], (ARRAY['obj', 'att'])[1 + n %% 2],
       '{}', '{}'
FROM generate_series(1, %(tasks)s) n
"""
CAPTIONS = """
INSERT INTO benchmarks_caption (item_id, role, position, text)
SELECT id, role, 0, 'The ' || role || ' caption of ' || key
FROM benchmarks_item, unnest(ARRAY['positive', 'negative']) role WHERE benchmark_id = %(benchmark)s
"""
IMAGES = """
INSERT INTO benchmarks_itemimage (item_id, image_id, role, position, round, opaque, source_name, licence, attribution)
SELECT id, (%(images)s::bigint[])[n + 1], CASE n WHEN 4 THEN 'positive' ELSE 'candidate' END, n %% 4, 1,
       md5(id || '-' || n), '', '', ''
FROM benchmarks_item, generate_series(0, 4) n WHERE benchmark_id = %(benchmark)s
"""
TASKS = """
INSERT INTO annotation_task (stage_id, item_id, question, round, kind, live, rank, overlap, shared, shows, options,
                             carried, proposals, gold, note)
SELECT %(stage)s, id, '', 1, 'judge', true, position, %(overlap)s, false, ARRAY['caption-negative-0'],
       ARRAY['candidate-0', 'candidate-1', 'candidate-2', 'candidate-3'], '{}', '{}', '{}', ''
FROM benchmarks_item WHERE benchmark_id = %(benchmark)s
"""
SLOTS = """
INSERT INTO annotation_slot (task_id, number, stage_id, rank, live)
SELECT task.id, number, task.stage_id, task.rank, true
FROM annotation_task task, generate_series(1, %(overlap)s) number WHERE task.stage_id = %(stage)s
ORDER BY task.rank, number
"""
# Everything but the last hundredth of the tasks: who (each task another handful of the annotators), what, when.
JUDGE = """
WITH place AS (
  SELECT slot.id, slot.task_id, slot.number, slot.rank,
         (%(people)s::bigint[])[1 + (slot.rank * 7 + slot.rank / 97 * 13 + slot.number * (31 + slot.rank / 11 %% 60))
                                %% cardinality(%(people)s::bigint[])] AS annotator_id
  FROM annotation_slot slot WHERE slot.stage_id = %(stage)s AND slot.rank <= %(below)s
), first AS (
  SELECT DISTINCT ON (task_id, annotator_id) * FROM place ORDER BY task_id, annotator_id, number
), lease AS (
  INSERT INTO annotation_lease (slot_id, task_id, annotator_id, state, shown)
  SELECT id, task_id, annotator_id, 'judged',
         ARRAY['candidate-2', 'candidate-0', 'candidate-3', 'candidate-1'] FROM first
  RETURNING id, slot_id, task_id, annotator_id
), judgment AS (
  INSERT INTO annotation_judgment (lease_id, revision, key, digest, instructions_id, answer, content, reason, withdrawn,
                                   surplus, active_ms, elapsed_ms, created_at)
  SELECT id, 1, gen_random_uuid(), '', %(rules)s,
         CASE WHEN random() < 0.8 THEN (ARRAY['candidate-0', 'candidate-1', 'candidate-2', 'candidate-3', 'none']
                                       )[1 + task_id %% 5]
              WHEN random() < 0.7 THEN 'candidate-' || floor(random() * 4)::int ELSE 'none' END,
         '{}', '', false, false, 2000 + (random() * 9000)::int, 12000,
         now() - interval '20 days' * (1 - task_id::float / (SELECT max(task_id) FROM lease))
  FROM lease ORDER BY task_id, slot_id
  RETURNING id, lease_id
)
UPDATE annotation_slot slot SET annotator_id = lease.annotator_id, judgment_id = judgment.id
FROM lease JOIN judgment ON judgment.lease_id = lease.id WHERE slot.id = lease.slot_id
"""
OUTCOMES = """
INSERT INTO annotation_outcome (task_id, state, outcome, content, reason, by, note)
SELECT task_id, CASE WHEN most = 'none' THEN 'dropped' ELSE 'kept' END, most, '{}',
       CASE WHEN most = 'none' THEN 'no_image' ELSE '' END, 'majority', ''
FROM (SELECT slot.task_id, mode() WITHIN GROUP (ORDER BY judgment.answer) AS most
      FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
      WHERE slot.stage_id = %(stage)s GROUP BY slot.task_id HAVING count(*) > 2) decided
"""
# How far the counted answers of each task differ, which pipeline.disagreement writes for one task at each judgment.
# Options of bivlc-choose are votes for one thing.
SPREAD = """
WITH counted AS (
  SELECT slot.task_id, judgment.id, judgment.answer,
         stage.protocol = 'bivlc-choose' AND judgment.answer NOT IN ('none', 'cannot_judge') AS alike
  FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
  JOIN annotation_task task ON task.id = slot.task_id JOIN annotation_stage stage ON stage.id = task.stage_id
  WHERE task.kind = 'judge'
), share AS (
  SELECT task_id, answer, alike, max(id) AS newest, count(*) / sum(count(*)) OVER (PARTITION BY task_id) AS p
  FROM counted GROUP BY task_id, answer, alike
), spread AS (
  SELECT task_id, max(newest) AS newest, round((-sum(p * ln(p) / ln(2.0)))::numeric, 6)::float8 AS entropy,
         count(DISTINCT CASE WHEN NOT alike THEN answer END) + bool_or(alike)::int AS kinds
  FROM share GROUP BY task_id HAVING count(*) > 1
), kind AS (
  SELECT task_id, count(*) AS n, max(count(*)) OVER (PARTITION BY task_id) AS most
  FROM counted GROUP BY task_id, CASE WHEN NOT alike THEN answer END
), undecided AS (
  SELECT task.id
  FROM (SELECT task_id, sum(n) AS n FROM kind GROUP BY task_id HAVING count(*) FILTER (WHERE n = most) > 1) tie
  JOIN annotation_task task ON task.id = tie.task_id AND tie.n >= task.overlap
  JOIN annotation_stage stage ON stage.id = task.stage_id WHERE stage.tie_rule = 'adjudicate'
)
UPDATE annotation_task task SET entropy = spread.entropy, newest = spread.newest,
       differs = CASE WHEN kinds > 1 THEN 'kind' ELSE 'option' END, waits = task.id IN (SELECT id FROM undecided)
FROM spread WHERE spread.task_id = task.id
"""
FLAGS = """
INSERT INTO annotation_flag (lease_id, reason)
SELECT id, 'Two of these are the same.' FROM annotation_lease
WHERE task_id IN (SELECT id FROM annotation_task WHERE stage_id = %(stage)s) ORDER BY id LIMIT %(flags)s
"""
RECKON = """
import json, resource, sys, time, django
django.setup()
from annotation import tasks
begun = time.perf_counter()
tasks.compute_figures(int(sys.argv[1]))
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": time.perf_counter() - begun, "memory": most}))
"""

LISTS = {
    "most split": "disagreements/",
    "newest": "disagreements/?sort=newest",
    "of one type": "disagreements/?type=swap&subtype=obj&least=0.9",
    "page 100": "disagreements/?page=100",
    "what waits": "adjudicate/",
    "on from a list": "adjudicate/?sort=split&type=swap",
}


def run(statement: str, **values: object) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)


@dataclass(frozen=True)
class Size:
    """What was measured at one size: milliseconds of requests, seconds and MB of the figures."""

    judgments: int
    tasks: int
    people: int
    first: float
    warm: float
    poll: float
    listed: float
    worker_seconds: float
    memory: float
    page: int  # bytes of its HTML
    split: int  # tasks whose annotators disagree
    lists: list[float]  # of LISTS


def filled(judgments: int):
    """A study of about so many judgments, five a task; its stage."""
    from annotation.models import Annotator, Instructions, Seat, Stage, Study
    from benchmarks.models import Benchmark, Image

    tasks, people = judgments // OVERLAP, min(PEOPLE, max(8, judgments // 200))
    benchmark = Benchmark.objects.create(name=f"{judgments:,} judgments", source="measure")
    study = Study.objects.create(name=f"{judgments:,} judgments", benchmark=benchmark, pay_per_hour=12)
    stage = Stage.objects.create(study=study, name="choose", protocol="bivlc-choose", overlap=OVERLAP, seed=1)
    rules = Instructions.objects.create(stage=stage, version=1, text="x")
    who = Annotator.objects.bulk_create(Annotator(study=study, number=n, stage=stage) for n in range(1, people + 1))
    Seat.objects.bulk_create(Seat(annotator=one, stage=stage, read=rules) for one in who)
    pictures = [
        Image.objects.get_or_create(sha256=f"{n:064x}", defaults={"format": "JPEG", "width": 9, "height": 9, "size": 9})
        for n in range(CHOICES + 1)
    ]
    fill(benchmark.pk, stage.pk, tasks, [image.pk for image, _ in pictures], [one.pk for one in who], rules.pk)
    return stage


def fill(benchmark: int, stage: int, tasks: int, images: list[int], people: list[int], rules: int) -> None:
    """Without the checks of foreign keys, which would take most of the time."""
    run("SET session_replication_role = replica")
    run(ITEMS, benchmark=benchmark, tasks=tasks)
    run(CAPTIONS, benchmark=benchmark)
    run(IMAGES, benchmark=benchmark, images=images)
    run(TASKS, benchmark=benchmark, stage=stage, overlap=OVERLAP)
    run(SLOTS, stage=stage, overlap=OVERLAP)
    run("ANALYZE")  # or what was there before decides how the rest is joined
    run(JUDGE, stage=stage, people=people, rules=rules, below=tasks - tasks // 100)
    run(OUTCOMES, stage=stage)
    run(SPREAD)
    run(FLAGS, stage=stage, flags=tasks // 1000)
    run("SET session_replication_role = DEFAULT")
    run("VACUUM ANALYZE")


def prepare() -> None:
    """What a process does once: static files, templates, the connection to the broker."""
    from django.conf import settings
    from django.core.management import call_command

    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("collectstatic", interactive=False, verbosity=0)
    measured(500)


def measured(judgments: int) -> Size:
    """The page as its first visitor has it, then the figures, then what everybody has."""
    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.models import Judgment
    from benchmarks.models import Job

    stage, client = filled(judgments), Client()
    client.force_login(User.objects.get_or_create(username="ana", defaults={"is_staff": True, "is_superuser": True})[0])
    page = f"/studies/{stage.study_id}/"
    first = milliseconds(lambda: client.get(page), runs=1)
    jobs = list(Job.objects.filter(kind="figures", state="queued"))
    worked = [work(job.pk) for job in jobs]
    client.get("/studies/")
    for job in Job.objects.filter(kind="figures", state="queued"):
        work(job.pk)
    warm = milliseconds(lambda: client.get(page))
    html = client.get(page).content
    seen = html.partition(b"seen=")[2].partition(b'"')[0].decode()
    return Size(
        judgments=Judgment.objects.filter(lease__task__stage=stage).count(),
        tasks=stage.tasks.count(),
        people=stage.seats.count(),
        first=first,
        warm=warm,
        poll=milliseconds(lambda: client.get(f"{page}live/?stage=1&seen={seen}")),
        listed=milliseconds(lambda: client.get("/studies/")),
        latest=worked[0]["seconds"] if worked else 0,
        memory=worked[0]["memory"] if worked else 0,
        page=len(html),
        split=stage.tasks.filter(entropy__gt=0).count(),
        lists=[milliseconds(partial(client.get, page + path)) for path in LISTS.values()],
    )


def milliseconds(request: Callable, runs: int = RUNS) -> float:
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        answer = request()
        times.append(1000 * (time.perf_counter() - begun))
        assert answer.status_code in {200, 204}, answer.status_code
    return statistics.median(times)


def work(job: int) -> dict:
    """The job in a process of its own, as a worker runs it: its seconds and its largest memory in MB."""
    done = subprocess.run([sys.executable, "-c", RECKON, str(job)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def row(size: Size) -> str:
    times = " | ".join(f"{time:,.0f}" for time in (size.first, size.warm, size.poll, size.listed))
    worker = f"{size.worker_seconds:,.0f} | {size.memory:,.0f}" if size.worker_seconds else "– | –"
    counts = f"{size.judgments:,} | {size.tasks:,} | {size.people:,}"
    return f"| {counts} | {times} | {worker} | {size.page / 1024:,.0f} |"


def row_of_lists(size: Size) -> str:
    return f"| {size.tasks:,} | {size.split:,} | {' | '.join(f'{time:,.0f}' for time in size.lists)} |"


def report(measured: list[Size]) -> str:
    head = (
        "| judgments | tasks | annotators | first page ms | page ms | poll ms | list ms | worker s | worker MB | kB |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    of_lists = f"| tasks | split | {' ms | '.join(LISTS)} ms |\n" + "|---" * (2 + len(LISTS)) + "|"
    return "\n".join([head, *map(row, measured), "", of_lists, *map(row_of_lists, measured)])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--judgments", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    given = options.parse_args()
    found = []
    with scratch.winnow(durable=False):
        prepare()
        for judgments in given.judgments:
            found.append(measured(judgments))
            print(row(found[-1]), row_of_lists(found[-1]), sep="\n", file=sys.stderr)
    print(report(found))


if __name__ == "__main__":
    main()
