from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0010_cut_captions")]

    operations = [
        migrations.AddField(model_name="benchmark", name="mapping", field=models.JSONField(null=True)),
    ]
