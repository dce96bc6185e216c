from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0013_archived_benchmarks")]
    operations = [migrations.AddField("run", "study", models.BigIntegerField(db_index=True, null=True))]
