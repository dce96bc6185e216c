"""Turn on and off the page on which everybody with its address reads a study's results."""

from django.db import transaction

from annotation.models import SharedResults, Study
from benchmarks import audit


@transaction.atomic
def share(*, study: Study, by: str) -> SharedResults:
    """Twice is the same as once."""
    shared, made = SharedResults.objects.get_or_create(study=study)
    if made:
        audit.record(by=by, verb="shared results", subject=study)
    return shared


@transaction.atomic
def stop_sharing(*, study: Study, by: str) -> None:
    """The address is gone for good; sharing again makes another one."""
    gone, _ = SharedResults.objects.filter(study=study).delete()
    if gone:
        audit.record(by=by, verb="stopped sharing results", subject=study)
