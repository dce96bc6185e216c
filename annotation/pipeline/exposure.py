"""Conditions for the tasks and items that an annotator has been shown, in SQL and for the ORM.

A lease that lapsed does not count: the screen may never have been looked at.
"""

from django.db.models import QuerySet

from annotation.models import Lease, LeaseState

APART = "there.position = ANY(%(apart)s)"  # stages that this one is kept apart from


def had(task: str, annotator: str = "%(annotator)s") -> str:
    """Return SQL for whether the annotator has had that task."""
    return f"""EXISTS (
      SELECT FROM annotation_lease had
      WHERE had.task_id = {task} AND had.annotator_id = {annotator} AND had.state <> 'lapsed')"""


def met(item: str, annotator: str = "%(annotator)s", where: str = APART) -> str:
    """Return SQL for whether the annotator has had a task of that item; `where` restricts `met` (the task) and `there`
    (its stage).
    """
    return f"""EXISTS (
      SELECT FROM annotation_lease had JOIN annotation_task met ON met.id = had.task_id
      JOIN annotation_stage there ON there.id = met.stage_id
      WHERE had.annotator_id = {annotator} AND had.state <> 'lapsed' AND met.item_id = {item} AND {where})"""


def had_leases(**of: object) -> QuerySet[Lease]:
    """Return the leases (with these fields) by which their annotators have had a task."""
    return Lease.objects.filter(**of).exclude(state=LeaseState.LAPSED)
