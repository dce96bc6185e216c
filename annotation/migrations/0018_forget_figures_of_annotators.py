from django.db import migrations


class Migration(migrations.Migration):
    """Cached figures of annotators of earlier versions lack what the page of people reads: they are computed again."""

    dependencies = [("annotation", "0017_archived_studies")]
    operations = [
        migrations.RunSQL("DELETE FROM annotation_cachedfigures WHERE kind = 'annotators'", migrations.RunSQL.noop)
    ]
