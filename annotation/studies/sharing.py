"""Turn on or off the page where everybody with its address can read a study's results."""

from django.db import transaction

from annotation.models import SharedResults, Study
from benchmarks import audit


@transaction.atomic
def share(*, study: Study, by: str) -> SharedResults:
    """Share the results. Idempotent."""
    shared, made = SharedResults.objects.get_or_create(study=study)
    if made:
        audit.record(by=by, verb="shared results", subject=study)
    return shared


@transaction.atomic
def stop_sharing(*, study: Study, by: str) -> None:
    """Delete the address for good; sharing again creates a different one."""
    gone, _ = SharedResults.objects.filter(study=study).delete()
    if gone:
        audit.record(by=by, verb="stopped sharing results", subject=study)
