from django.db import migrations, models

NAMED = models.Q(role__regex="^[a-z][a-z0-9_]{0,15}$")


class Migration(migrations.Migration):
    """Roles and attributes under names of the user's own. No row is rewritten."""

    dependencies = [("benchmarks", "0003_notifications")]

    operations = [
        migrations.RemoveConstraint("caption", "caption_role_known"),
        migrations.RemoveConstraint("itemimage", "item_image_role_known"),
        migrations.AlterField("caption", "role", models.CharField(max_length=16)),
        migrations.AlterField("itemimage", "role", models.CharField(max_length=16)),
        migrations.AddField("caption", "attributes", models.JSONField(default=dict, db_default={})),
        migrations.AddField("itemimage", "attributes", models.JSONField(default=dict, db_default={})),
        migrations.AddConstraint("caption", models.CheckConstraint(condition=NAMED, name="caption_role_named")),
        migrations.AddConstraint("itemimage", models.CheckConstraint(condition=NAMED, name="item_image_role_named")),
    ]
