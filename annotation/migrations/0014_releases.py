"""Releases: once frozen, never changed; they go only with their whole study."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Now

FORWARD = """
CREATE FUNCTION annotation_release_is_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.frozen_at IS NULL THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'DELETE' AND OLD.study_id::text = coalesce(current_setting('winnow.deletes_study', true), '') THEN
    RETURN OLD;
  END IF;
  IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - 'job_id' - 'created_by_id' = to_jsonb(OLD) - 'job_id' - 'created_by_id' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a frozen release is never altered or deleted: make another version' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER annotation_release_frozen BEFORE UPDATE OR DELETE ON annotation_release
  FOR EACH ROW EXECUTE FUNCTION annotation_release_is_frozen();
"""
BACKWARD = """
DROP TRIGGER annotation_release_frozen ON annotation_release;
DROP FUNCTION annotation_release_is_frozen();
"""
FROZEN = Q(frozen_at=None, content="", file="", sha256="")
FROZEN |= Q(frozen_at__isnull=False) & ~Q(content="") & ~Q(file="") & ~Q(sha256="")
USER = settings.AUTH_USER_MODEL
SET_NULL, CASCADE = django.db.models.deletion.SET_NULL, django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0013_housekeeping"),
        ("benchmarks", "0005_later_rounds"),
        migrations.swappable_dependency(USER),
    ]
    operations = [
        migrations.CreateModel(
            name="Release",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("version", models.CharField(max_length=20)),
                ("plan", models.JSONField()),
                ("content", models.CharField(blank=True, max_length=64)),
                ("summary", models.JSONField(default=dict)),
                ("file", models.CharField(blank=True, max_length=300)),
                ("size", models.PositiveBigIntegerField(default=0)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("frozen_at", models.DateTimeField(null=True)),
                ("created_by", models.ForeignKey(null=True, on_delete=SET_NULL, to=USER)),
                ("job", models.ForeignKey(null=True, on_delete=SET_NULL, related_name="releases", to="benchmarks.job")),
                ("study", models.ForeignKey(on_delete=CASCADE, related_name="releases", to="annotation.study")),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "constraints": [
                    models.UniqueConstraint(fields=["name", "version"], name="release_version_once"),
                    models.CheckConstraint(condition=FROZEN, name="release_frozen_whole"),
                ],
            },
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
