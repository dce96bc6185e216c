"""End a participant's time in a study: the page they see, and the code they get."""

from dataclasses import dataclass
from urllib.parse import quote

from django.db import transaction

from annotation.assignment.seats import stages_open_to
from annotation.models import Annotator, AttemptKind, Lease, LeaseState, Slot, Study
from annotation.participants.lifecycle import FINISHED, GIVEN, NO_CONSENT, SCREENED_OUT
from annotation.permissions import Desk
from benchmarks import audit
from benchmarks.models import Event

PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?cc="
PAGES = {"done": "done", "screened_out": "screened_out", "left": "left", "excluded": "excluded"}  # else: stopped


@dataclass(frozen=True)
class Ending:
    """`counted`: judgments in the stages of their link; `answered` is true even if none of them count.

    `failed`: the part that screened them out, questions or practice.
    """

    page: str
    counted: int
    answered: bool
    code: str = ""
    back: str = ""
    failed: str = ""


def ending(here: Desk, state: str) -> Ending:
    """Return the ending. Only people who answered get the completion code, unless they were excluded or left."""
    who, study = here.annotator, here.stage.study
    reach = [stage.pk for stage in stages_open_to(who)]
    counted = Slot.objects.filter(stage__in=reach, annotator=who, judgment__isnull=False).count()
    gave = Lease.objects.filter(annotator=who, task__stage__in=reach, state__in=[LeaseState.JUDGED, LeaseState.LATE])
    answered = bool(counted) or gave.exists()
    kind = _kind(state, answered)
    if kind:
        give_code(who, study, kind)
    code = code_of(study, kind)
    back, failed = back_to_prolific(who.prolific_pid, code), _failed(here) if state == "screened_out" else ""
    return Ending(PAGES.get(state, "stopped"), counted, answered, code, back, failed)


def _failed(here: Desk) -> str:
    last = here.seat.attempts.filter(passed=False).order_by("finished_at").last()
    return "practice" if last and last.kind == AttemptKind.PRACTICE else "questions"


def _kind(state: str, answered: bool) -> str:
    if answered and state in ("done", "closed", "screened_out"):
        return FINISHED
    return SCREENED_OUT if state == "screened_out" else ""


def code_of(study: Study, kind: str) -> str:
    codes = {FINISHED: study.completion_code, SCREENED_OUT: study.screened_out_code, NO_CONSENT: study.no_consent_code}
    return codes.get(kind, "")


def back_to_prolific(prolific_pid: str, code: str) -> str:
    return PROLIFIC_RETURN + quote(code, safe="") if prolific_pid and code else ""


@transaction.atomic
def give_code(annotator: Annotator, study: Study, kind: str) -> None:
    """Record which code the participant was shown, once per submission."""
    locked = Annotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)  # they may have been erased just now
    shown = {"kind": kind, "code": code_of(study, kind), "session": locked.prolific_session}
    mine = Event.objects.filter(subject=audit.named(annotator), verb=GIVEN)
    if not mine.filter(data__contains=shown).exists():
        audit.record(by="app", verb=GIVEN, subject=annotator, **shown)
