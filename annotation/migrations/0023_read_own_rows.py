from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Statements about one task's leases or one stage's slots use an index, whatever the state of the rows."""

    atomic = False
    dependencies = [("annotation", "0022_forget_figures_of_items")]
    operations = [
        AddIndexConcurrently("lease", models.Index(fields=["task"], name="lease_of_task")),
        AddIndexConcurrently(
            "slot", models.Index(fields=["stage", "annotator"], include=["judgment"], name="slot_of_stage")
        ),
        RemoveIndexConcurrently("slot", "slot_judged"),
    ]
