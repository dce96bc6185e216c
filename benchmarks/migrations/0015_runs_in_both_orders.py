from django.db import migrations, models

# What an endpoint was asked, which is all that was asked in both orders until now
ENDPOINTS = """
UPDATE benchmarks_run run SET asked_in_both_orders = true
FROM benchmarks_scoringmodel model WHERE model.id = run.model_id AND model.precision = 'remote'
"""


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0014_results_scored")]
    operations = [
        migrations.AddField("run", "asked_in_both_orders", models.BooleanField(db_default=False, default=False)),
        migrations.RunSQL(ENDPOINTS, migrations.RunSQL.noop),
    ]
