from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0016_reader_reports")]
    operations = [
        migrations.AddField("study", "archived", models.BooleanField(db_default=False, default=False)),
    ]
