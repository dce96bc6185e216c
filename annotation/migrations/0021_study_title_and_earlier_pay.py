from django.db import migrations, models


class Migration(migrations.Migration):
    """Cached figures of overviews and results lack the items that wait for a decision: they are computed again."""

    dependencies = [("annotation", "0020_study_consent_changed_at")]
    operations = [
        migrations.AddField("study", "title", models.CharField(blank=True, db_default="", default="", max_length=120)),
        migrations.AddField(
            "study", "earlier_pay", models.JSONField(blank=True, db_default=[], default=list, editable=False)
        ),
        migrations.RunSQL("DELETE FROM annotation_cachedfigures WHERE kind IN ('page', 'results')", migrations.RunSQL.noop),
    ]
