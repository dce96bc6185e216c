import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import annotation.models.study


class Migration(migrations.Migration):

    dependencies = [("annotation", "0018_forget_figures_of_annotators")]

    operations = [
        migrations.CreateModel(
            name="SharedResults",
            fields=[
                ("study", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="shared_results", serialize=False, to="annotation.study")),
                ("token", models.CharField(default=annotation.models.study.secret_token, max_length=32, unique=True)),
                ("made_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
    ]
