from django.db import migrations


class Migration(migrations.Migration):
    """Cached figures of earlier versions count items that nobody was asked about as dropped: they are computed again."""

    dependencies = [("annotation", "0021_study_title_and_earlier_pay")]
    operations = [
        migrations.RunSQL(
            "DELETE FROM annotation_cachedfigures WHERE kind IN ('page', 'results', 'funnel', 'report')",
            migrations.RunSQL.noop,
        )
    ]
