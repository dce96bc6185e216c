"""What must hold of stages, seats, rounds and outcomes; it can be asked for once 0004 has filled them in."""

import annotation.models.study
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("annotation", "0004_stages_filled")]

    operations = [
        migrations.AlterField(
            model_name='stage',
            name='invite',
            field=models.CharField(default=annotation.models.study.secret_token, max_length=32, unique=True),
        ),
        migrations.RemoveField(
            model_name='annotator',
            name='read',
        ),
        migrations.AddConstraint(
            model_name='annotator',
            constraint=models.CheckConstraint(condition=models.Q(('excluded_at__isnull', True), models.Q(('exclusion_reason', ''), _negated=True), _connector='OR'), name='annotator_excluded_with_reason'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.UniqueConstraint(fields=('study', 'name'), name='stage_name_once'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['open', 'closed'])), name='stage_state_known'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(('cap__isnull', True), models.Q(('cap__gte', models.F('overlap')), ('cap__lte', 50)), _connector='OR'), name='stage_cap_from_overlap'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(('check_rate__gte', 0), ('check_rate__lte', 0.5)), name='stage_check_rate_range'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('agreement_items__isnull', True), ('agreement_overlap__isnull', True)), models.Q(('agreement_items__isnull', False), ('agreement_overlap__isnull', False)), _connector='OR'), name='stage_agreement_both_or_neither'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('strategy', 'batches'), _negated=True), models.Q(('batch_size__gte', 1), ('batch_size__isnull', False)), _connector='OR'), name='stage_batches_have_a_size'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.UniqueConstraint(fields=('stage', 'item', 'question', 'round'), name='task_once'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['judge', 'check', 'training'])), name='task_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('kind', 'judge'), models.Q(('gold', []), _negated=True), _connector='OR'), name='task_gold_where_known'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('overlap__lte', 50)), name='task_overlap_range'),
        ),
        migrations.AddConstraint(
            model_name='outcome',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), ('state', 'kept')), models.Q(('state', 'dropped'), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='outcome_dropped_with_reason'),
        ),
        migrations.AddConstraint(
            model_name='outcome',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('by', 'adjudicator'), _negated=True), models.Q(('note', ''), _negated=True), _connector='OR'), name='outcome_adjudicated_with_note'),
        ),
        migrations.AddConstraint(
            model_name='seat',
            constraint=models.UniqueConstraint(fields=('annotator', 'stage'), name='seat_once'),
        ),
        migrations.AddConstraint(
            model_name='seat',
            constraint=models.UniqueConstraint(condition=models.Q(('batch__isnull', False)), fields=('stage', 'batch', 'place'), name='seat_place_once'),
        ),
        migrations.AddConstraint(
            model_name='seat',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('batch__isnull', True), ('place__isnull', True)), models.Q(('batch__isnull', False), ('place__isnull', False)), _connector='OR'), name='seat_batch_and_place'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.UniqueConstraint(fields=('seat', 'kind', 'number'), name='attempt_once'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['comprehension', 'training'])), name='attempt_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('passed__isnull', True)), models.Q(('finished_at__isnull', False), ('passed__isnull', False)), _connector='OR'), name='attempt_finished_with_result'),
        ),
    ]
