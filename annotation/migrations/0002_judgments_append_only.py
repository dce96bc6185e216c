"""Law 1 in the database: a judgment, once written, is never altered or deleted."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION annotation_judgment_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a judgment is never altered or deleted: write a new revision' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER annotation_judgment_append_only BEFORE UPDATE OR DELETE ON annotation_judgment
  FOR EACH ROW EXECUTE FUNCTION annotation_judgment_is_append_only();
"""
BACKWARD = """
DROP TRIGGER annotation_judgment_append_only ON annotation_judgment;
DROP FUNCTION annotation_judgment_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
