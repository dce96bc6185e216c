"""Joining a study by an invitation (the study's own link, or that of one stage), consent, leaving and coming back."""

import base64
import json
import re
import uuid
from urllib.parse import unquote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import get_language_from_request, override
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from annotation.assignment import seats
from annotation.judging import completion, next_step
from annotation.judging.views import at_desk, page, private, text
from annotation.models import Annotator, Stage, StageState, Study, StudyState
from annotation.participants import lifecycle as participant_lifecycle
from annotation.participants import prolific
from annotation.permissions import Desk, invited
from annotation.protocols.registry import protocol_named
from annotation.studies import markdown
from benchmarks import audit
from benchmarks.accounts import limits

PROLIFIC = {"PROLIFIC_PID": "prolific_pid", "STUDY_ID": "prolific_study", "SESSION_ID": "prolific_session"}
COOKIE_AGE = 180 * 24 * 3600  # seconds


@csrf_exempt
@private
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, invite: str) -> HttpResponse:
    chosen = _chosen_language(request)
    with override(chosen or get_language_from_request(request)):
        return _join(request, *invited(invite), chosen)


def _chosen_language(request: HttpRequest) -> str:
    """Return the language chosen on this page, or "". It is in the address that every form here is posted to."""
    language = request.GET.get("language", "")
    return language if language in dict(settings.LANGUAGES) else ""


def _join(request: HttpRequest, study: Study, stage: Stage | None, language: str) -> HttpResponse:
    given = _given(request)
    in_link = (value or name for name, values in request.GET.lists() for value in values)
    if not prolific.is_filled_in(given) or any(map(prolific.is_placeholder, in_link)):
        return page("unfilled", status=400, study=study)
    prolific_pid = given.get("PROLIFIC_PID", "")
    if prolific_pid and (known := study.annotators.filter(prolific_pid=prolific_pid).first()):
        return _come_again(request, known, stage, given)
    if study.state != StudyState.OPEN:
        return page("stopped", study=study)
    if request.method == "POST" and study.consent and request.POST.get("consent") == "no":
        return _not_agreed(study, prolific_pid)
    if request.method == "POST" and (not study.consent or _agrees(request, study)):
        return _joined(request, study, stage, given, language)
    return _invitation(study, stage, given)


def _agrees(request: HttpRequest, study: Study) -> bool:
    """Return whether they agree to the current text; if their page showed an earlier one, they are asked again."""
    return (
        request.POST.get("consent") == "yes" and request.POST.get("text", study.consent_sha256) == study.consent_sha256
    )


def _given(request: HttpRequest) -> dict[str, str]:
    """Return what Prolific put into the link, by parameter; forms pass it on."""
    sent = {prolific.parameter(name): value for name, value in {**request.GET.dict(), **request.POST.dict()}.items()}
    return {field: text(sent, field) for field in PROLIFIC if field in sent}


def _come_again(request: HttpRequest, known: Annotator, stage: Stage | None, given: dict[str, str]) -> HttpResponse:
    """Return to the participant's page if the browser proves that it is theirs: others may know what is in the link.

    Only a POST stores another link or submission; if there is nothing to store, GET redirects at once.
    """
    ids = {PROLIFIC[field]: value for field, value in given.items() if field != "PROLIFIC_PID" and value}
    theirs = _is_theirs(request, known)
    if theirs and request.method == "POST":
        participant_lifecycle.arrive(annotator=known, stage=stage, by="invite", **ids)
    now = {name: getattr(known, name) for name in ids}
    if theirs and (request.method == "POST" or (stage == known.invited_to and ids == now)):
        return _to_desk(known)
    wrong = request.method == "POST" and not theirs
    status = 403 if wrong else 200
    return page("join_again", status=status, study=known.study, given=given, theirs=theirs, wrong=wrong)


def _is_theirs(request: HttpRequest, known: Annotator) -> bool:
    """Check for the cookie set when they joined, their own link typed in, or the form by which they joined. The
    invitation proves nothing, not even its submission: a filled-in link that somebody passes on would give everyone the
    same desk.
    """
    words = re.findall(r"[\w-]+", unquote(text(request.POST, "link")), re.ASCII)  # in any link to their pages
    proofs = [request.COOKIES.get(_cookie(known), ""), *words, _token(request, known.study)]
    token = known.token or ""  # imported annotators have none
    return bool(token) and any(constant_time_compare(token, proof) for proof in proofs)


def _cookie(annotator: Annotator) -> str:
    return f"study-{annotator.study_id}"


