"""A tie in a stage that measures drops nothing: what stood as dropped for it is answered, without a majority."""

from django.db import migrations

MEND = """
UPDATE annotation_outcome outcome SET state = 'kept', reason = '', by = 'no_majority'
FROM annotation_task task JOIN annotation_stage stage ON stage.id = task.stage_id
WHERE task.id = outcome.task_id AND outcome.reason = 'tie_unresolved' AND outcome.by = 'tie_rule'
  AND stage.protocol IN ('bivlc-i2t', 'bivlc-t2i', 'hard-positive-rank', 'sugarcrepe-compare')
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0010_estimates")]

    operations = [migrations.RunSQL(MEND, migrations.RunSQL.noop)]
