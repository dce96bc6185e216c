"""The pages for a study's items: a list to search, and one item through the stages."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotation import permissions
from annotation.dashboard import item_list, item_page, stage_progress
from annotation.pipeline.part import items_of
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.protocols.registry import protocol_named
from benchmarks import queries
from benchmarks.permissions import StaffRequest, may_change_benchmark, staff_only

PAGE = 25


@require_safe
@staff_only
def study_items(request: StaffRequest, pk: int) -> HttpResponse:
    """Handle `?q=cup&type=swap&stage=1&outcome=dropped&sort=key&page=3`; `?key=7` leads to that item's page."""
    study = permissions.study_for(request.user, pk)
    if "key" in request.GET:
        item = get_object_or_404(study.benchmark.items, key=request.GET["key"])
        return redirect("study-item", pk, item.position)
    stages = list(study.stages.order_by("position"))
    wanted = item_list.wanted_from_query(request.GET, stages)
    every = items_of(study)
    kinds = list(queries.kinds(every))
    found_items = queries.with_material(item_list.find(every, stages, wanted))
    page = Paginator(found_items, PAGE).get_page(request.GET.get("page"))
    items = list(page.object_list)
    found = item_list.outcomes(stages, items)
    reasons = [(name, f"dropped: {words}") for name, words in item_list.reasons(stages).items()]
    context = {
        "section": "studies", "study": study, "stages": stages, "wanted": wanted, "page": page,
        "lines": [(item_list.as_row(item), found[item.pk]) for item in items],
        "joined": stage_progress.has_people(study),
        "types": sorted({kind["type"] for kind in kinds} - {""}),
        "subtypes": sorted({kind["subtype"] for kind in kinds} - {""}),
        "stage_choices": [(stage.position, f"{stage.position} {stage.title}") for stage in stages],
        "outcomes": [
            (KEPT, "kept"), (OPEN, "open"), (DROPPED, "dropped"), *reasons, (item_list.ABSENT, "not in the stage"),
        ],
        "sorts": [
            ("order", "as imported"), ("key", "key"), ("type", "type"),
            *(item_list.SCORES.items() if item_list.scoring(stages) else ()),
        ],
    }  # fmt: skip
    return render(request, "dashboard/items.html", context)


@require_safe
@staff_only
def study_item(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Show an item, by its position in the benchmark, since a key may contain characters that an address may not."""
    study = permissions.study_for(request.user, pk)
    items = study.benchmark.items
    item = get_object_or_404(queries.with_material(items.all()), position=position)
    stages = list(study.stages.order_by("position"))
    context = {
        "section": "studies", "study": study, "item": item,
        "may_change": may_change_benchmark(request.user, study.benchmark),
        "visits": [(visit, protocol_named(visit.stage.protocol)) for visit in item_page.history(study, stages, item)],
        "earlier": items.filter(position__lt=position).order_by("-position").first(),
        "later": items.filter(position__gt=position).order_by("position").first(),
    }  # fmt: skip
    return render(request, "dashboard/item.html", context)
