"""A study's result, frozen for a job in which a model answers it: the items, images and captions of a release."""

from annotation.exports.items import OWN, ExportedItems
from annotation.figures.edit_names import edits_of
from annotation.models import Study
from annotation.protocols.decision_rule import KEPT
from benchmarks.models import ItemImage
from benchmarks.records import Problem, Refused
from benchmarks.runs.material import Result


def result_of(study: Study) -> Result:
    """Return the kept items with what people chose and wrote for them. Raises Refused if none is kept yet."""
    stages = list(study.stages.order_by("position"))
    items = ExportedItems(study, stages, edits_of(stages), ())
    kept = [item for item in items.in_order() if items.fates[item.pk].state == KEPT]
    if not kept:
        raise Refused([Problem("NOTHING_KEPT", "", None, "", "The study has kept nothing yet. Wait for its outcomes.")])
    chosen = {item.pk: item.negative for item in kept if item.negative != OWN}
    images = ItemImage.objects.filter(item__in=list(chosen), role="candidate").only("item", "role", "position")
    found = {(image.item_id, image.key): image.pk for image in images}
    return Result(
        study.pk,
        {item.pk: found[item.pk, chosen[item.pk]] if item.pk in chosen else None for item in kept},
        {item.pk: item.texts for item in kept if item.texts},
    )
