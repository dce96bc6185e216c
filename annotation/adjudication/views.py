"""The adjudicator's pages: the list of disagreements, and a single case."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation import permissions
from annotation.adjudication import answers_shown, cases, decisions, desk, disagreement_list
from annotation.adjudication.desk import Waiting
from annotation.adjudication.disagreement_list import CASES, DIFFER, ONLY, SORTS, THREE, Listed, Wanted
from annotation.adjudication.own_answer import OwnAnswer
from annotation.models import Kind, Outcome, Stage, Task
from annotation.pipeline.stage_rules import rule_in_words
from annotation.protocols.base import Answer
from annotation.protocols.decision_rule import DAWID_SKENE, KEPT
from annotation.protocols.registry import protocol_named
from annotation.wording import counted, readable_label
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only

DECIDED = "decided"
BLINDING = {"hide_answers": True, "show_answers": False}  # buttons: whether the user adjudicates blind from then on
MOST_ALSO = 200  # cases decided in one request

PAGE = 12
PAGES = 100  # to see more, sort or filter differently: the database counts through all earlier pages


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_adjudicate(request: StaffRequest, pk: int) -> HttpResponse:
    """Handle `?stage=2`: the first waiting task, by default of the first stage with one; `task=`: that task;
    `show=decided`: adjudicators' decisions. With filters of the list of disagreements, go through that list instead.
    `note=` prefills the reason.

    A POST decides, or hides or shows how annotators answered, for as long as the user is logged in.
    """
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""), permissions.needed(request))
    if request.method != "POST":
        return _page(request, stage, cases.find_task(stage, permissions.row_id(request.GET.get("task"))))
    do = request.POST.get("do", "")
    task = cases.find_task(stage, permissions.row_id(request.POST.get("task")))
    if do in BLINDING:
        request.session[_blind_key(stage)] = BLINDING[do]
        return redirect(address(request, stage, task=task.pk if task else None))
    if task is None:
        return _page(request, stage, None, decisions.Refused("This item is no longer in this stage."))
    try:
        messages.success(request, _do(request, stage, task))
    except decisions.Refused as refusal:
        return _page(request, stage, task, refusal)
    OwnAnswer(request, stage, task).forget()
    back = task.pk if do in ("settle", "undo") else None
    return redirect(
        address(request, stage, task=back, next=None if back else permissions.row_id(request.POST.get("next")))
    )


def is_blind(request: StaffRequest, stage: Stage) -> bool:
    """Return whether the user has chosen to adjudicate this study without seeing annotators' answers."""
    return bool(request.session.get(_blind_key(stage)))


def _blind_key(stage: Stage) -> str:
    return f"adjudicates-blind-{stage.study_id}"


def address(request: StaffRequest, stage: Stage, **query: int | None) -> str:
    """Return the URL of the same page, on the same list."""
    wanted = followed(request)
    if wanted:
        kept = wanted.link(stage=stage.position, **query)
    else:
        named = {"stage": stage.position, **query, "show": request.GET.get("show")}
        kept = urlencode({name: value for name, value in named.items() if value})
    return f"{reverse('study-adjudicate', args=[stage.study_id])}?{kept}"


def followed(request: StaffRequest) -> Wanted | None:
    """Return the list of disagreements the request came from, if any."""
    return disagreement_list.wanted_from_query(request.GET) if "sort" in request.GET else None


def _do(request: StaffRequest, stage: Stage, task: Task) -> str:
    """Carry out the request and return a sentence with the result. Raises Refused."""
    do, by = request.POST.get("do", ""), audit.named(request.user)
    if do == "settle":
        return _settle(request, task)
    given: dict[str, Any] = {"by": by, "seen": request.POST.get("seen", "")}
    if do in ("withdraw", "undo"):
        decisions.withdraw(task=task, **given)
        stands = "the next estimate will decide" if stage.rule == DAWID_SKENE else "the decision rule applies again"
        return f"Decision withdrawn; {stands}."
    given |= {"note": request.POST.get("note", ""), "blind": "blind" in request.POST}
    if do == "send_back":
        decisions.send_back(task=task, **given)
        return "Sent back for one more judgment."
    flagged = request.POST.get("verdict") == decisions.FLAGGED
    answer = Answer("") if flagged else _answer(request, stage, task)
    given |= {
        "answer": answer.label, "content": answer.content, "reason": decisions.FLAGGED if flagged else "",
        "adjudicator": request.user, "settles": "settle_flags" in request.POST,
    }  # fmt: skip
    outcome = decisions.decide(task=task, **given)
    return f"Decided{_of_several(request, stage, given)}{_result(stage, outcome)}."


def _result(stage: Stage, outcome: Outcome | None) -> str:
    if outcome is None or (protocol_named(stage.protocol).measures and outcome.state == KEPT):
        return ""
    return ": kept" if outcome.state == KEPT else f": dropped, {readable_label(outcome.reason)}"


