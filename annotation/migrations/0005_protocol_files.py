"""Protocol files, and answers of any length."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


# A published version never changes, and stages rely on it.
VERSIONS_FROZEN = """
CREATE FUNCTION annotation_protocol_version_is_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - 'published_by_id' = to_jsonb(OLD) - 'published_by_id' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a published protocol is never altered or deleted: publish another version'
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER annotation_protocol_version_frozen BEFORE UPDATE OR DELETE ON annotation_protocolversion
  FOR EACH ROW EXECUTE FUNCTION annotation_protocol_version_is_frozen();
"""
VERSIONS_FREE = """
DROP TRIGGER annotation_protocol_version_frozen ON annotation_protocolversion;
DROP FUNCTION annotation_protocol_version_is_frozen();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0004_instructions_images'),
        ('benchmarks', '0003_notifications'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='judgment',
            name='answer',
            field=models.TextField(blank=True),
        ),
        migrations.AlterField(
            model_name='outcome',
            name='outcome',
            field=models.TextField(blank=True),
        ),
        migrations.AlterField(
            model_name='task',
            name='question',
            field=models.CharField(blank=True, max_length=120),
        ),
        migrations.CreateModel(
            name='ProtocolDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(blank=True)),
                ('started_from', models.CharField(blank=True, max_length=40)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('benchmark', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='benchmarks.benchmark')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='protocol_drafts', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-changed_at'],
            },
        ),
        migrations.CreateModel(
            name='ProtocolVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=32)),
                ('number', models.PositiveIntegerField()),
                ('title', models.CharField(max_length=60)),
                ('text', models.TextField()),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('published_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('published_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name', '-number'],
                'constraints': [models.UniqueConstraint(fields=('name', 'number'), name='protocol_version_once'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='protocol_version_from_one'), models.CheckConstraint(condition=models.Q(('sha256__regex', '^[0-9a-f]{64}$')), name='protocol_version_has_hash')],
            },
        ),
        migrations.RunSQL(VERSIONS_FROZEN, VERSIONS_FREE),
    ]
