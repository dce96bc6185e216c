"""What annotators reported: a manager looks, and settles it."""

from django.db import transaction
from django.utils import timezone

from annotation.models import Flag, Task
from benchmarks import audit


def open_flags(task: Task) -> list[Flag]:
    return list(Flag.objects.filter(lease__task=task, settled_at=None).order_by("pk"))


@transaction.atomic
def settle_flag(*, flag: Flag, by: str, settled_by=None) -> Flag:
    """Somebody has looked at it. Twice is the same as once; the task and its judgments stay as they are."""
    flag = Flag.objects.select_for_update(no_key=True).get(pk=flag.pk)
    if flag.settled_at is None:
        flag.settled_at, flag.settled_by = timezone.now(), settled_by
        flag.save(update_fields=["settled_at", "settled_by"])
        audit.record(by=by, verb="settled", subject=flag)
    return flag
