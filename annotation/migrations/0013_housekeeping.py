"""A study can be deleted whole, and an annotator's personal data erased.

Law 1 stands: a judgment is never altered, and deleted only with its whole study, by the one transaction that names it.
"""

from django.db import migrations, models
from django.db.models import Q

FORWARD = """
CREATE OR REPLACE FUNCTION annotation_judgment_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND coalesce(current_setting('winnow.deletes_study', true), '') <> '' THEN
    PERFORM FROM annotation_lease lease JOIN annotation_task task ON task.id = lease.task_id
      JOIN annotation_stage stage ON stage.id = task.stage_id
      WHERE lease.id = OLD.lease_id AND stage.study_id::text = current_setting('winnow.deletes_study', true);
    IF FOUND THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'a judgment is never altered or deleted: write a new revision' USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
BACKWARD = """
CREATE OR REPLACE FUNCTION annotation_judgment_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a judgment is never altered or deleted: write a new revision' USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
ERASED = Q(name="", prolific_pid="", prolific_study="", prolific_session="")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0012_judgments_found")]
    operations = [
        migrations.RunSQL(FORWARD, BACKWARD),
        migrations.AddField("annotator", "erased_at", models.DateTimeField(null=True)),
        migrations.AddConstraint(
            "annotator",
            models.CheckConstraint(condition=Q(erased_at__isnull=True) | ERASED, name="annotator_erased_whole"),
        ),
    ]
