"""Every table of studies, and the triggers that keep judgments and frozen releases.

Replaces the fourteen migrations of version 0.1: a database that has applied all of them counts as migrated. Bring one
that has applied only some of them to version 0.1 first.
"""

import annotation.models.study
import django.contrib.postgres.fields
import django.contrib.postgres.functions
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

# A judgment is never altered, and deleted only with its whole study, by the one transaction that names the study.
JUDGMENTS_APPEND_ONLY = """
CREATE FUNCTION annotation_judgment_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER annotation_judgment_append_only BEFORE UPDATE OR DELETE ON annotation_judgment
  FOR EACH ROW EXECUTE FUNCTION annotation_judgment_is_append_only();
"""
JUDGMENTS_FREE = """
DROP TRIGGER annotation_judgment_append_only ON annotation_judgment;
DROP FUNCTION annotation_judgment_is_append_only();
"""
# A frozen release is never altered, and deleted only with its whole study.
RELEASES_FROZEN = """
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
RELEASES_FREE = """
DROP TRIGGER annotation_release_frozen ON annotation_release;
DROP FUNCTION annotation_release_is_frozen();
"""


class Migration(migrations.Migration):

    initial = True
    replaces = [
        ("annotation", "0002_judgments_append_only"),
        ("annotation", "0003_stages"),
        ("annotation", "0004_stages_filled"),
        ("annotation", "0005_stages_constraints"),
        ("annotation", "0006_texts"),
        ("annotation", "0007_members_and_reckonings"),
        ("annotation", "0008_first_members"),
        ("annotation", "0009_disagreements"),
        ("annotation", "0010_estimates"),
        ("annotation", "0011_measured_ties"),
        ("annotation", "0012_judgments_found"),
        ("annotation", "0013_housekeeping"),
        ("annotation", "0014_releases"),
    ]

    dependencies = [
        ('benchmarks', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120, unique=True)),
                ('state', models.CharField(choices=[('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], default='open', max_length=8)),
                ('invite', models.CharField(default=annotation.models.study.secret_token, max_length=32, unique=True)),
                ('completion_code', models.CharField(default=annotation.models.study.random_code, max_length=40)),
                ('screened_out_code', models.CharField(default=annotation.models.study.random_code, max_length=40)),
                ('no_consent_code', models.CharField(default=annotation.models.study.random_code, max_length=40)),
                ('consent', models.TextField(blank=True)),
                ('pay_per_hour', models.DecimalField(decimal_places=2, default=0, max_digits=7, validators=[django.core.validators.MinValueValidator(0)])),
                ('currency', models.CharField(default='USD', max_length=3)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='studies', to='benchmarks.benchmark')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'studies',
                'ordering': ['-created_at', '-id'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('state__in', ['open', 'paused', 'closed'])), name='study_state_known'),
                    models.CheckConstraint(condition=models.Q(('pay_per_hour__gte', 0)), name='study_pay_not_negative'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Stage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField(default=1)),
                ('name', models.CharField(max_length=40)),
                ('state', models.CharField(choices=[('open', 'Open'), ('closed', 'Closed')], default='open', max_length=8)),
                ('invite', models.CharField(default=annotation.models.study.secret_token, max_length=32, unique=True)),
                ('protocol', models.CharField(max_length=40)),
                ('takes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=annotation.models.study.kept_only, size=None)),
                ('carries', models.CharField(blank=True, max_length=16)),
                ('promotion', models.CharField(choices=[('settled', 'Settled'), ('closing', 'Closing')], default='settled', max_length=8)),
                ('sample', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('stratify', models.BooleanField(default=False)),
                ('sample_each', models.BooleanField(default=False)),
                ('apart_from', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveSmallIntegerField(), blank=True, default=list, size=None)),
                ('overlap', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(50)])),
                ('cap', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(2), django.core.validators.MaxValueValidator(50)])),
                ('strategy', models.CharField(choices=[('pool', 'Pool'), ('batches', 'Batches'), ('named', 'Named'), ('everyone', 'Everyone')], default='pool', max_length=10)),
                ('batch_size', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('agreement_items', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('agreement_overlap', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(2), django.core.validators.MaxValueValidator(50)])),
                ('rule', models.CharField(choices=[('majority', 'Majority'), ('dawid-skene', 'Dawid Skene')], default='majority', max_length=12)),
                ('tie_rule', models.CharField(choices=[('drop', 'Drop'), ('first', 'First'), ('none', 'None'), ('adjudicate', 'Adjudicate')], default='drop', max_length=10)),
                ('quota', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('lease_seconds', models.PositiveIntegerField(default=600, validators=[django.core.validators.MinValueValidator(30), django.core.validators.MaxValueValidator(86400)])),
                ('undo_seconds', models.PositiveIntegerField(default=900, validators=[django.core.validators.MaxValueValidator(86400)])),
                ('auto_advance', models.BooleanField(default=False)),
                ('seed', models.BigIntegerField()),
                ('check_rate', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(0.5)])),
                ('training_pass', models.FloatField(default=0.8, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('training_tries', models.PositiveSmallIntegerField(default=2, validators=[django.core.validators.MinValueValidator(1)])),
                ('comprehension', models.JSONField(blank=True, default=list)),
                ('on_failure', models.CharField(choices=[('flag', 'Flag'), ('screen_out', 'Screen Out')], default='flag', max_length=10)),
                ('after', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='followers', to='annotation.stage')),
                ('source', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='takers', to='annotation.stage')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stages', to='annotation.study')),
            ],
            options={
                'ordering': ['study_id', 'position'],
                'constraints': [
                    models.UniqueConstraint(fields=('study', 'position'), name='stage_position_once'),
                    models.UniqueConstraint(fields=('study', 'name'), name='stage_name_once'),
                    models.CheckConstraint(condition=models.Q(('state__in', ['open', 'closed'])), name='stage_state_known'),
                    models.CheckConstraint(condition=models.Q(('overlap__gte', 1), ('overlap__lte', 50)), name='stage_overlap_range'),
                    models.CheckConstraint(condition=models.Q(('cap__isnull', True), models.Q(('cap__gte', models.F('overlap')), ('cap__lte', 50)), _connector='OR'), name='stage_cap_from_overlap'),
                    models.CheckConstraint(condition=models.Q(('rule__in', ['majority', 'dawid-skene'])), name='stage_rule_known'),
                    models.CheckConstraint(condition=models.Q(('rule', 'majority'), models.Q(('tie_rule', 'adjudicate'), _negated=True), _connector='OR'), name='stage_estimate_decides'),
                    models.CheckConstraint(condition=models.Q(('lease_seconds__gte', 1)), name='stage_lease_positive'),
                    models.CheckConstraint(condition=models.Q(('check_rate__gte', 0), ('check_rate__lte', 0.5)), name='stage_check_rate_range'),
                    models.CheckConstraint(condition=models.Q(models.Q(('agreement_items__isnull', True), ('agreement_overlap__isnull', True)), models.Q(('agreement_items__isnull', False), ('agreement_overlap__isnull', False)), _connector='OR'), name='stage_agreement_both_or_neither'),
                    models.CheckConstraint(condition=models.Q(models.Q(('strategy', 'batches'), _negated=True), models.Q(('batch_size__gte', 1), ('batch_size__isnull', False)), _connector='OR'), name='stage_batches_have_a_size'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Instructions',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='instructions', to='annotation.stage')),
            ],
            options={
                'verbose_name_plural': 'instructions',
                'ordering': ['stage_id', 'version'],
                'constraints': [
                    models.UniqueConstraint(fields=('stage', 'version'), name='instructions_version_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Task',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('question', models.CharField(blank=True, max_length=20)),
                ('round', models.PositiveSmallIntegerField(default=1)),
                ('kind', models.CharField(choices=[('judge', 'Judge'), ('check', 'Check'), ('training', 'Training')], default='judge', max_length=8)),
                ('live', models.BooleanField(default=True)),
                ('rank', models.BigIntegerField()),
                ('overlap', models.PositiveSmallIntegerField(default=1)),
                ('shared', models.BooleanField(default=False)),
                ('batch', models.PositiveIntegerField(null=True)),
                ('shows', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('options', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('carried', models.JSONField(default=dict)),
                ('proposals', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('gold', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('note', models.TextField(blank=True)),
                ('entropy', models.FloatField(db_default=0, default=0)),
                ('differs', models.CharField(blank=True, db_default='', default='', max_length=8)),
                ('newest', models.BigIntegerField(null=True)),
                ('waits', models.BooleanField(db_default=False, default=False)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='benchmarks.item')),
                ('stage', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='annotation.stage')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('entropy__gt', 0), ('live', True)), fields=['stage', '-entropy', '-newest'], name='task_most_split'),
                    models.Index(condition=models.Q(('entropy__gt', 0), ('live', True)), fields=['stage', '-newest'], name='task_newest_split'),
                    models.Index(condition=models.Q(('entropy__gt', 0), ('live', True)), fields=['stage', 'item', 'id'], name='task_split_item'),
                    models.Index(condition=models.Q(('entropy__gt', 0), ('live', True)), fields=['stage', 'differs', 'rank'], name='task_differs'),
                    models.Index(condition=models.Q(('live', True), ('waits', True)), fields=['stage', 'rank'], name='task_waits'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('stage', 'item', 'question', 'round'), name='task_once'),
                    models.UniqueConstraint(fields=('stage', 'rank'), name='task_rank_once'),
                    models.CheckConstraint(condition=models.Q(('kind__in', ['judge', 'check', 'training'])), name='task_kind_known'),
                    models.CheckConstraint(condition=models.Q(('kind', 'judge'), models.Q(('gold', []), _negated=True), _connector='OR'), name='task_gold_where_known'),
                    models.CheckConstraint(condition=models.Q(('overlap__lte', 50)), name='task_overlap_range'),
                    models.CheckConstraint(condition=models.Q(models.Q(('differs', ''), ('entropy', 0), ('newest__isnull', True)), models.Q(('differs__in', ['kind', 'option']), ('entropy__gt', 0), ('newest__isnull', False)), _connector='OR'), name='task_split_or_not'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Annotator',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('token', models.CharField(default=annotation.models.study.secret_token, max_length=32, unique=True)),
                ('name', models.CharField(blank=True, max_length=120)),
                ('prolific_pid', models.CharField(blank=True, max_length=64)),
                ('prolific_study', models.CharField(blank=True, max_length=64)),
                ('prolific_session', models.CharField(blank=True, max_length=64)),
                ('simulated', models.BooleanField(default=False)),
                ('consented_at', models.DateTimeField(null=True)),
                ('left_at', models.DateTimeField(null=True)),
                ('excluded_at', models.DateTimeField(null=True)),
                ('exclusion_reason', models.CharField(blank=True, max_length=500)),
                ('joined_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('erased_at', models.DateTimeField(null=True)),
                ('excluded_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('invited_to', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.stage')),
                ('stage', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.stage')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotators', to='annotation.study')),
            ],
            options={
                'ordering': ['study_id', 'number'],
                'constraints': [
                    models.UniqueConstraint(fields=('study', 'number'), name='annotator_number_once'),
                    models.UniqueConstraint(condition=models.Q(('prolific_pid', ''), _negated=True), fields=('study', 'prolific_pid'), name='annotator_prolific_once'),
                    models.CheckConstraint(condition=models.Q(('excluded_at__isnull', True), models.Q(('exclusion_reason', ''), _negated=True), _connector='OR'), name='annotator_excluded_with_reason'),
                    models.CheckConstraint(condition=models.Q(('erased_at__isnull', True), models.Q(('name', ''), ('prolific_pid', ''), ('prolific_session', ''), ('prolific_study', '')), _connector='OR'), name='annotator_erased_whole'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Lease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), editable=False, unique=True)),
                ('state', models.CharField(choices=[('held', 'Held'), ('judged', 'Judged'), ('skipped', 'Skipped'), ('lapsed', 'Lapsed'), ('late', 'Late')], default='held', max_length=8)),
                ('shown', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('granted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('annotator', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='leases', to='annotation.annotator')),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='leases', to='annotation.task')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['annotator', 'state', 'granted_at'], name='lease_of_annotator'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('state', 'lapsed'), _negated=True), fields=('task', 'annotator'), name='lease_task_annotator_once'),
                    models.CheckConstraint(condition=models.Q(('state__in', ['held', 'judged', 'skipped', 'lapsed', 'late'])), name='lease_state_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Judgment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.PositiveSmallIntegerField(default=1)),
                ('key', models.UUIDField(unique=True)),
                ('digest', models.CharField(max_length=64)),
                ('answer', models.CharField(blank=True, max_length=40)),
                ('content', models.JSONField(default=dict)),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('withdrawn', models.BooleanField(default=False)),
                ('surplus', models.BooleanField(default=False)),
                ('active_ms', models.PositiveIntegerField(default=0)),
                ('elapsed_ms', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('instructions', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.instructions')),
                ('lease', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotation.lease')),
            ],
            options={
                'indexes': [
                    django.contrib.postgres.indexes.BrinIndex(autosummarize=True, fields=['created_at'], name='judgment_given_at'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('lease', 'revision'), name='judgment_revision_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('answer', ''), ('withdrawn', True)), models.Q(('withdrawn', False), models.Q(('answer', ''), _negated=True)), _connector='OR'), name='judgment_answered_or_withdrawn'),
                    models.CheckConstraint(condition=models.Q(('revision__gte', 1)), name='judgment_revision_from_one'),
                    models.CheckConstraint(condition=models.Q(('active_ms__lte', models.F('elapsed_ms'))), name='judgment_active_within_elapsed'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Flag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(max_length=500)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('settled_at', models.DateTimeField(null=True)),
                ('settled_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('lease', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='flags', to='annotation.lease')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='flag_has_reason'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Outcome',
            fields=[
                ('task', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='decided', serialize=False, to='annotation.task')),
                ('state', models.CharField(choices=[('kept', 'Kept'), ('dropped', 'Dropped')], max_length=8)),
                ('outcome', models.CharField(blank=True, max_length=40)),
                ('content', models.JSONField(default=dict)),
                ('reason', models.CharField(blank=True, max_length=40)),
                ('by', models.CharField(max_length=20)),
                ('posterior', models.FloatField(null=True)),
                ('note', models.CharField(blank=True, max_length=500)),
                ('decided_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('adjudicator', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('by', 'adjudicator')), fields=['-decided_at'], name='outcome_adjudicated'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), ('state', 'kept')), models.Q(('state', 'dropped'), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='outcome_dropped_with_reason'),
                    models.CheckConstraint(condition=models.Q(('posterior__isnull', True), models.Q(('posterior__gte', 0), ('posterior__lte', 1)), _connector='OR'), name='outcome_posterior_range'),
                    models.CheckConstraint(condition=models.Q(models.Q(('by', 'adjudicator'), _negated=True), models.Q(('note', ''), _negated=True), _connector='OR'), name='outcome_adjudicated_with_note'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Seat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('batch', models.PositiveIntegerField(null=True)),
                ('place', models.PositiveSmallIntegerField(null=True)),
                ('ready_at', models.DateTimeField(null=True)),
                ('screened_out_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='annotation.annotator')),
                ('read', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.instructions')),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='annotation.stage')),
            ],
            options={
                'ordering': ['stage_id', 'annotator_id'],
                'constraints': [
                    models.UniqueConstraint(fields=('annotator', 'stage'), name='seat_once'),
                    models.UniqueConstraint(condition=models.Q(('batch__isnull', False)), fields=('stage', 'batch', 'place'), name='seat_place_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('batch__isnull', True), ('place__isnull', True)), models.Q(('batch__isnull', False), ('place__isnull', False)), _connector='OR'), name='seat_batch_and_place'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('comprehension', 'Comprehension'), ('training', 'Training')], max_length=14)),
                ('number', models.PositiveSmallIntegerField()),
                ('answers', models.JSONField(default=list)),
                ('passed', models.BooleanField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
                ('seat', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='annotation.seat')),
            ],
            options={
                'ordering': ['seat_id', 'kind', 'number'],
                'constraints': [
                    models.UniqueConstraint(fields=('seat', 'kind', 'number'), name='attempt_once'),
                    models.CheckConstraint(condition=models.Q(('kind__in', ['comprehension', 'training'])), name='attempt_kind_known'),
                    models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('passed__isnull', True)), models.Q(('finished_at__isnull', False), ('passed__isnull', False)), _connector='OR'), name='attempt_finished_with_result'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Slot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('rank', models.BigIntegerField()),
                ('live', models.BooleanField(default=True)),
                ('held_until', models.DateTimeField(null=True)),
                ('annotator', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='slots', to='annotation.annotator')),
                ('judgment', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='counted_on', to='annotation.judgment')),
                ('reserved', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.annotator')),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='annotation.task')),
                ('stage', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='annotation.stage')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('annotator__isnull', True), ('live', True), ('reserved__isnull', True)), fields=['stage', 'rank', 'number'], name='slot_free'),
                    models.Index(condition=models.Q(('annotator__isnull', True), ('live', True)), fields=['stage', 'reserved', 'rank'], name='slot_reserved'),
                    models.Index(condition=models.Q(('held_until__isnull', False)), fields=['stage', 'held_until'], name='slot_leased'),
                    models.Index(condition=models.Q(('held_until__isnull', False)), fields=['annotator'], name='slot_held'),
                    models.Index(condition=models.Q(('judgment__isnull', False)), fields=['stage', 'annotator'], name='slot_judged'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('task', 'number'), name='slot_number_once'),
                    models.UniqueConstraint(condition=models.Q(('annotator__isnull', False)), fields=('task', 'annotator'), name='slot_annotator_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('annotator__isnull', True), ('held_until__isnull', True), ('judgment__isnull', True)), models.Q(('annotator__isnull', False), ('held_until__isnull', False), ('judgment__isnull', True)), models.Q(('annotator__isnull', False), ('held_until__isnull', True), ('judgment__isnull', False)), _connector='OR'), name='slot_free_leased_or_judged'),
                    models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='slot_number_from_one'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Reckoning',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('key', models.CharField(blank=True, max_length=120)),
                ('state', models.CharField(max_length=64)),
                ('data', models.JSONField()),
                ('seconds', models.FloatField()),
                ('made_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('stage', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='reckonings', to='annotation.stage')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('stage', 'kind', 'key'), name='reckoning_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('version', models.CharField(max_length=20)),
                ('plan', models.JSONField()),
                ('content', models.CharField(blank=True, max_length=64)),
                ('summary', models.JSONField(default=dict)),
                ('file', models.CharField(blank=True, max_length=300)),
                ('size', models.PositiveBigIntegerField(default=0)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('frozen_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='releases', to='benchmarks.job')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='releases', to='annotation.study')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'constraints': [
                    models.UniqueConstraint(fields=('name', 'version'), name='release_version_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('content', ''), ('file', ''), ('frozen_at', None), ('sha256', '')), models.Q(('frozen_at__isnull', False), models.Q(('content', ''), _negated=True), models.Q(('file', ''), _negated=True), models.Q(('sha256', ''), _negated=True)), _connector='OR'), name='release_frozen_whole'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Member',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('manager', 'Manager'), ('owner', 'Owner')], max_length=8)),
                ('added_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='annotation.study')),
            ],
            options={
                'ordering': ['study_id', 'added_at', 'id'],
                'constraints': [
                    models.UniqueConstraint(fields=('study', 'user'), name='member_once'),
                    models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'manager', 'owner'])), name='member_role_known'),
                ],
            },
        ),
        migrations.AddField(
            model_name='lease',
            name='slot',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='leases', to='annotation.slot'),
        ),
        # Its default names the sequence of judgments, which exists only from here on.
        migrations.AddField(
            model_name='study',
            name='judgments_after',
            field=models.BigIntegerField(db_default=django.db.models.functions.comparison.Coalesce(annotation.models.study.LastJudgment(), 0), editable=False),
        ),
        migrations.RunSQL(JUDGMENTS_APPEND_ONLY, JUDGMENTS_FREE),
        migrations.RunSQL(RELEASES_FROZEN, RELEASES_FREE),
    ]
