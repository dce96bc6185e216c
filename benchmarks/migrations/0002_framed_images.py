from django.db import migrations, models

import benchmarks.models.benchmark

NAMES = "UPDATE benchmarks_itemimage SET opaque = md5(gen_random_uuid()::text)"


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0001_initial")]

    operations = [
        migrations.AddField("itemimage", "opaque", models.CharField(max_length=32, null=True)),
        migrations.RunSQL(NAMES, migrations.RunSQL.noop),
        migrations.AlterField(
            "itemimage",
            "opaque",
            models.CharField(default=benchmarks.models.benchmark.opaque_name, max_length=32, unique=True),
        ),
    ]
