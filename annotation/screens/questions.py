"""The questions in a protocol file that are asked about a task's item, if the file restricts them."""

from annotation.models import Task
from annotation.protocols.conditions import depends_on_items
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.tasks import file_about
from benchmarks import queries
from benchmarks.models import Item


def file_for(file: ProtocolFile, task: Task) -> ProtocolFile:
    """Return the file as it applies to the task's item, which is read only if a question depends on items."""
    if not any(map(depends_on_items, file.answers)):
        return file
    record = queries.record_of(queries.with_material(Item.objects.filter(pk=task.item_id)).get())
    return file_about(file, record, task.carried)
