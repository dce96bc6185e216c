"""Try a stage without storing answers: its instructions, the judging page with its script, and what would be stored.
Drafts of protocol files are tried the same way (draft_views.py).

Nothing is written. The screens follow from the seed in the address (screens/trial.py), and a manager's answers
are in signed cookies in their browser, one per screen, since answers may be sent at the same time.
"""

import secrets
import time
import uuid
from collections.abc import Mapping
from typing import Any

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.template import loader
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import get_language_from_request, gettext, override
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from annotation import permissions
from annotation.judging.views import instructions_shown, refused, submission_of, uuid_of, wants_json
from annotation.models import Annotator, Lease, Role, Seat, Stage
from annotation.permissions import Desk
from annotation.protocols.answer_words import answer_in_words
from annotation.protocols.base import CANNOT_JUDGE, Protocol
from annotation.protocols.registry import protocol_named
from annotation.screens import errors
from annotation.screens.read_answer import parse_answer, screen_fields
from annotation.screens.screens import Screen, screens_under
from annotation.screens.trial import trial_leases
from benchmarks.permissions import StaffRequest, staff_only

SCREENS = 5
AHEAD = 2  # screens on the page, as in judging
HOUR = 3600
MOST_BYTES = 1400  # bytes per cookie; all are in one header, where servers accept up to 8,190
MOST_WORDS = 150  # characters of an answer on the last page


