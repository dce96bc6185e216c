"""Erase an annotator's personal data; their judgments stay under the pseudonym.

docs/guide/privacy.md explains which data is personal. Erasing does not change a byte of the study's exports.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from annotation.assignment import leases
from annotation.models import Annotator, Study
from annotation.models.study import secret_token
from annotation.participants.lifecycle import ARRIVED, GIVEN
from benchmarks import audit
from benchmarks.transactions import retry_deadlocks

PERSONAL = ("name", "prolific_pid", "prolific_study", "prolific_session")
KNOWN = ~Q(**dict.fromkeys(PERSONAL, ""))

# Submissions kept in events: earlier ones from people who came by another link, and those given a code.
EVENTS = """
UPDATE benchmarks_event SET data = CASE verb WHEN %s THEN data || '{"session": ""}'
  ELSE data #- '{before,prolific_study}' #- '{before,prolific_session}' END
WHERE subject = %s AND verb IN (%s, %s)
"""


@retry_deadlocks
@transaction.atomic
def erase(*, annotator: Annotator, by: str) -> bool:
    """Erase the name, the Prolific ids and the link, also in events. Return whether there was anything to erase.

    Leases and judgments are unchanged. Someone who returns with the same Prolific id counts as new.
    """
    Study.objects.select_for_update(no_key=True).get(pk=annotator.study_id)  # nobody can join with the id meanwhile
    leases.lock(annotator)
    annotator.refresh_from_db()
    if annotator.erased_at is not None:
        return False
    for name in PERSONAL:
        setattr(annotator, name, "")
    annotator.token, annotator.erased_at = None if annotator.imported else secret_token(), timezone.now()
    annotator.save(update_fields=[*PERSONAL, "token", "erased_at"])
    with connection.cursor() as cursor:
        cursor.execute(EVENTS, [GIVEN, audit.named(annotator), ARRIVED, GIVEN])
    audit.record(by=by, verb="erased personal data", subject=annotator, study=annotator.study_id)
    return True


def of_before(moment: datetime) -> QuerySet[Annotator]:
    """Return annotators with stored personal data who have done nothing here since then."""
    last = Greatest("joined_at", "left_at", Max("leases__granted_at"), Max("leases__judgments__created_at"))
    return Annotator.objects.filter(KNOWN, erased_at=None).annotate(last=last).filter(last__lt=moment)


def erase_before(*, days: int, by: str) -> Iterator[Annotator]:
    """Erase these annotators' data, in one transaction each; yield each annotator when done."""
    for annotator in of_before(timezone.now() - timedelta(days=days)).order_by("pk"):
        erase(annotator=annotator, by=by)
        yield annotator
