"""An adjudicator's answer on the annotators' page, used if answers are more than a choice of option.

It decides nothing by itself. It is kept in the adjudicator's session, and the adjudication page shows it beside the
annotators' answers.
"""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import override
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotation import permissions
from annotation.adjudication import cases
from annotation.judging.trial_views import Trial, act, screen_or_next
from annotation.models import Lease, Role, Stage, Task
from annotation.protocols.base import Answer
from annotation.protocols.registry import protocol_named
from annotation.screens import errors
from annotation.screens.read_answer import parse_answer
from annotation.screens.trial import lease_of
from benchmarks.permissions import StaffRequest, staff_only


class OwnAnswer(Trial):
    """A trial whose only screen is the task's. `kept` has the `answer`, whether the screen is `asked` again, and the
    address that the adjudicator came from (`back`).
    """

    template = "adjudication/own_answer.html"

    def __init__(self, request: HttpRequest, stage: Stage, task: Task):
        home = reverse("study-adjudicate-own", args=[stage.study_id, stage.position, task.pk])
        super().__init__(request, stage, protocol_named(stage.protocol), [lease_of(task, task.pk)], home)
        default = f"{reverse('study-adjudicate', args=[stage.study_id])}?stage={stage.position}&task={task.pk}"
        self.session, self.name = request.session, f"own-answer-{task.pk}"
        self.kept: dict[str, Any] = {"asked": True, "back": default, **self.session.get(self.name, {})}
        self.answers = {0: self.kept["answer"]} if "answer" in self.kept else {}

    @property
    def open(self) -> list[Lease]:
        return self.leases if self.kept["asked"] else []

    @property
    def done(self) -> int:
        return int(not self.kept["asked"])

    @property
    def given(self) -> Answer | None:
        """Return the answer if it still fits the task."""
        fields = self.answers.get(0, {}).get("fields")
        try:
            with override("en"):
                return parse_answer(self.leases[0], self.protocol, fields) if fields else None
        except (errors.BadAnswer, LookupError, ValueError):
            return None

    def url_from(self, address: str) -> str:
        """Return the URL to POST to for answering the task, with the adjudication page to return to; "" if that page
        lists every answer.
        """
        return f"{self.home}?{address.partition('?')[2]}" if self.protocol.form and self.protocol.made_from else ""

    def ask(self, back: str) -> None:
        """Show the screen again, with the answer given before."""
        self._keep(asked=True, back=back)

    def forget(self) -> None:
        self.session.pop(self.name, None)

    def _answered(self, place: int, **answer: object) -> None:
        self._keep(asked=False, **({"answer": answer} if answer else {}))  # a skipped screen has no answer

    def _keep(self, **kept: object) -> None:
        self.kept |= kept
        self.session[self.name] = self.kept


def _own(request: StaffRequest, pk: int, position: int, task: int) -> OwnAnswer:
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    found = cases.find_task(stage, task)
    if found is None:
        raise Http404("This item is no longer in this stage.")
    return OwnAnswer(request, stage, found)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_adjudicate_own(request: StaffRequest, pk: int, position: int, task: int) -> HttpResponse:
    """Show the annotators' page until the task is answered on it, then the adjudication page. A POST asks again; `back`
    is where it came from.
    """
    own = _own(request, pk, position, task)
    if not own.url_from(""):
        return redirect(own.kept["back"])
    if request.method == "POST":
        address = reverse("study-adjudicate", args=[pk])
        own.ask(f"{address}?{request.GET.urlencode()}" if request.GET else own.kept["back"])
        return redirect(own.home)
    if "rules" in request.GET:
        return redirect("study-try", pk, position)
    return screen_or_next(request, own) or redirect(own.kept["back"])


@csrf_exempt  # as in trials: it only changes the adjudicator's own session and decides nothing
@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_adjudicate_own_act(request: StaffRequest, pk: int, position: int, task: int, do: str) -> HttpResponse:
    own = _own(request, pk, position, task)
    return act(request, own, do) if request.method == "POST" else JsonResponse({"past": []})
