"""The adjudicator's pages: the list of disagreements, and one of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation import permissions
from annotation.adjudication import answers_shown, cases, decisions, disagreement_list
from annotation.adjudication.disagreement_list import CASES, DIFFER, SORTS, Wanted
from annotation.adjudication.own_answer import OwnAnswer
from annotation.models import Stage, Task
from annotation.protocols.base import Answer
from annotation.protocols.decision_rule import DAWID_SKENE, KEPT
from annotation.protocols.registry import protocol_named
from annotation.wording import readable_label
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only

DECIDED = "decided"
BLINDING = {"hide_answers": True, "show_answers": False}  # buttons: whether the user adjudicates blind from now on

PAGE = 24
PAGES = 100  # to look further, sort or filter differently: the database has to count its way to a page


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_adjudicate(request: StaffRequest, pk: int) -> HttpResponse:
    """`?stage=2`: the first waiting task; `task=`: that task; `show=decided`: what adjudicators decided. With the
    filters of the list of disagreements, go through that list instead. `note=` prefills the reason.

    A POST decides, or hides or shows how annotators answered, for as long as the user is logged in.
    """
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""), permissions.needed(request))
    if request.method != "POST":
        return _page(request, stage, cases.find_task(stage, permissions.row_id(request.GET.get("task"))))
    task = cases.find_task(stage, permissions.row_id(request.POST.get("task")))
    if request.POST.get("do") in BLINDING:
        request.session[_blind_key(stage)] = BLINDING[request.POST["do"]]
        return redirect(address(request, stage, task=task.pk if task else None))
    if task is None:
        return _page(request, stage, None, "This item is no longer in this stage.", decisions.Refused.status)
    try:
        messages.success(request, _do(request, stage, task))
    except decisions.Refused as refusal:
        return _page(request, stage, task, str(refusal), refusal.status)
    OwnAnswer(request, stage, task).forget()
    back = task.pk if request.POST.get("do") == "settle" else None
    return redirect(
        address(request, stage, task=back, next=None if back else permissions.row_id(request.POST.get("next")))
    )


def is_blind(request: StaffRequest, stage: Stage) -> bool:
    """Whether the user has chosen to adjudicate this study without seeing how annotators answered."""
    return bool(request.session.get(_blind_key(stage)))


def _blind_key(stage: Stage) -> str:
    return f"adjudicates-blind-{stage.study_id}"


def address(request: StaffRequest, stage: Stage, **query: int | None) -> str:
    """The URL of the page again, on the same list."""
    wanted = followed(request)
    if wanted:
        kept = wanted.link(stage=stage.position, **query)
    else:
        named = {"stage": stage.position, **query, "show": request.GET.get("show")}
        kept = urlencode({name: value for name, value in named.items() if value})
    return f"{reverse('study-adjudicate', args=[stage.study_id])}?{kept}"


def followed(request: StaffRequest) -> Wanted | None:
    """The list of disagreements that the request came from, if any."""
    return disagreement_list.wanted_from_query(request.GET) if "sort" in request.GET else None


def _do(request: StaffRequest, stage: Stage, task: Task) -> str:
    """Carry out the request and return a sentence with the result. Raises Refused."""
    do, by = request.POST.get("do", ""), audit.named(request.user)
    if do == "settle":
        return _settle(request, task)
    given = {"task": task, "by": by, "seen": request.POST.get("seen", "")}
    if do == "withdraw":
        decisions.withdraw(**given)
        stands = "the next estimate will decide" if stage.rule == DAWID_SKENE else "the decision rule applies again"
        return f"Decision withdrawn; {stands}."
    given |= {"note": request.POST.get("note", ""), "blind": "blind" in request.POST}
    if do == "send_back":
        decisions.send_back(**given)
        return "Sent back for one more judgment."
    flagged = request.POST.get("verdict") == decisions.FLAGGED
    answer = Answer("") if flagged else _answer(request, stage, task)
    outcome = decisions.decide(
        **given, answer=answer.label, content=answer.content, reason=decisions.FLAGGED if flagged else "",
        adjudicator=request.user, settles="settle_flags" in request.POST,
    )  # fmt: skip
    if outcome is None or (protocol_named(stage.protocol).measures and outcome.state == KEPT):
        return "Decided."
    return "Decided: kept." if outcome.state == KEPT else f"Decided: dropped, {readable_label(outcome.reason)}."


def _answer(request: StaffRequest, stage: Stage, task: Task) -> Answer:
    if request.POST.get("verdict") == cases.OWN_ANSWER and (own := OwnAnswer(request, stage, task).given):
        return own
    return cases.answer_from_form(task, stage, request.POST)


def _settle(request: StaffRequest, task: Task) -> str:
    flag = permissions.flag_for(request.user, permissions.row_id(request.POST.get("flag")))
    if flag.lease.task_id != task.pk:
        raise decisions.Unfit("That flag belongs to another item.")
    decisions.settle_flag(flag=flag, by=audit.named(request.user), settled_by=request.user)
    return "The flag has been settled."


def _page(request: StaffRequest, stage: Stage, task: Task | None, error: str = "", status: int = 200) -> HttpResponse:
    wanted, decided = followed(request), request.GET.get("show") == DECIDED
    waiting = [] if wanted else cases.queue(stage, decided)
    order = disagreement_list.Listed(stage, wanted) if wanted else Waiting([pk for pk, _ in waiting])
    if task is None and not (error or request.GET.get("task")):
        task = Task.objects.filter(pk=order.first(permissions.row_id(request.GET.get("next")))).first()
    later, own = order.after(task), OwnAnswer(request, stage, task) if task else None
    case = cases.case(task, stage, request.POST, own.given) if task and own else None
    again_url = address(request, stage, task=task.pk if task else None)
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "protocol": protocol_named(stage.protocol),
        "case": case, "decided": decided,
        "blind": is_blind(request, stage), "hidden": case and not case.adjudicated and is_blind(request, stage),
        "last_reason": cases.last_reason(stage.study, request.user) if case and stage.study.may.manage else "",
        "again_url": again_url,
        "waiting": cases.how_many(len(waiting)), "tally": [] if decided else cases.tally(waiting),
        "error": error, "note": request.POST.get("note", request.GET.get("note", "")[:500]),
        "own_url": own.url_from(again_url) if own and stage.study.may.manage else "",
        "picked": request.POST.get("verdict", cases.OWN_ANSWER),
        "later": later, "later_url": address(request, stage, next=later) if later else "",
        "gone": task is None and bool(request.GET.get("task")), "stages": stage.study.stages.order_by("position"),
        "list": wanted.link(stage=stage.position) if wanted else "",
        "filters": disagreement_list.in_words(wanted) if wanted else "",
    }  # fmt: skip
    return render(request, "adjudication/adjudicate.html", context, status=status)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The tasks that wait for an adjudicator, in order; with the interface of disagreement_list.Listed."""

    order: Sequence[int]

    def first(self, asked: int) -> int:
        """The requested task if it is listed, otherwise the first; 0 if there is none."""
        return asked if asked in self.order else next(iter(self.order), 0)

    def after(self, task: Task | None) -> int:
        """The following task, or the first again; 0 if there is no other."""
        place = self.order.index(task.pk) if task and task.pk in self.order else -1
        others = [*self.order[place + 1 :], *self.order[: max(place, 0)]]
        return next(iter(others), 0)