def _of_several(request: StaffRequest, stage: Stage, given: Mapping[str, Any]) -> str:
    """Decide the selected queued cases in the same way, each with its own event, skipping those that changed since they
    were shown. `also` has their tasks, each with its state as seen.
    """
    done, left = 1, 0
    for one in request.POST.getlist("also")[:MOST_ALSO]:
        pk, _, seen = one.partition(":")
        task = cases.find_task(stage, permissions.row_id(pk))
        try:
            done += bool(task and decisions.decide(**{**given, "task": task, "seen": seen}))
        except decisions.Refused:
            left += 1
    changed = f"; {counted(left, 'case')} left, changed meanwhile or not decidable like this" if left else ""
    return f" {done:,} items{changed}" if done + left > 1 else ""


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


def _page(
    request: StaffRequest, stage: Stage, task: Task | None, error: decisions.Refused | None = None
) -> HttpResponse:
    wanted, decided = followed(request), request.GET.get("show") == DECIDED
    stages = list(stage.study.stages.order_by("position"))
    undecided = cases.undecided(stages)
    if not request.GET.get("stage"):
        here = next((one.position for one in stages if undecided.get(one.pk)), 1)
        stage = permissions.stage_for(request.user, stage.study_id, here)
    count = undecided.get(stage.pk, 0)
    order: Listed | Waiting = Listed(stage, wanted) if wanted else Waiting(cases.queue(stage, decided), count)
    if task is None and not (error or request.GET.get("task")):
        task = Task.objects.filter(pk=order.first(permissions.row_id(request.GET.get("next")))).first()
    later, own = order.after(task), OwnAnswer(request, stage, task) if task else None
    case = cases.case(task, stage, request.POST, own.given) if task and own else None
    again_url = address(request, stage, task=task.pk if task else None)
    manages, blind = stage.study.may.manage, is_blind(request, stage)
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "protocol": protocol_named(stage.protocol),
        "rule": rule_in_words(stage), "case": case, "pictures": case.pictures if case else 0, "decided": decided,
        "blind": blind, "hidden": case and not case.adjudicated and blind,
        "reasons": cases.reasons_used(stage, request.user) if case and manages else {},
        "again_url": again_url, "list_url": address(request, stage),
        "error": error, "note": request.POST.get("note", request.GET.get("note", "")[:500]),
        "own_url": own.url_from(again_url) if own and manages else "",
        "picked": request.POST.get("verdict", cases.OWN_ANSWER),
        "later": later, "later_url": address(request, stage, next=later) if later else "",
        "gone": task is None and bool(request.GET.get("task")),
        "still_judged": stage.tasks.filter(kind=Kind.JUDGE, live=True, decided=None).exists,
        "stages": [(one, undecided.get(one.pk, 0)) for one in stages],
        "list": wanted.link(stage=stage.position) if wanted else "",
        "filters": disagreement_list.in_words(wanted) if wanted else "",
        **desk.beside(request.user, stage, task, order, link=partial(address, request, stage)),
    }  # fmt: skip
    page = "adjudication/adjudicate.html" if case else "adjudication/nothing.html"
    return render(request, page, context, status=error.status if error else 200)


# The list of disagreements


@require_safe
@staff_only
def study_disagreements(request: StaffRequest, pk: int) -> HttpResponse:
    """Handle `?stage=2&page=3`, and the parameters of `adjudication.disagreement_list.wanted_from_query`."""
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""))
    wanted = disagreement_list.wanted_from_query(request.GET)
    most = PAGES * PAGE
    drops = not protocol_named(stage.protocol).measures
    only = [one for one in ONLY if drops or one in ("", THREE, wanted.only)]
    counts = {one: disagreement_list.count_disagreements(stage, replace(wanted, only=one), most) for one in only}
    count = counts[wanted.only]
    last = math.ceil(min(count, most) / PAGE)
    page = max(1, min(permissions.row_id(request.GET.get("page")), last))
    found = disagreement_list.list_disagreements(stage, PAGE, (page - 1) * PAGE, wanted)
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "protocol": protocol_named(stage.protocol),
        "blind": is_blind(request, stage),
        "disagreements": answers_shown.as_seen(stage, found, drawn=is_blind(request, stage)),
        "count": min(count, most), "more": count > most,
        "only": [
            (one, ONLY[one], n, replace(wanted, only=one).link(stage=stage.position)) for one, n in counts.items()
        ],
        "most": most, "wanted": wanted, "list": wanted.link(), "filters": disagreement_list.in_words(wanted),
        "stages": [(one.position, f"{one.position} {one.title}") for one in stage.study.stages.order_by("position")],
        "page": page, "last": last,
        "sorts": SORTS.items(), "cases": CASES.items(),
        "differ": DIFFER.items() if protocol_named(stage.protocol).alike else [],
        **disagreement_list.types_of(stage),
    }  # fmt: skip
    return render(request, "adjudication/disagreements.html", context)