@require_safe
@staff_only
def study_try(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Show the instructions as annotators see them, and the link to the screens."""
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    seed = secrets.randbits(31)
    context = {"section": "studies", "stage": stage, "study": stage.study, "home": _home(stage, seed), "n": SCREENS}
    return render(request, "studies/try.html", {**context, **_instructions(stage)})


@require_safe
@staff_only
def study_try_screens(request: StaffRequest, pk: int, position: int, seed: int) -> HttpResponse:
    """Show the judging page, then what would have been stored; as JSON, the next step, as in `judging.views.judge`."""
    trial = _of_stage(request, pk, position, seed)
    if "rules" in request.GET:
        return redirect("study-try", pk, position)
    if found := screen_or_next(request, trial):
        return found
    context = {"section": "studies", "stage": trial.stage, "study": trial.stage.study, "rows": trial.rows()}
    return render(request, "studies/try_end.html", context)


@require_safe
@staff_only
def study_try_history(request: StaffRequest, pk: int, position: int, seed: int) -> HttpResponse:
    return history_of(request, _of_stage(request, pk, position, seed))


@csrf_exempt  # nothing to forge: only the visitor's own cookie changes
@require_POST
@staff_only
def study_try_act(request: StaffRequest, pk: int, position: int, seed: int, do: str) -> HttpResponse:
    return act(request, _of_stage(request, pk, position, seed), do)


def _of_stage(request: HttpRequest, pk: int, position: int, seed: int) -> "Trial":
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    leases = trial_leases(stage, seed, SCREENS)
    return Trial(request, stage, protocol_named(stage.protocol), leases, _home(stage, seed))


# Shared by trials of stages and of drafts (draft_views.py)


def screen_or_next(request: HttpRequest, trial: "Trial") -> HttpResponse | None:
    """Return the judging page; as JSON, the next step; None if everything is answered or the visitor ends the trial."""
    with override(get_language_from_request(request)):
        if wants_json(request):
            return JsonResponse(trial.next(request.GET))
        if trial.open and "end" not in request.GET:
            return HttpResponse(trial.page())
    return None


def history_of(request: HttpRequest, trial: "Trial") -> HttpResponse:
    with override(get_language_from_request(request)):
        answered = [trial.leases[place] for place in trial.answers if "fields" in trial.answers[place]]
        past = [
            {"lease": screen.lease, "html": screen.html(), "answer": screen.picked, "seen": uuid.uuid4()}
            for screen in trial.screens(answered)
        ]
    return JsonResponse({"past": past})


def act(request: HttpRequest, trial: "Trial", do: str) -> HttpResponse:
    """Submit, skip, undo, flag or renew; the changes are in the response's cookies."""
    acts = {
        "submit": trial.submit, "skip": trial.skip, "undo": trial.undo,
        "flag": lambda sent: {"flagged": True}, "renew": lambda sent: {"held": len(trial.held())},
    }  # fmt: skip
    if do not in acts:
        raise Http404("That action does not exist.")
    with override(get_language_from_request(request)):
        try:
            answer = acts[do](request.POST)
        except errors.Refused as refusal:
            return refused(request, refusal, trial.home)
    response = JsonResponse(answer) if wants_json(request) else redirect(trial.home)
    for place in trial.changed:
        name, kept = _cookie(place), trial.packed(place)
        response.set_cookie(
            name, kept, max_age=HOUR if kept else 0, path=trial.home, httponly=True, samesite="Lax",
            secure=request.is_secure(),
        )  # fmt: skip
    return response


class Trial:
    """A manager's trial of a stage, or of a draft, whose `stage` is not in the database.

    `answers`, by place among the `leases` and in the order given, has the answer's `label`, its `words` and, if there
    is room, its `fields`; for a skipped screen, nothing. `changed` has the places that an action has changed. Answers
    under another `salt` are ignored.
    """

    template = "studies/try_screen.html"

    def __init__(
        self, request: HttpRequest, stage: Stage, protocol: Protocol, leases: list[Lease], home: str, salt: str = ""
    ):
        self.stage, self.protocol, self.leases, self.home, self.salt = stage, protocol, leases, home, salt
        self.changed: set[int] = set()
        kept = {place: self._unpacked(place, request.COOKIES.get(_cookie(place), "")) for place in range(SCREENS)}
        given = sorted((answer["at"], place, answer) for place, answer in kept.items() if answer)
        self.answers = {place: answer for _, place, answer in given}

    @property
    def open(self) -> list[Lease]:
        return [lease for place, lease in enumerate(self.leases) if place not in self.answers]

    def held(self) -> list[Lease]:
        return self.open[:AHEAD]

    @property
    def done(self) -> int:
        return sum("label" in answer for answer in self.answers.values())

    def page(self) -> str:
        annotator = Annotator(study=self.stage.study, token=slugify(f"trial {self.home}"))
        current, *rest = self.screens(self.held())
        context = {
            "desk": Desk(annotator, self.stage, Seat(), self.done, 0), "study": self.stage.study, "home": self.home,
            "current": current, "rest": rest, "pace": 0,
            "done": self.done, "total": len(self.leases), "key": uuid.uuid4(), "undo_key": uuid.uuid4(),
            **self.instructions(),
        }  # fmt: skip
        return loader.get_template(self.template).render(context)

    def instructions(self) -> Mapping[str, Any]:
        return _instructions(self.stage)

    def screens(self, leases: list[Lease]) -> list[Screen]:
        for lease in leases:
            lease.previous = self.answers.get(self.leases.index(lease), {}).get("fields", {})
        return screens_under(leases, self.protocol, self.stage.study.language)

    def next(self, sent: QueryDict) -> dict:
        have = set(sent.getlist("have"))
        new = [lease for lease in self.held() if str(lease.token) not in have]
        return {
            "state": "screen" if self.open else "done",
            "held": [lease.token for lease in self.held()],
            "screens": [{"lease": screen.lease, "html": screen.html()} for screen in self.screens(new)],
            "done": self.done,
            "total": len(self.leases),
        }

    def submit(self, sent: QueryDict) -> dict:
        given = submission_of(sent)
        place, reason = self._place(given.token), given.reason
        lease, protocol = self.leases[place], self.protocol
        answer = parse_answer(lease, protocol, given.fields)
        if answer.label == CANNOT_JUDGE and not reason:
            raise errors.BadAnswer(gettext("Say in a few words why you cannot judge this."))
        words = reason or answer_in_words(protocol, answer)
        fields = screen_fields(lease, protocol, answer)
        self._answered(place, label=answer.label, words=words[:MOST_WORDS], fields=fields)
        return {"receipt": "saved", **self.next(sent)}

    def skip(self, sent: QueryDict) -> dict:
        self._answered(self._place(uuid_of(sent.get("lease"))))
        return self.next(sent)

    def undo(self, sent: QueryDict) -> dict:
        place = next((place for place, answer in reversed(self.answers.items()) if "label" in answer), None)
        if place is None:
            raise errors.NothingToUndo(gettext("There is no answer to undo."))
        [again] = self.screens([self.leases[place]])
        del self.answers[place]
        self.changed.add(place)
        return {"again": {"lease": again.lease, "html": again.html()}, "done": self.done}

    def rows(self) -> list[dict]:
        """Return each screen's item, and what would have been stored."""
        return [{"item": lease.task.item.key, **self.answers.get(place, {})} for place, lease in enumerate(self.leases)]

    def packed(self, place: int) -> str:
        """Return the screen's answer for its cookie, without its fields if that would be too long; "" if none."""
        answer = self.answers.get(place)
        if answer is None:
            return ""
        packed = signing.dumps(answer, salt=self._salt(place), compress=True)
        if len(packed) <= MOST_BYTES:
            return packed
        short = {name: value for name, value in answer.items() if name != "fields"}
        return signing.dumps(short, salt=self._salt(place), compress=True)

    def _unpacked(self, place: int, cookie: str) -> dict[str, Any]:
        try:
            return signing.loads(cookie, salt=self._salt(place), max_age=HOUR)
        except signing.BadSignature:
            return {}

    def _salt(self, place: int) -> str:
        return f"{self.home}{place}{self.salt}"

    def _answered(self, place: int, **answer: object) -> None:
        self.answers[place] = {"at": time.time(), **answer}
        self.changed.add(place)

    def _place(self, token: uuid.UUID) -> int:
        places = {lease.token: place for place, lease in enumerate(self.leases)}
        if token not in places:
            raise errors.UnknownLease(gettext("This screen is not yours, or it no longer exists."))
        return places[token]


def _cookie(place: int) -> str:
    return f"trial-{place}"


def _home(stage: Stage, seed: int) -> str:
    return reverse("study-try-screens", args=[stage.study_id, stage.position, seed])


def _instructions(stage: Stage) -> Mapping[str, Any]:
    shown = instructions_shown(stage, stage.instructions.latest("version"), 3)
    return {**shown, "protocol": protocol_named(stage.protocol)}
