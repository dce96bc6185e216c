"""What the parts of a stage's items say of themselves, for scores over an attribute. One query."""

import json
from collections import defaultdict

from annotation.models import Stage
from annotation.protocols.measuring import Attributes
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch

# By identity, as ItemRecord.attributes has them.
ATTRIBUTES = """
SELECT item.position, 'caption-' || part.role || '-' || part.position, part.attributes::text
FROM benchmarks_caption part JOIN benchmarks_item item ON item.id = part.item_id
WHERE item.benchmark_id = %(benchmark)s AND part.attributes <> '{}'
UNION ALL
SELECT item.position, part.role || '-' || part.position, part.attributes::text
FROM benchmarks_itemimage part JOIN benchmarks_item item ON item.id = part.item_id
WHERE item.benchmark_id = %(benchmark)s AND part.attributes <> '{}'
"""


def attributes_of(stage: Stage) -> dict[int, Attributes]:
    """By the item's position; {} where the stage's protocol names no attribute."""
    file = protocol_named(stage.protocol).file
    if file is None or not file.item.attributes:
        return {}
    found: dict[int, dict] = defaultdict(dict)
    for position, identity, said in fetch(ATTRIBUTES, benchmark=stage.study.benchmark_id):
        found[position][identity] = json.loads(said)
    return dict(found)
