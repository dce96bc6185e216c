"""Write a study of up to a million judgments by SQL: five judgments per task, up to 500 annotators, who can err."""

OVERLAP = 5
PEOPLE = 500
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
PICTURES = """
INSERT INTO benchmarks_image (sha256, format, width, height, size, opaque)
SELECT md5(%(benchmark)s || '-' || n) || md5(''), 'JPEG', 9, 9, 9, md5('served-' || %(benchmark)s || '-' || n)
FROM generate_series(1, %(pictures)s) n
"""
IMAGES = """
INSERT INTO benchmarks_itemimage (item_id, image_id, role, position, round, opaque, source_name, licence, attribution)
SELECT id, (SELECT max(id) FROM benchmarks_image) - (5 * position + n) %% %(pictures)s,
       CASE n WHEN 4 THEN 'positive' ELSE 'candidate' END, n %% 4, 1,
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
  INSERT INTO annotation_lease (slot_id, task_id, annotator_id, state, shown, granted_at)
  SELECT id, task_id, annotator_id, 'judged', ARRAY['candidate-2', 'candidate-0', 'candidate-3', 'candidate-1'],
         now() - interval '20 days' * (1 - task_id::float / max(task_id) OVER ()) FROM first
  RETURNING id, slot_id, task_id, annotator_id, granted_at
), judgment AS (
  INSERT INTO annotation_judgment (lease_id, revision, key, digest, instructions_id, answer, content, reason, withdrawn,
                                   surplus, active_ms, elapsed_ms, created_at)
  SELECT id, 1, gen_random_uuid(), '', %(rules)s,
         CASE WHEN random() < 0.8 THEN (ARRAY['candidate-0', 'candidate-1', 'candidate-2', 'candidate-3', 'none']
                                       )[1 + task_id %% 5]
              WHEN random() < 0.7 THEN 'candidate-' || floor(random() * 4)::int ELSE 'none' END,
         '{}', '', false, false, 2000 + (random() * 9000)::int, 12000,
         granted_at
  FROM lease ORDER BY task_id, slot_id
  RETURNING id, lease_id
)
UPDATE annotation_slot slot SET annotator_id = lease.annotator_id, judgment_id = judgment.id
FROM lease JOIN judgment ON judgment.lease_id = lease.id WHERE slot.id = lease.slot_id
"""
# What the stage's rule makes of five judgments: most kinds of answer decide, then the image picked most, then first.
DECIDE = """
INSERT INTO annotation_outcome (task_id, state, outcome, content, reason, by, note)
WITH given AS (
  SELECT slot.task_id, judgment.id, judgment.answer
  FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
  WHERE slot.stage_id = %(stage)s
), kinds AS (
  SELECT task_id, count(*) FILTER (WHERE answer = 'none') > 2 AS none, count(DISTINCT answer) AS kinds
  FROM given GROUP BY task_id HAVING count(*) = 5
), picks AS (
  SELECT DISTINCT ON (task_id) task_id, answer, count(*) OVER (PARTITION BY task_id, n) > 1 AS level
  FROM (SELECT task_id, answer, count(*) AS n, min(id) AS first FROM given WHERE answer <> 'none' GROUP BY 1, 2) each
  ORDER BY task_id, n DESC, first
)
SELECT kinds.task_id, CASE WHEN none THEN 'dropped' ELSE 'kept' END, CASE WHEN none THEN 'none' ELSE picks.answer END,
       '{}', CASE WHEN none THEN 'no_image_fits' ELSE '' END,
       CASE WHEN kinds = 1 THEN 'unanimous' WHEN level AND NOT none THEN 'first_of_equals' ELSE 'majority' END, ''
FROM kinds LEFT JOIN picks USING (task_id)
"""
FLAGS = """
INSERT INTO annotation_flag (lease_id, reason)
SELECT id, 'Two of these are the same.' FROM annotation_lease
WHERE task_id IN (SELECT id FROM annotation_task WHERE stage_id = %(stage)s) ORDER BY id LIMIT %(flags)s
"""


def run(statement: str, **values: object) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)


def filled(judgments: int, pictures: int = CHOICES + 1, tidy: bool = True, number: int = 0):
    """Create a study of about this many judgments, five per task, which share this many pictures; return its stage. Not
    `tidy`: without statistics of the tables, for a small one. Vacuum afterwards, unless inside a transaction."""
    from annotation.models import Annotator, Instructions, Seat, Stage, Study
    from benchmarks.models import Benchmark

    tasks, people = judgments // OVERLAP, min(PEOPLE, max(8, judgments // 200))
    name = f"{judgments:,} judgments" + (f", {number}" if number else "")
    benchmark = Benchmark.objects.create(name=name, source="measure")
    study = Study.objects.create(name=name, benchmark=benchmark, pay_per_hour=12)
    stage = Stage.objects.create(study=study, name="choose", protocol="bivlc-choose", overlap=OVERLAP, seed=1)
    rules = Instructions.objects.create(stage=stage, version=1, text="x")
    who = Annotator.objects.bulk_create(Annotator(study=study, number=n, stage=stage) for n in range(1, people + 1))
    Seat.objects.bulk_create(Seat(annotator=one, stage=stage, read=rules) for one in who)
    fill(benchmark.pk, stage.pk, tasks, pictures, [one.pk for one in who], rules.pk, tidy)
    return stage


def fill(benchmark: int, stage: int, tasks: int, pictures: int, people: list[int], rules: int, tidy: bool) -> None:
    """Fill the study without checking foreign keys, which would take most of the time."""
    run("SET session_replication_role = replica")
    run(ITEMS, benchmark=benchmark, tasks=tasks)
    run(CAPTIONS, benchmark=benchmark)
    run(PICTURES, benchmark=benchmark, pictures=pictures)
    run(IMAGES, benchmark=benchmark, pictures=pictures)
    run(TASKS, benchmark=benchmark, stage=stage, overlap=OVERLAP)
    run(SLOTS, stage=stage, overlap=OVERLAP)
    if tidy:
        run("ANALYZE")  # otherwise earlier statistics decide how the rest is joined
    run(JUDGE, stage=stage, people=people, rules=rules, below=tasks - tasks // 100)
    run(DECIDE, stage=stage)
    run(FLAGS, stage=stage, flags=tasks // 1000)
    run("SET session_replication_role = DEFAULT")
    if tidy:
        run("ANALYZE")
