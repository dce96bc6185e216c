"""Joining a study by an invitation (the study's own link, or that of one stage), consent, leaving and coming back."""

import base64
import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from annotation.assignment import seats
from annotation.judging import completion, next_step
from annotation.judging.views import at_desk, page, private, text
from annotation.models import Annotator, Stage, StageState, Study, StudyState
from annotation.participants import lifecycle as participant_lifecycle
from annotation.permissions import Desk, invited
from annotation.protocols.registry import PROTOCOLS
from annotation.studies.instructions import blocks
from benchmarks import audit

PROLIFIC = {"PROLIFIC_PID": "prolific_pid", "STUDY_ID": "prolific_study", "SESSION_ID": "prolific_session"}
LONGEST = 64  # of what Prolific sends


@csrf_exempt
@private
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, invite: str) -> HttpResponse:
    study, stage = invited(invite)
    given = {field: text(request.GET, field)[:LONGEST] for field in PROLIFIC if field in request.GET}
    known = _known(study, given.get("PROLIFIC_PID", ""))
    if known:
        ids = {PROLIFIC[field]: value for field, value in given.items() if field != "PROLIFIC_PID"}
        participant_lifecycle.arrive(annotator=known, stage=stage, by="invite", **ids)
        return redirect("judge", known.token)
    if study.state != StudyState.OPEN:
        return page("stopped", study=study)
    if request.method == "POST" and study.consent and request.POST.get("consent") == "no":
        return _not_agreed(study, text(request.POST, "PROLIFIC_PID"))
    if request.method == "POST" and (not study.consent or request.POST.get("consent") == "yes"):
        return redirect("judge", _joined(request, study, stage).token)
    return _invitation(study, stage, given)


def _known(study: Study, prolific_pid: str) -> Annotator | None:
    return study.annotators.filter(prolific_pid=prolific_pid).first() if prolific_pid else None


def _joined(request: HttpRequest, study: Study, stage: Stage | None) -> Annotator:
    who = {name: text(request.POST, field)[:LONGEST] for field, name in PROLIFIC.items()}
    key = text(request.POST, "key")
    if key:
        who["token"] = _token(study, key)
    consented_at = timezone.now() if study.consent else None
    name = text(request.POST, "name")[:120]
    return seats.join(study=study, stage=stage, by="invite", name=name, consented_at=consented_at, **who)


def _token(study: Study, key: str) -> str:
    """The annotator's token follows from the form's key, so that a double click makes one annotator; nobody else can
    work it out from the key.
    """
    digest = salted_hmac("annotation.join", f"{study.invite}/{key}", algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest[:18]).decode()


def _not_agreed(study: Study, prolific_pid: str) -> HttpResponse:
    """Nothing of the person is stored, only that somebody did not agree."""
    audit.record(by="invite", verb="did not agree", subject=study)
    code = completion.code_of(study, participant_lifecycle.NO_CONSENT) if prolific_pid else ""
    return page("no_consent", study=study, code=code, back=completion.back_to_prolific(prolific_pid, code))


def _invitation(study: Study, stage: Stage | None, given: dict[str, str]) -> HttpResponse:
    first = stage or study.stages.filter(state=StageState.OPEN).first() or study.stages.get(position=1)
    return page(
        "join", study=study, stage=first, protocol=PROTOCOLS[first.protocol], total=next_step.total(None, first),
        given=given, key=uuid.uuid4(), consent=blocks(study.consent),
    )  # fmt: skip


# Consent of somebody who has a link of their own


@require_POST
@at_desk
def consent(request: HttpRequest, here: Desk) -> HttpResponse:
    """Who does not agree leaves; their link lets them think again."""
    verbs = {"yes": participant_lifecycle.agree, "no": participant_lifecycle.leave}
    verb = verbs.get(request.POST.get("consent", ""))
    if verb is not None:
        verb(annotator=here.annotator, by=audit.named(here.annotator))
    return redirect("judge", here.annotator.token)


# Leaving, and coming back


@require_http_methods(["GET", "POST"])
@at_desk
def leave(request: HttpRequest, here: Desk) -> HttpResponse:
    """Asked first, also without script."""
    gone = here.annotator.left_at or here.annotator.excluded_at
    if request.method == "GET" and not gone:
        return page("leave", here, study=here.stage.study, done=here.done)
    if not gone:
        participant_lifecycle.leave(annotator=here.annotator, by=audit.named(here.annotator))
    return redirect("judge", here.annotator.token)


@require_POST
@at_desk
def come_back(request: HttpRequest, here: Desk) -> HttpResponse:
    participant_lifecycle.come_back(annotator=here.annotator, by=audit.named(here.annotator))
    return redirect("judge", here.annotator.token)
