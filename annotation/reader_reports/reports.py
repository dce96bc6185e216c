"""Store and answer readers' reports."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import ReaderReport, ReportDoor, Study
from annotation.models.reader_reports import Answered
from benchmarks import audit
from benchmarks.corrections.correct import Change, correct
from benchmarks.models import Action

MOST_OPEN = 1_000  # per study; further readers are asked to try later


class TooMany(Exception):
    """Too many of the study's reports are still unanswered."""


@transaction.atomic
def report(*, study: Study, key: str, text: str) -> ReaderReport:
    """Store a reader's report. Only managers can see whether the item exists. Raises TooMany."""
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if ReaderReport.objects.filter(study=study, answer="").count() >= MOST_OPEN:
        raise TooMany
    item = study.benchmark.items.filter(key=key).first()
    made = ReaderReport.objects.create(study=study, key=key, item=item, text=text)
    audit.record(by="reader", verb="got a reader's report", subject=study, report=made.pk)
    return made


@transaction.atomic
def answer(*, report: ReaderReport, answer: Answered, by: str, answered_by: User | None = None) -> ReaderReport:
    """Close the report; `withdrawn` withdraws its item, with the report as the reason. Idempotent.

    Raises Refused.
    """
    report = (
        ReaderReport.objects.select_for_update(no_key=True, of=("self",))
        .select_related("study", "item")
        .get(pk=report.pk)
    )
    if report.answer:
        return report
    if answer == Answered.WITHDRAWN and report.item is not None and not report.item.withdrawn:
        why = f"Reported by a reader: {report.text}"[:500]
        asked = Change(item=report.item.key, action=Action.WITHDRAW, reason=why)
        correct(benchmark=report.item.benchmark, changes=[asked], by=by, made_by=answered_by)
    report.answer, report.answered_at, report.answered_by = answer, timezone.now(), answered_by
    report.save(update_fields=["answer", "answered_at", "answered_by"])
    audit.record(by=by, verb="answered a reader's report", subject=report.study, report=report.pk, answer=str(answer))
    return report


@transaction.atomic
def set_door(*, study: Study, exists: bool, is_open: bool, by: str) -> None:
    """Open or close the address. A closed one is kept, because releases name it, and can be opened again."""
    if exists or ReportDoor.objects.filter(study=study).exists():
        ReportDoor.objects.update_or_create(study=study, defaults={"open": exists and is_open})
        audit.record(by=by, verb="set who may report errors", subject=study, open=exists and is_open)
