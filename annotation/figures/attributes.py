"""What a stage's items and their parts say of themselves, for right answers, groups and scores over an attribute."""

from annotation.models import Stage
from annotation.protocols import item_data
from annotation.protocols.base import Attributes
from annotation.protocols.registry import protocol_named
from benchmarks import queries
from benchmarks.models import Item

_AT_ONCE = 2_000  # items


def attributes_of(stage: Stage) -> dict[int, Attributes]:
    """By the item's position; {} where the stage's protocol asks for nothing of its items."""
    file = protocol_named(stage.protocol).file
    if file is None or not item_data.asks_items(file):
        return {}
    items = queries.with_material(Item.objects.filter(benchmark=stage.study.benchmark_id)).order_by("position")
    found = (
        (item.position, item_data.attributes_of(file, queries.record_of(item))) for item in items.iterator(_AT_ONCE)
    )
    return {position: said for position, said in found if said}
