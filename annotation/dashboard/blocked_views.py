"""The page of a stage's items that do not move: why, and what to do about it."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation import permissions
from annotation.figures import blocked_items
from annotation.models import Strategy
from benchmarks.permissions import staff_only

PAGE = 50


@require_safe
@never_cache
@staff_only
def study_stuck(request: HttpRequest, pk: int) -> HttpResponse:
    """`?stage=2&reason=gone&page=3`; of every reason where none is named."""
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""))
    found, reason = blocked_items.look(stage), request.GET.get("reason", "")
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "reckoned": found,
        "stages": stage.study.stages.order_by("position"), "named": stage.strategy == Strategy.NAMED,
    }  # fmt: skip
    if found.data:
        context |= blocked_items.told(found.data["counts"])
        reason = reason if reason in found.data["counts"] else ""
        rows = blocked_items.listed(found.data, reason)
        context |= {"reason": reason, "most": blocked_items.MOST, "listed": len(rows)}
        context["page"] = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    return render(request, "dashboard/blocked_items.html", context)
