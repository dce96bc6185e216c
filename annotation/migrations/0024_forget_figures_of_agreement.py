from django.db import migrations


class Migration(migrations.Migration):
    """Cached figures of earlier versions do not say how common each label is: they are computed again."""

    dependencies = [("annotation", "0023_read_own_rows")]
    operations = [
        migrations.RunSQL("DELETE FROM annotation_cachedfigures WHERE kind = 'agreement'", migrations.RunSQL.noop)
    ]
