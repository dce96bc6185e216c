"""How far the counted answers of each task differ, and whether the rule leaves it to a person, kept with the task."""

from django.db import migrations, models
from django.db.models import Q

SPLIT = Q(entropy__gt=0, live=True)

# As when this migration was written: of bivlc-choose alone the options are votes for one thing, and of visla-paraphrase
# alone the words are what two judgments must have in common.
FILL = """
WITH said AS (
  SELECT slot.task_id, judgment.id,
         CASE WHEN stage.protocol = 'visla-paraphrase'
              THEN coalesce(nullif(judgment.content->'texts', '{}')::text, judgment.answer)
              ELSE judgment.answer END AS answer,
         stage.protocol = 'bivlc-choose' AND judgment.answer NOT IN ('none', 'cannot_judge') AS alike
  FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
  JOIN annotation_task task ON task.id = slot.task_id JOIN annotation_stage stage ON stage.id = task.stage_id
  WHERE task.kind = 'judge'
), share AS (
  SELECT task_id, answer, alike, max(id) AS newest, count(*) / sum(count(*)) OVER (PARTITION BY task_id) AS p
  FROM said GROUP BY task_id, answer, alike
), spread AS (
  SELECT task_id, max(newest) AS newest, round((-sum(p * ln(p) / ln(2.0)))::numeric, 6)::float8 AS entropy,
         count(DISTINCT CASE WHEN NOT alike THEN answer END) + bool_or(alike)::int AS kinds
  FROM share GROUP BY task_id HAVING count(*) > 1
), kind AS (
  SELECT task_id, count(*) AS n, max(count(*)) OVER (PARTITION BY task_id) AS most
  FROM said GROUP BY task_id, CASE WHEN NOT alike THEN answer END
), tie AS (
  SELECT task_id, sum(n) AS n, max(most) AS most FROM kind GROUP BY task_id HAVING count(*) FILTER (WHERE n = most) > 1
), left_open AS (
  SELECT task.id FROM tie JOIN annotation_task task ON task.id = tie.task_id AND tie.n >= task.overlap
  JOIN annotation_stage stage ON stage.id = task.stage_id
  WHERE CASE WHEN stage.protocol = 'visla-paraphrase' THEN tie.most = 1 AND tie.n >= coalesce(stage.cap, 3)
             ELSE stage.tie_rule = 'adjudicate' END
)
UPDATE annotation_task task SET entropy = spread.entropy, newest = spread.newest,
       differs = CASE WHEN kinds > 1 THEN 'kind' ELSE 'option' END, waits = task.id IN (SELECT id FROM left_open)
FROM spread WHERE spread.task_id = task.id
"""


def index(name, *fields):
    return models.Index(fields=fields, condition=SPLIT, name=name)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0008_first_members")]

    operations = [
        migrations.AddField("task", "entropy", models.FloatField(db_default=0, default=0)),
        migrations.AddField("task", "differs", models.CharField(blank=True, db_default="", default="", max_length=8)),
        migrations.AddField("task", "newest", models.BigIntegerField(null=True)),
        migrations.AddField("task", "waits", models.BooleanField(db_default=False, default=False)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RunSQL("DELETE FROM annotation_reckoning", migrations.RunSQL.noop),  # what no page can read now
        migrations.AddIndex("task", index("task_most_split", "stage", "-entropy", "-newest")),
        migrations.AddIndex("task", index("task_newest_split", "stage", "-newest")),
        migrations.AddIndex("task", index("task_split_item", "stage", "item", "id")),
        migrations.AddIndex("task", index("task_differs", "stage", "differs", "rank")),
        migrations.AddIndex(
            "task", models.Index(fields=["stage", "rank"], condition=Q(waits=True, live=True), name="task_waits")
        ),
        migrations.AddIndex(
            "outcome", models.Index(fields=["-decided_at"], condition=Q(by="adjudicator"), name="outcome_adjudicated")
        ),
        migrations.AddConstraint(
            "task",
            models.CheckConstraint(
                condition=Q(entropy=0, differs="", newest__isnull=True)
                | Q(entropy__gt=0, differs__in=["kind", "option"], newest__isnull=False),
                name="task_split_or_not",
            ),
        ),
    ]
