from django.db import migrations, models

PRACTISED = ("annotation_task", "annotation_attempt")  # tables with a kind
SETTINGS = ("pass", "tries")


def rename(old: str, new: str) -> list[str]:
    """Return the statements for rows, and for the settings in templates of studies.

    In a jsonb's text only a key is followed by `":`, because quotes inside strings are escaped.
    """
    of_kind = [f"UPDATE {table} SET kind = '{new}' WHERE kind = '{old}'" for table in PRACTISED]
    keys = [
        f"""UPDATE annotation_studytemplate SET setup = replace(setup::text, '"{old}_{one}":', '"{new}_{one}":')::jsonb
        WHERE strpos(setup::text, '"{old}_{one}":') > 0"""
        for one in SETTINGS
    ]
    return of_kind + keys


class Migration(migrations.Migration):
    """Practice is called so everywhere; training is what models do. Cached figures name signs of the old kind."""

    dependencies = [
        ('annotation', '0011_name_cached_figures'),
    ]

    operations = [
        migrations.RenameField('stage', 'training_pass', 'practice_pass'),
        migrations.RenameField('stage', 'training_tries', 'practice_tries'),
        migrations.RemoveConstraint(model_name='task', name='task_kind_known'),
        migrations.RemoveConstraint(model_name='attempt', name='attempt_kind_known'),
        migrations.RunSQL(rename("training", "practice"), rename("practice", "training")),
        migrations.RunSQL("DELETE FROM annotation_cachedfigures", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='task',
            name='kind',
            field=models.CharField(choices=[('judge', 'Judge'), ('check', 'Check'), ('practice', 'Practice')], default='judge', max_length=8),
        ),
        migrations.AlterField(
            model_name='attempt',
            name='kind',
            field=models.CharField(choices=[('comprehension', 'Comprehension'), ('practice', 'Practice')], max_length=14),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['judge', 'check', 'practice'])), name='task_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='attempt',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['comprehension', 'practice'])), name='attempt_kind_known'),
        ),
    ]
