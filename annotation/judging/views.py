"""The annotator's pages. The token in the path identifies the annotator; no cookie or session is read or set here.

Every POST works as a plain form (it redirects back to the page) and, if JSON is requested, answers with what to show
next.
"""

import functools
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template import loader
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language, get_language_from_request, gettext, override
from django.views.decorators.cache import cache_control
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from django.views.i18n import JavaScriptCatalog

from annotation.assignment import leases as assignment_leases
from annotation.assignment import seats
from annotation.judging import next_step, submissions, two_tabs
from annotation.judging.completion import ending
from annotation.judging.constant_time import evenly
from annotation.judging.next_step import NextStep
from annotation.judging.submissions import Submission
from annotation.models import Instructions, Stage
from annotation.participants import lifecycle as participant_lifecycle
from annotation.permissions import Desk, desk, whole_number
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.registry import protocol_named
from annotation.screens import errors
from annotation.screens.screens import build_screens
from annotation.studies import markdown
from annotation.studies.instructions import text_in
from annotation.studies.instructions_images import pictures_in

View = Callable[..., HttpResponse]
private = cache_control(no_store=True, private=True)

# Fields that every page sends around an answer; all others belong to the answer.
ENVELOPE = {"lease", "key", "answer", "reason", "flag_reason", "cannot_judge", "active", "elapsed", "seen"}
ENVELOPE |= {"have", "ahead"}


def page(name: str, here: Desk | None = None, status: int = 200, **context) -> HttpResponse:
    """Render a page for annotators in their language without the request: no session, user or messages are read."""
    html = loader.get_template(f"judging/{name}.html").render({"desk": here, **context})
    return HttpResponse(html, status=status)


def text(sent: Mapping[str, str], name: str) -> str:
    """Return what was typed, without NUL, which PostgreSQL's text cannot hold."""
    return sent.get(name, "").replace("\0", "").strip()


def at_desk(view: View) -> View:
    """Pass the view the token's `Desk`; turn a refusal into a status and a sentence."""

    @csrf_exempt  # no cookie gives authority here, so nothing can be forged
    @private
    @functools.wraps(view)
    def found(request: HttpRequest, token: str) -> HttpResponse:
        here = desk(token)
        with override(here.annotator.language or get_language_from_request(request)):
            try:
                return view(request, here)
            except errors.Refused as refusal:
                return refused(request, refusal, _home(here))

    return found


def refused(request: HttpRequest, refusal: errors.Refused, home: str) -> HttpResponse:
    """Return the sentence with a link back to the judging page at `home`; as JSON, only the sentence."""
    if wants_json(request):
        return JsonResponse({"refused": str(refusal), "kind": type(refusal).__name__}, status=refusal.status)
    return page("refused", status=refusal.status, sentence=str(refusal), home=home)


def wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


# The page


@require_safe
@at_desk
@evenly
@transaction.atomic  # if the page fails, no screen stays claimed
def judge(request: HttpRequest, here: Desk) -> HttpResponse:
    """Show the page for the annotator's next step; as JSON, what to show next, except what the page already `have`s."""
    now = next_step.claim_next(here, _ahead(request.GET))
    if wants_json(request):
        total = next_step.total(here.annotator, here.stage)
        return JsonResponse({**_next(request.GET, here, now), "total": total})
    if now.state == "moved":
        return redirect("judge", here.annotator.token)
    if now.state == "consent":
        return page(
            "consent", here, study=here.stage.study, consent=markdown.to_html(here.stage.study.consent, level=3)
        )
    if now.state == "rules" or "rules" in request.GET:
        return _rules(request, here, reading=now.state != "rules")
    if now.state == "before":
        return redirect("judge-before", here.annotator.token)
    if now.state == "screen":
        return _screen_page(request, here, now)
    end = ending(here, now.state)
    return page(end.page, here, study=here.stage.study, end=end, **_where(here, now))


def _screen_page(request: HttpRequest, here: Desk, now: NextStep) -> HttpResponse:
    notice = gettext("Flagged. Thank you! You can still answer.") if "flagged" in request.GET else ""  # without script
    current, *rest = build_screens(next_step.with_previous_answers(now.leases, here.stage.protocol), here.stage)
    return page(
        "page", here, study=here.stage.study, protocol=protocol_named(here.stage.protocol), current=current, rest=rest,
        pace=next_step.pace(here.annotator, here.stage), link=_link(request, here), key=uuid.uuid4(), home=_home(here),
        notice=notice, **instructions_shown(here.stage, newest_instructions(here), 3), **_where(here, now),
    )  # fmt: skip


def _where(here: Desk, now: NextStep) -> dict:
    total = next_step.total(here.annotator, here.stage)
    return {"turn": now, "done": here.done, "total": total, "undo_key": uuid.uuid4()}


