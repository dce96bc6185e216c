"""Every table of benchmarks, runs, jobs and the audit trail. Replaces the migrations of version 0.1, as annotation's does."""

import benchmarks.models.benchmark
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    replaces = [
        ("benchmarks", "0002_stages"),
        ("benchmarks", "0003_crops"),
        ("benchmarks", "0004_scoring"),
        ("benchmarks", "0005_later_rounds"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Image',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('format', models.CharField(max_length=8)),
                ('width', models.PositiveIntegerField()),
                ('height', models.PositiveIntegerField()),
                ('size', models.PositiveBigIntegerField()),
                ('opaque', models.CharField(default=benchmarks.models.benchmark.opaque_name, max_length=32, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name='ScoringModel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fingerprint', models.CharField(max_length=64, unique=True)),
                ('name', models.CharField(max_length=300)),
                ('pretrained', models.CharField(blank=True, max_length=300)),
                ('title', models.CharField(max_length=300)),
                ('precision', models.CharField(max_length=10)),
                ('sees_images', models.BooleanField()),
                ('recipes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), default=list, size=None)),
            ],
        ),
        migrations.CreateModel(
            name='Benchmark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120, unique=True)),
                ('source', models.CharField(max_length=60)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('by', models.CharField(max_length=200)),
                ('verb', models.CharField(max_length=60)),
                ('subject', models.CharField(max_length=60)),
                ('data', models.JSONField(default=dict)),
            ],
            options={
                'indexes': [models.Index(fields=['subject', 'at'], name='benchmarks__subject_786ebc_idx')],
            },
        ),
        migrations.CreateModel(
            name='Item',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('position', models.PositiveIntegerField()),
                ('type', models.CharField(blank=True, max_length=60)),
                ('subtype', models.CharField(blank=True, max_length=60)),
                ('meta', models.JSONField(default=dict)),
                ('truth', models.JSONField(default=dict)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='benchmarks.benchmark')),
            ],
            options={
                'ordering': ['benchmark_id', 'position'],
                'constraints': [
                    models.UniqueConstraint(fields=('benchmark', 'key'), name='item_key_once'),
                    models.UniqueConstraint(fields=('benchmark', 'position'), name='item_position_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Caption',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('positive', 'Positive'), ('negative', 'Negative'), ('second_positive', 'Second Positive'), ('candidate', 'Candidate')], max_length=16)),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('text', models.TextField()),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='captions', to='benchmarks.item')),
            ],
            options={
                'ordering': ['item_id', 'role', 'position'],
                'constraints': [
                    models.UniqueConstraint(fields=('item', 'role', 'position'), name='caption_place_once'),
                    models.CheckConstraint(condition=models.Q(('role__in', ['positive', 'negative', 'second_positive', 'candidate'])), name='caption_role_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ItemImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('positive', 'Positive'), ('negative', 'Negative'), ('second_positive', 'Second Positive'), ('candidate', 'Candidate')], max_length=16)),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('round', models.PositiveSmallIntegerField(default=1)),
                ('source_name', models.CharField(max_length=400)),
                ('crop', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveIntegerField(), null=True, size=4)),
                ('licence', models.CharField(blank=True, max_length=200)),
                ('attribution', models.CharField(blank=True, max_length=500)),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='uses', to='benchmarks.image')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='item_images', to='benchmarks.item')),
            ],
            options={
                'ordering': ['item_id', 'role', 'position'],
                'indexes': [
                    models.Index(condition=models.Q(('role', 'candidate'), ('round__gt', 1)), fields=['item'], name='item_image_later_round'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('item', 'role', 'position'), name='item_image_place_once'),
                    models.CheckConstraint(condition=models.Q(('role__in', ['positive', 'negative', 'second_positive', 'candidate'])), name='item_image_role_known'),
                    models.CheckConstraint(condition=models.Q(('crop', None), models.Q(('crop__0__gte', 0), ('crop__1__gte', 0), ('crop__2__gt', 0), ('crop__3__gt', 0), ('crop__len', 4)), _connector='OR'), name='item_image_crop_whole'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('title', models.CharField(max_length=200)),
                ('params', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('phase', models.CharField(blank=True, max_length=60)),
                ('done', models.PositiveBigIntegerField(default=0)),
                ('total', models.PositiveBigIntegerField(null=True)),
                ('problems', models.JSONField(default=list)),
                ('problem_count', models.PositiveIntegerField(default=0)),
                ('report', models.JSONField(default=dict)),
                ('cancel_asked', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('phase_started_at', models.DateTimeField(null=True)),
                ('heartbeat_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed', 'cancelled'])), name='job_state_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('origin', models.CharField(choices=[('measured', 'Measured'), ('imported', 'Imported'), ('reported', 'Reported')], max_length=10)),
                ('kind', models.CharField(max_length=20)),
                ('title', models.CharField(max_length=300)),
                ('source', models.CharField(blank=True, max_length=500)),
                ('digest', models.CharField(blank=True, max_length=64)),
                ('blind', models.BooleanField(default=False)),
                ('figures', models.JSONField(default=dict)),
                ('made_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='benchmarks.benchmark')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to='benchmarks.job')),
                ('model', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='benchmarks.scoringmodel')),
            ],
            options={
                'ordering': ['-made_at', '-id'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('origin__in', ['measured', 'imported', 'reported'])), name='run_origin_known'),
                    models.CheckConstraint(condition=models.Q(('model__isnull', False), models.Q(('origin', 'measured'), _negated=True), _connector='OR'), name='run_measured_by_one'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Prediction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('question', models.CharField(max_length=200)),
                ('score', models.FloatField(null=True)),
                ('choice', models.CharField(max_length=200, null=True)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='predictions', to='benchmarks.item')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='predictions', to='benchmarks.run')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('run', 'item', 'question'), name='prediction_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('choice', None), ('score__isnull', False)), models.Q(('choice__isnull', False), ('score', None)), _connector='OR'), name='prediction_one_answer'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Embedding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('content', models.CharField(max_length=64)),
                ('vector', models.BinaryField()),
                ('model', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='embeddings', to='benchmarks.scoringmodel')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('model', 'content'), name='embedding_once'),
                ],
            },
        ),
    ]
