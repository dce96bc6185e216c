"""A benchmark as needed for scoring: the contents of captions and images, some hundred items at a time."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.models import Benchmark, Caption, ItemImage
from benchmarks.predictions.plan import CAPTION_ROLES, IMAGE_ROLES, Place, kind_of
from benchmarks.runs.embeddings import of_text

CHUNK = 500  # items


@dataclass(slots=True)
class Material:
    """Contents (SHA-256) by place."""

    item: int
    key: str
    captions: dict[Place, str] = field(default_factory=dict)
    images: dict[Place, str] = field(default_factory=dict)


def kind(benchmark: Benchmark) -> str:
    """The benchmark's kind of evaluation."""
    captions = Caption.objects.filter(item__benchmark=benchmark).order_by().values_list("role", flat=True).distinct()
    images = ItemImage.objects.filter(item__benchmark=benchmark).order_by().values_list("role", flat=True).distinct()
    return kind_of(benchmark.source, captions, images)


def chunks(benchmark: Benchmark) -> Iterator[list[Material]]:
    """All items in their order."""
    after = -1
    while rows := list(
        benchmark.present.filter(position__gt=after).order_by("position").values_list("pk", "key", "position")[:CHUNK]
    ):
        yield filled({pk: Material(pk, key) for pk, key, _ in rows})
        after = rows[-1][2]


def filled(found: dict[int, Material]) -> list[Material]:
    captions = Caption.objects.filter(item__in=list(found), role__in=CAPTION_ROLES).order_by()
    for item, role, position, text in captions.values_list("item", "role", "position", "text"):
        found[item].captions[role, position] = of_text(text)
    images = ItemImage.objects.filter(item__in=list(found), role__in=IMAGE_ROLES).order_by()
    for item, role, position, content in images.values_list("item", "role", "position", "image__sha256"):
        found[item].images[role, position] = content
    return list(found.values())


def digest(benchmark: Benchmark, *facts: str) -> str:
    """A digest, equal for two runs that would give the same results for the same items; `facts`: further inputs."""
    found = hashlib.sha256(json.dumps(facts).encode())
    for chunk in chunks(benchmark):
        for one in chunk:
            found.update(json.dumps([one.item, sorted(one.captions.items()), sorted(one.images.items())]).encode())
    return found.hexdigest()