def _rules(request: HttpRequest, here: Desk, reading: bool) -> HttpResponse:
    """Show the gate or, if `reading`, the same words with a link back."""
    left = 0 if reading else max(next_step.total(here.annotator, here.stage) - here.done, 0)
    return page(
        "rules", here, study=here.stage.study, protocol=protocol_named(here.stage.protocol), reading=reading,
        total=left, minutes=next_step.minutes(left, left and next_step.pace(here.annotator, here.stage)),
        changed=here.seat.read_id is not None, link=_link(request, here),
        **instructions_shown(here.stage, newest_instructions(here), 2),
    )  # fmt: skip


def instructions_shown(stage: Stage, newest: Instructions, level: int) -> dict:
    """Return the instructions in the page's language, their headings from `level` on, and their version."""
    text, written = text_in(newest, get_language(), stage.study.language)
    rules = markdown.to_html(text, pictures_in(stage, text), level)
    return {"rules": rules, "written": written, "version": newest.version}


def newest_instructions(here: Desk) -> Instructions:
    return Instructions.objects.get(pk=here.newest)


def _home(here: Desk) -> str:
    return reverse("judge", args=[here.annotator.token])


def _link(request: HttpRequest, here: Desk) -> str:
    return request.build_absolute_uri(_home(here))


# The page's language


@require_POST
@at_desk
def language(request: HttpRequest, here: Desk) -> HttpResponse:
    chosen = request.POST.get("language", "")
    if chosen in dict(settings.LANGUAGES):
        participant_lifecycle.choose_language(annotator=here.annotator, language=chosen)
    return redirect("judge", here.annotator.token)


