from django.db import migrations


class Migration(migrations.Migration):
    """Cached figures of earlier versions lack how common each label is, and models' shares by part: they are computed
    again.
    """

    dependencies = [("annotation", "0023_read_own_rows")]
    operations = [
        migrations.RunSQL("DELETE FROM annotation_cachedfigures WHERE kind IN ('agreement', 'results')", migrations.RunSQL.noop)
    ]
