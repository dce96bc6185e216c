"""Where a study's judgments begin, and when judgments were given: the API's lists start there."""

import django.contrib.postgres.indexes
from django.db import migrations, models
from django.db.models.functions import Coalesce

import annotation.models.study

# A study without any keeps the last id of now.
FILL = """
UPDATE annotation_study study SET judgments_after = first.id - 1 FROM (
  SELECT stage.study_id, min(judgment.id) AS id FROM annotation_judgment judgment
  JOIN annotation_lease lease ON lease.id = judgment.lease_id JOIN annotation_task task ON task.id = lease.task_id
  JOIN annotation_stage stage ON stage.id = task.stage_id GROUP BY stage.study_id) first
WHERE first.study_id = study.id
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0011_measured_ties")]

    operations = [
        migrations.AddField(
            model_name="study",
            name="judgments_after",
            field=models.BigIntegerField(db_default=Coalesce(annotation.models.study.LastJudgment(), 0), editable=False),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="judgment",
            index=django.contrib.postgres.indexes.BrinIndex(
                autosummarize=True, fields=["created_at"], name="judgment_given_at"
            ),
        ),
    ]