def in_language(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Make a page that is the same for everybody with the language in its address."""

    @require_safe
    @cache_control(max_age=3600, public=True)
    @functools.wraps(view)
    def found(request: HttpRequest, language: str) -> HttpResponseBase:
        if language not in dict(settings.LANGUAGES):
            raise Http404("There is no such language.")
        with override(language):
            return view(request, language)

    return found


@in_language
def words(request: HttpRequest, language: str) -> HttpResponseBase:
    """Return the texts of the judging scripts, as a script."""
    return JavaScriptCatalog.as_view(packages=["annotation"])(request)


# Without a connection

KEPT_OFFLINE = ["css/base.css", "css/judge.css"]
KEPT_OFFLINE += [f"js/judging/{name}.js" for name in ("offline", "outbox", "two-tabs", "say")]


@in_language
def offline(request: HttpRequest, language: str) -> HttpResponse:
    """Return the page that a browser keeps, to show when it cannot reach an annotator's page."""
    return page("offline")


@in_language
def offline_worker(request: HttpRequest, language: str) -> HttpResponse:
    """Return the service worker that keeps the page; it is registered only for the annotator's own address."""
    kept = [reverse(name, args=[language]) for name in ("judge-offline", "judge-words")] + list(
        map(static, KEPT_OFFLINE)
    )
    script = loader.get_template("judging/worker.js").render({"language": language, "kept": json.dumps(kept)})
    allowed = reverse("judge", args=["token"]).removesuffix("token/")
    return HttpResponse(script, content_type="text/javascript", headers={"Service-Worker-Allowed": allowed})


# Requests of the page


@require_POST
@at_desk
def accept(request: HttpRequest, here: Desk) -> HttpResponse:
    """Open the gate, unless newer instructions appeared in the meantime."""
    version = _whole(request.POST.get("version"))
    if newest_instructions(here).version == version:
        seats.accept_instructions(annotator=here.annotator, stage=here.stage, version=version)
    return redirect("judge", here.annotator.token)


@require_POST
@at_desk
@evenly
def submit(request: HttpRequest, here: Desk) -> HttpResponse:
    """Store an answer and claim the next screens in the same transaction."""
    store = _store if wants_json(request) else _store_from_form
    try:
        receipt, now = store(request, here, submission_of(request.POST))
    except errors.AnsweredElsewhere as conflict:
        return _which_answer(request, here, conflict)
    if wants_json(request):
        outcome = "surplus" if receipt.judgment.surplus else "replayed" if receipt.replayed else "saved"
        return JsonResponse({"receipt": outcome, **_next(request.POST, here, now, receipt.added)})
    return page("surplus", here) if receipt.judgment.surplus else redirect("judge", here.annotator.token)


def _store(request: HttpRequest, here: Desk, submission: Submission) -> tuple[submissions.Receipt, NextStep]:
    stopped = next_step.stopped_by(here)
    if stopped:
        return submissions.submit(annotator=here.annotator, submission=submission), NextStep(stopped)
    receipt, leases = submissions.submit_and_hold(
        annotator=here.annotator, stage=here.stage, wanted=_ahead(request.POST), submission=submission
    )
    return receipt, next_step.after_claim(here, leases)


def _store_from_form(request: HttpRequest, here: Desk, submission: Submission) -> tuple[submissions.Receipt, NextStep]:
    """Store an answer. Without script, *Back* shows a page with the key of its answer, which a different answer

    replaces. Its key is derived from the form, so a double click is one change.
    """
    try:
        receipt, now = _store(request, here, submission)
        if not receipt.replayed or submissions.is_newest(receipt.judgment):
            return receipt, now
    except errors.KeyReused:
        pass  # the same form with another answer
    sent = [submission.shown_answer, submission.reason, submission.more, submission.seen]
    key = uuid.uuid5(submission.key, json.dumps(sent, default=str))
    return _store(request, here, replace(submission, key=key, seen=submission.seen or submission.key))


def _which_answer(request: HttpRequest, here: Desk, conflict: errors.AnsweredElsewhere) -> HttpResponse:
    """Ask which of two answers should count; the script also gets the stored one, as the screen would show it."""
    question = two_tabs.question(here, conflict, request.POST)
    if not wants_json(request):
        return page("two_tabs", here, status=conflict.status, **question)
    html = loader.get_template("judging/_two_tabs.html").render({"desk": here, **question})
    stands = {"seen": conflict.stored.key, "answer": question["stands"]}
    answer = {"refused": str(conflict), "kind": type(conflict).__name__, "html": html, **stands}
    return JsonResponse(answer, status=conflict.status)


def submission_of(sent: QueryDict) -> Submission:
    """Read the fields of a judging page. Raises BadAnswer."""
    cannot = CANNOT_JUDGE in sent
    return Submission(
        token=uuid_of(sent.get("lease")),
        key=uuid_of(sent.get("key")),
        shown_answer=CANNOT_JUDGE if cannot else sent.get("answer", ""),
        reason=text(sent, "reason") if cannot else "",
        active_ms=_whole(sent.get("active")),
        elapsed_ms=_whole(sent.get("elapsed")),
        seen=uuid_of(sent.get("seen")) if sent.get("seen") else None,
        more={} if cannot else {name: text(sent, name) for name in sent if name not in ENVELOPE},
    )


@require_POST
@at_desk
@evenly
def skip(request: HttpRequest, here: Desk) -> HttpResponse:
    assignment_leases.skip(annotator=here.annotator, token=uuid_of(request.POST.get("lease")))
    if not wants_json(request):
        return redirect("judge", here.annotator.token)
    return JsonResponse(_next(request.POST, here, next_step.claim_next(here)))


@require_POST
@at_desk
@evenly
def undo(request: HttpRequest, here: Desk) -> HttpResponse:
    lease = submissions.undo(annotator=here.annotator, key=uuid_of(request.POST.get("undo_key")))
    if not wants_json(request):
        return redirect("judge", here.annotator.token)
    if lease.task.stage_id != here.stage.pk:
        return JsonResponse({"moved": True})  # that stage's page has other rules and another count
    again = build_screens([lease], here.stage)[0]
    done = assignment_leases.judged(here.annotator, here.stage)
    return JsonResponse({"again": {"lease": again.lease, "html": again.html()}, "done": done})


@require_POST
@at_desk
def flag(request: HttpRequest, here: Desk) -> HttpResponse:
    token = uuid_of(request.POST.get("lease"))
    submissions.flag(annotator=here.annotator, token=token, reason=text(request.POST, "flag_reason"))
    return JsonResponse({"flagged": True}) if wants_json(request) else redirect(f"{_home(here)}?flagged")


@require_POST
@at_desk
def renew(request: HttpRequest, here: Desk) -> HttpResponse:
    return JsonResponse({"held": assignment_leases.renew(annotator=here.annotator)})


@require_safe
@at_desk
def history(request: HttpRequest, here: Desk) -> HttpResponse:
    """Return the screens answered last, oldest first, each with its answer as shown."""
    leases = submissions.history(annotator=here.annotator)[::-1]
    shown = build_screens(leases, here.stage)
    seen = {lease.token: lease.seen for lease in leases}
    past = [{"lease": s.lease, "html": s.html(), "answer": s.picked, "seen": seen[s.lease]} for s in shown]
    return JsonResponse({"past": past})


# Answers


def _next(sent: QueryDict, here: Desk, now: NextStep, added: int = 0) -> dict:
    """Return the next step: `held` names every screen held, oldest first; `screens` has those the page lacks."""
    have = set(sent.getlist("have"))
    new = [lease for lease in now.leases if str(lease.token) not in have]
    return {
        "state": now.state,
        "held": [lease.token for lease in now.leases],
        "screens": [{"lease": screen.lease, "html": screen.html()} for screen in build_screens(new, here.stage)],
        "done": here.done + added,
    }


def _ahead(sent: QueryDict) -> int:
    """Return how many screens to hold: more if a page on a slow network requests them, within limits."""
    return min(max(_whole(sent.get("ahead")), assignment_leases.HELD), assignment_leases.HELD_AT_MOST)


def uuid_of(text: str | None) -> uuid.UUID:
    """Return the UUID. Raises BadAnswer."""
    try:
        return uuid.UUID(text or "")
    except ValueError:
        raise errors.BadAnswer(gettext("The request is incomplete. Reload the page and try again.")) from None


def _whole(text: str | None) -> int:
    """Return milliseconds or a version sent by a browser; 0 for anything else."""
    return whole_number(text, 11) or 0
