"""Archive studies and benchmarks: lists leave them out, and nothing else changes."""

from django.db import transaction
from django.db.models import Model

from benchmarks import audit


@transaction.atomic
def set_archived(*, thing: Model, archived: bool, by: str) -> None:
    """Archive a study or a benchmark, or take it back into the list; nothing if it is so already."""
    found = type(thing)._default_manager.filter(pk=thing.pk, archived=not archived)
    if found.update(archived=archived):
        audit.record(by=by, verb="archived" if archived else "took out of the archive", subject=thing)
