from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0012_corrections")]
    operations = [
        migrations.AddField("benchmark", "archived", models.BooleanField(db_default=False, default=False)),
    ]
