"""The order in which a stage with the strategy *audit* judges its items, fixed and hashed before the first judgment."""

from collections.abc import Iterable

from django.db.models import Q

from annotation.measures.audits import figures
from annotation.measures.audits.intervals import ALPHA
from annotation.measures.audits.order import sampling_order
from annotation.measures.audits.plan import Target, plan
from annotation.measures.audits.side_information import ALPHA_OF_RATIO
from annotation.models import Kind, Slot, Stage
from benchmarks import audit
from benchmarks.models import Item

DREW = "drew the audit's order"  # the verb of the event


def draw_order(stage: Stage, items: Iterable[int]) -> dict[int, int]:
    """Draw each item's place in the order, whose hash the stage keeps from now on. Empty if the stage already has an
    order: later items are not part of the audit.
    """
    found = Item.objects.filter(pk__in=list(items)).values_list("pk", "key", "type", "subtype")
    rows = {key: (pk, figures.stratum(type, subtype)) for pk, key, type, subtype in found}
    strata = {key: kind for key, (_, kind) in rows.items()} if is_stratified(stage) else None
    order = sampling_order(list(rows), stage.seed, strata)
    # If two transactions run at once, the second waits here and then finds the first one's order.
    if not Stage.objects.filter(pk=stage.pk, order_sha256="").update(order_sha256=order.sha256):
        return {}
    stage.order_sha256 = order.sha256
    audit.record(by="app", verb=DREW, subject=stage, items=len(rows), seed=stage.seed, sha256=order.sha256)
    return {rows[key][0]: place for place, key in enumerate(order.keys)}


def give_out_as_planned(stage: Stage) -> None:
    """Give out only the first items in the order, as many as the plan needs at most: while items wait for an
    adjudicator the audit cannot end, and judgments of later items may never count.
    """
    tasks = stage.tasks.filter(kind=Kind.JUDGE, live=True).order_by("rank")
    ranks = dict(reversed([(item, rank) for item, rank in tasks.values_list("item", "rank")]))
    first = sorted(ranks.values())  # each item's first task
    alpha = ALPHA if stage.scores_run is None or not stage.any_look else ALPHA_OF_RATIO
    most = plan(len(first), Target(stage.target_half_width, stage.target_bound, stage.any_look), alpha=alpha).most
    slots = Slot.objects.filter(stage=stage, judgment=None, task__kind=Kind.JUDGE, task__live=True)
    beyond = Q(task__rank__gte=first[most]) if most < len(first) else Q(pk=None)
    slots.filter(beyond, live=True).update(live=False)
    slots.exclude(beyond).filter(live=False).update(live=True)


def is_stratified(stage: Stage) -> bool:
    return figures.is_stratified({"stratify": stage.stratify, "any_look": stage.any_look})
