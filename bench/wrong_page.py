"""How long the page of who is wrong where takes: 7,512 items, their four questions, ten models.

    python -m bench.wrong_page

Starts a PostgreSQL and a Valkey of its own. Times are of whole requests through Django's test client: the first one,
for which every model's scores are read, and the median of nine after it.
"""

import statistics
import time

from bench import scratch
from bench.spread_sql import SPREAD

ITEMS, MODELS, PEOPLE, RUNS = 7512, 10, 2, 9
SCORES = """
INSERT INTO benchmarks_prediction (run_id, item_id, question, score)
SELECT %s, item.id, name, 0.2 + 0.1 * random() + CASE WHEN name IN ('s(c0,i0)', 's(c1,i1)') THEN 0.03 ELSE 0 END
FROM benchmarks_item item, unnest(ARRAY['s(c0,i0)', 's(c0,i1)', 's(c1,i0)', 's(c1,i1)']) name
WHERE benchmark_id = %s
"""
# Every slot: the task's right option nine times of ten, by the annotator of the slot's number.
JUDGE = """
WITH lease AS (
  INSERT INTO annotation_lease (slot_id, task_id, annotator_id, state, shown)
  SELECT slot.id, slot.task_id, (%(people)s::bigint[])[slot.number], 'judged', task.options
  FROM annotation_slot slot JOIN annotation_task task ON task.id = slot.task_id WHERE slot.stage_id = %(stage)s
  RETURNING id, slot_id, task_id, annotator_id, shown
), judgment AS (
  INSERT INTO annotation_judgment (lease_id, revision, key, digest, instructions_id, answer, content, reason, withdrawn,
                                   surplus, active_ms, elapsed_ms)
  SELECT lease.id, 1, gen_random_uuid(), '', %(rules)s,
         shown[CASE WHEN (task.question = 'positive') = (random() < 0.9) THEN 1 ELSE 2 END],
         '{}', '', false, false, 4000, 5000
  FROM lease JOIN annotation_task task ON task.id = lease.task_id RETURNING id, lease_id
)
UPDATE annotation_slot slot SET annotator_id = lease.annotator_id, judgment_id = judgment.id
FROM lease JOIN judgment ON judgment.lease_id = lease.id WHERE slot.id = lease.slot_id
"""
OUTCOMES = """
INSERT INTO annotation_outcome (task_id, state, outcome, content, reason, by, note)
SELECT slot.task_id, 'kept', min(judgment.answer), '{}', '', 'majority', ''
FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
WHERE slot.stage_id = %(stage)s GROUP BY slot.task_id HAVING min(judgment.answer) = max(judgment.answer)
"""


def main() -> None:
    with scratch.winnow(durable=False):
        from django.conf import settings

        settings.ALLOWED_HOSTS = ["testserver"]
        settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
        study = made()
        for stage in (1, 2):
            for query in ("", "&which=against&sort=margin", "&which=split&type=swap", "&which=all&page=600"):
                first, after, own = (f"{1000 * one:,.0f} ms" for one in times(study, stage, query))
                print(f"stage {stage}{query}: first {first}, then {after}, of which this process {own}", flush=True)


def made():
    from django.db import connection

    from annotation.designs.plan import StagePlan
    from benchmarks.models import ItemImage, Run
    from tests.builders import crowds, studies

    plans = [StagePlan(name, apart_from=[], settings={"overlap": PEOPLE}) for name in ("bivlc-i2t", "bivlc-t2i")]
    benchmark, image = crowds.benchmark(ITEMS, candidates=0), studies.image()
    second = [
        ItemImage(item=item, image=image, role="negative", source_name=item.key) for item in benchmark.items.all()
    ]
    ItemImage.objects.bulk_create(second, batch_size=3000)
    study = studies.study(benchmark=benchmark, stages=plans)
    people = [studies.annotator(study).pk for _ in range(PEOPLE)]
    with connection.cursor() as cursor:
        for stage in study.stages.all():
            about = {"stage": stage.pk, "people": people, "rules": stage.instructions.get().pk}
            cursor.execute(JUDGE, about)
            cursor.execute(OUTCOMES, about)
        cursor.execute(SPREAD)
    for number in range(MODELS):
        run = Run.objects.create(benchmark=study.benchmark, origin="imported", kind="bivlc", title=f"Model {number}")
        with connection.cursor() as cursor:
            cursor.execute(SCORES, [run.pk, study.benchmark_id])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return study


def times(study, stage: int, query: str) -> tuple[float, float, float]:
    """Seconds of the first request, of those after it, and of these the processor time of this process."""
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.get_or_create(username="ana", is_staff=True, is_superuser=True)[0])
    taken, own = [], []
    for _ in range(RUNS + 1):
        began, worked = time.perf_counter(), time.process_time()
        answer = client.get(f"/studies/{study.pk}/wrong/?stage={stage}{query}")
        taken.append(time.perf_counter() - began)
        own.append(time.process_time() - worked)
        assert b'<li class="case">' in answer.content, "nothing is shown"
    return taken[0], statistics.median(taken[1:]), statistics.median(own[1:])


if __name__ == "__main__":
    main()