def _to_desk(annotator: Annotator) -> HttpResponse:
    """Redirect to the desk; a participant of Prolific who returns by everybody's link is recognised by a cookie."""
    response = redirect("judge", annotator.token)
    if annotator.prolific_pid and annotator.token:
        secure = settings.SESSION_COOKIE_SECURE
        response.set_cookie(
            _cookie(annotator), annotator.token, max_age=COOKIE_AGE, path="/join/", httponly=True, samesite="Lax",
            secure=secure,
        )  # fmt: skip
    return response


def _joined(
    request: HttpRequest, study: Study, stage: Stage | None, given: dict[str, str], language: str
) -> HttpResponse:
    who = {PROLIFIC[field]: value for field, value in given.items()}
    if token := _token(request, study):
        who["token"] = token
    clicked_twice = study.annotators.filter(token=who.get("token", "")).exists()
    if not clicked_twice and limits.too_many_join(request, study.pk):
        return page("too_many", status=429, study=study)
    consented_at = timezone.now() if study.consent else None
    try:
        made = seats.join(
            study=study, stage=stage, by="invite", name=_name(request), consented_at=consented_at, language=language,
            **who,
        )  # fmt: skip
    except seats.AlreadyJoined as taken:
        return _come_again(request, taken.annotator, stage, given)
    return _to_desk(made)


def _name(request: HttpRequest) -> str:
    return text(request.POST, "name")[:120]


def _token(request: HttpRequest, study: Study) -> str:
    """Derive the annotator's token from the form's key, so that a double click creates one annotator; nobody else can
    derive it from the key. "" without a key.

    It also depends on the person and the browser, so somebody else who sends the same form, say from a copy of the
    page, becomes another annotator. There is no cookie to compare: people who join by a plain link don't get one.
    """
    key, person = text(request.POST, "key"), [*_given(request).items(), _name(request)]
    if not key:
        return ""
    sent = json.dumps([study.invite, key, person, request.headers.get("User-Agent", "")])
    digest = salted_hmac("annotation.join", sent, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest[:18]).decode()


def _not_agreed(study: Study, prolific_pid: str) -> HttpResponse:
    """Record only that somebody did not agree, nothing about the person."""
    audit.record(by="invite", verb="did not agree", subject=study)
    code = completion.code_of(study, participant_lifecycle.NO_CONSENT) if prolific_pid else ""
    return page("no_consent", study=study, code=code, back=completion.back_to_prolific(prolific_pid, code))


def _invitation(study: Study, stage: Stage | None, given: dict[str, str]) -> HttpResponse:
    open_first = study.stages.filter(state=StageState.OPEN).first()
    if open_first is None:
        return page("stopped", study=study)
    first = stage or open_first
    total = next_step.total(None, first)
    return page(
        "join", study=study, stage=first, protocol=protocol_named(first.protocol), total=total,
        minutes=next_step.minutes(total, next_step.pace(None, first)),
        given=given, key=uuid.uuid4(), consent=markdown.to_html(study.consent, level=3),
    )  # fmt: skip


# Consent by somebody who has a personal link


@require_POST
@at_desk
def consent(request: HttpRequest, here: Desk) -> HttpResponse:
    """Ask for consent; people who do not agree leave, but can use their link again if they change their minds."""
    verbs = {"yes": participant_lifecycle.agree, "no": participant_lifecycle.leave}
    verb = verbs.get(request.POST.get("consent", ""))
    if verb is not None and (verb is participant_lifecycle.leave or _agrees(request, here.stage.study)):
        verb(annotator=here.annotator, by=audit.named(here.annotator))
    return redirect("judge", here.annotator.token)


# Leaving, and coming back


@require_http_methods(["GET", "HEAD", "POST"])
@at_desk
def leave(request: HttpRequest, here: Desk) -> HttpResponse:
    """Ask for confirmation before leaving, even without script."""
    gone = here.annotator.left_at or here.annotator.excluded_at
    if request.method != "POST" and not gone:
        return page("leave", here, study=here.stage.study, done=here.done)
    if not gone:
        participant_lifecycle.leave(annotator=here.annotator, by=audit.named(here.annotator))
    return redirect("judge", here.annotator.token)


@require_POST
@at_desk
def come_back(request: HttpRequest, here: Desk) -> HttpResponse:
    participant_lifecycle.come_back(annotator=here.annotator, by=audit.named(here.annotator))
    return redirect("judge", here.annotator.token)
