from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0012_practice")]

    operations = [
        migrations.AddField("study", "part", models.JSONField(blank=True, default=dict, db_default={})),
        migrations.AlterField("stage", "protocol", models.CharField(max_length=500)),
    ]
