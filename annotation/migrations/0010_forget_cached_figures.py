from django.db import migrations


class Migration(migrations.Migration):
    """Cached figures of earlier versions have another shape than the pages read: the worker computes them again."""

    dependencies = [
        ('annotation', '0009_webhooks'),
    ]

    operations = [
        migrations.RunSQL("DELETE FROM annotation_reckoning", migrations.RunSQL.noop),
    ]
