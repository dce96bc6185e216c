"""Attributes of a stage's items and their parts, for right answers, groups and scores over an attribute."""

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from annotation.models import Stage
from annotation.protocols import item_data
from annotation.protocols.base import Attributes
from annotation.protocols.registry import protocol_named
from annotation.sql import fetch
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord

ITEMS = """
SELECT id, position, key, type, subtype, meta::text FROM benchmarks_item
WHERE benchmark_id = %(benchmark)s ORDER BY position
"""

# Whole roles, because positions are counted within them.
PARTS = """
SELECT part.item_id, part.role, part.{words}, part.attributes::text
FROM {table} part JOIN benchmarks_item item ON item.id = part.item_id
WHERE item.benchmark_id = %(benchmark)s AND (
    part.role = ANY(%(roles)s) OR part.role IN (
        SELECT said.role FROM {table} said JOIN benchmarks_item other ON other.id = said.item_id
        WHERE other.benchmark_id = %(benchmark)s AND said.attributes <> '{{}}'
    )
) ORDER BY part.item_id, part.role, part.position
"""


def attributes_of(stage: Stage) -> dict[int, Attributes]:
    """Return attributes by the item's position; {} if the stage's protocol needs none. Makes three queries."""
    file = protocol_named(stage.protocol).file
    if file is None or not item_data.asks_items(file):
        return {}
    of = {"benchmark": stage.study.benchmark_id, "roles": item_data.roles(file)}
    captions = _parts(PARTS.format(table="benchmarks_caption", words="text"), of, CaptionRecord)
    images = _parts(PARTS.format(table="benchmarks_itemimage", words="source_name"), of, ImageRecord)
    found = {}
    for pk, position, key, kind, subtype, meta in fetch(ITEMS, benchmark=of["benchmark"]):
        record = ItemRecord(key, kind, subtype, tuple(captions[pk]), tuple(images[pk]), meta=_from_json(meta))
        if said := item_data.attributes_of(file, record):
            found[position] = said
    return found


def _parts(query: str, of: dict[str, Any], kind: Callable[..., Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = defaultdict(list)
    for item, role, words, attributes in fetch(query, **of):
        found[item].append(kind(role, words, attributes=_from_json(attributes)))
    return found


def _from_json(text: str) -> Any:
    """Parse JSON quickly, since most objects in the database are empty."""
    return {} if text == "{}" else json.loads(text)