# The list of disagreements


@require_safe
@staff_only
def study_disagreements(request: StaffRequest, pk: int) -> HttpResponse:
    """`?stage=2&page=3`, and the parameters of `adjudication.disagreement_list.wanted_from_query`."""
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""))
    wanted, page = (disagreement_list.wanted_from_query(request.GET), _page_number(request.GET.get("page", "")))
    most = PAGES * PAGE
    count = disagreement_list.count_disagreements(stage, wanted, most)
    found = disagreement_list.list_disagreements(stage, PAGE, (page - 1) * PAGE, wanted)
    last = math.ceil(min(count, most) / PAGE)
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "protocol": protocol_named(stage.protocol),
        "blind": is_blind(request, stage),
        "disagreements": answers_shown.as_seen(stage, found), "count": min(count, most), "more": count > most,
        "wanted": wanted, "list": wanted.link(), "filters": disagreement_list.in_words(wanted),
        "tabs": [(one, wanted.link(stage=one.position)) for one in stage.study.stages.order_by("position")],
        "page": page, "last": last,
        "earlier": wanted.link(stage=stage.position, page=page - 1) if page > 1 else "",
        "later": wanted.link(stage=stage.position, page=page + 1) if page < last else "",
        "sorts": SORTS.items(), "cases": CASES.items(),
        "differ": DIFFER.items() if protocol_named(stage.protocol).alike else [],
        **disagreement_list.types_of(stage),
    }  # fmt: skip
    return render(request, "adjudication/disagreements.html", context)


def _page_number(text: str) -> int:
    page = permissions.whole_number(text, 4) or 1
    return page if page <= PAGES else 1
