import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Cached figures, and the jobs that compute them, are called so."""

    dependencies = [
        ('annotation', '0010_forget_cached_figures'),
    ]

    operations = [
        migrations.RunSQL("UPDATE benchmarks_job SET kind = 'figures' WHERE kind = 'reckon'",
                          "UPDATE benchmarks_job SET kind = 'reckon' WHERE kind = 'figures'"),
        migrations.RemoveConstraint(model_name='reckoning', name='reckoning_once'),
        migrations.RenameModel('Reckoning', 'CachedFigures'),
        migrations.AlterField(
            model_name='cachedfigures',
            name='stage',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='cached_figures', to='annotation.stage'),
        ),
        migrations.AddConstraint(
            model_name='cachedfigures',
            constraint=models.UniqueConstraint(fields=('stage', 'kind', 'key'), name='cached_figures_once'),
        ),
    ]
