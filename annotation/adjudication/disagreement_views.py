"""The page that lists what annotators disagree about."""

import math
from functools import lru_cache

from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation import permissions
from annotation.adjudication import answers_shown, disagreement_list
from annotation.adjudication.disagreement_list import CASES, DIFFER, SORTS
from annotation.models import Stage
from annotation.protocols.registry import PROTOCOLS
from benchmarks import queries
from benchmarks.models import Item
from benchmarks.permissions import staff_only

PAGE = 24
PAGES = 100  # whoever looks further down sorts or filters otherwise: the database counts its way down to a page


@require_safe
@staff_only
def study_disagreements(request: HttpRequest, pk: int) -> HttpResponse:
    """`?stage=2&page=3`, and what `adjudication.disagreement_list.asked` reads."""
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""))
    wanted, page = disagreement_list.asked(request.GET), asked_page(request.GET.get("page", ""))
    most = PAGES * PAGE
    count = disagreement_list.total(stage, wanted, most)
    found = disagreement_list.listed(stage, PAGE, (page - 1) * PAGE, wanted)
    last = math.ceil(min(count, most) / PAGE)
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "protocol": PROTOCOLS[stage.protocol],
        "disagreements": answers_shown.as_seen(stage, found), "count": min(count, most), "more": count > most,
        "wanted": wanted, "list": wanted.link(), "said": disagreement_list.in_words(wanted),
        "tabs": [(one, wanted.link(stage=one.position)) for one in stage.study.stages.order_by("position")],
        "page": page, "last": last,
        "earlier": wanted.link(stage=stage.position, page=page - 1) if page > 1 else "",
        "later": wanted.link(stage=stage.position, page=page + 1) if page < last else "",
        **choices(stage),
    }  # fmt: skip
    return render(request, "adjudication/disagreements.html", context)


def asked_page(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and 0 < len(text) < 5 and 0 < int(text) <= PAGES else 1


def choices(stage: Stage) -> dict[str, object]:
    """What the filters offer."""
    benchmark = stage.study.benchmark_id
    kinds = kinds_of(benchmark, Item.objects.filter(benchmark=benchmark).aggregate(last=Max("position"))["last"])
    return {
        "sorts": SORTS.items(), "cases": CASES.items(),
        "differ": DIFFER.items() if PROTOCOLS[stage.protocol].alike else [],
        "types": sorted({kind for kind, _ in kinds} - {""}),
        "subtypes": sorted({subtype for _, subtype in kinds} - {""}),
    }  # fmt: skip


@lru_cache
def kinds_of(benchmark: int, last: int) -> list[tuple[str, str]]:
    """Types with subtypes. Items are never altered, so they hold until another `last` position is there."""
    return [(row["type"], row["subtype"]) for row in queries.kinds(Item.objects.filter(benchmark=benchmark))]
