"""A benchmark, or a study’s result on it, as input for models: the contents of captions and images, a few hundred items
at a time.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from django.db.models import Q, QuerySet

from benchmarks.models import Benchmark, Caption, Item, ItemImage
from benchmarks.predictions.plan import C1 as NEGATIVE
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
    """Return the benchmark's kind of evaluation."""
    captions = Caption.objects.filter(item__benchmark=benchmark).order_by().values_list("role", flat=True).distinct()
    images = ItemImage.objects.filter(item__benchmark=benchmark).order_by().values_list("role", flat=True).distinct()
    return kind_of(benchmark.source, captions, images)


@dataclass(frozen=True, slots=True)
class Result:
    """A study's kept items when models are asked about it. `chosen`: by kept item, the negative image that people chose
    (its `ItemImage`), or None; `written`: by item and role, the captions that they wrote.
    """

    study: int
    chosen: Mapping[int, int | None]
    written: Mapping[int, Mapping[str, str]]

    def params(self) -> dict:
        """Return it for a job's parameters, JSON-able; `result_in` reads them."""
        return {"study": self.study, "result": {"chosen": self.chosen, "written": self.written}}

    def texts(self, items: Iterable[int] | None = None) -> dict[str, str]:
        """Return the captions written, for some items or all, by content."""
        found = self.written if items is None else (item for item in items if item in self.written)
        return {of_text(text): text for item in found for text in self.written[item].values()}


def result_in(params: Mapping) -> Result | None:
    """Return the result that a job is about; None if it is about a whole benchmark."""
    if "result" not in params:
        return None
    chosen, written = ({int(item): of for item, of in params["result"][name].items()} for name in ("chosen", "written"))
    return Result(params["study"], chosen, written)


@dataclass(frozen=True, slots=True)
class Scope:
    """The items for models: a benchmark's items that are not withdrawn, or a study's result among them."""

    benchmark: Benchmark
    result: Result | None = None

    @property
    def study(self) -> int | None:
        return self.result.study if self.result else None

    @property
    def items(self) -> QuerySet[Item]:
        found = self.benchmark.present
        return found.filter(pk__in=list(self.result.chosen)) if self.result else found

    def images(self) -> QuerySet[ItemImage]:
        """Return the images that scores need."""
        own = Q(item__benchmark=self.benchmark, role__in=IMAGE_ROLES, position=0)
        if self.result is None:
            return ItemImage.objects.filter(own)
        chosen = [image for image in self.result.chosen.values() if image]
        return ItemImage.objects.filter(own & Q(item__in=list(self.result.chosen)) | Q(pk__in=chosen))

    def captions(self) -> QuerySet[Caption]:
        """Return the imported captions that scores need."""
        found = Caption.objects.filter(item__benchmark=self.benchmark, role__in=CAPTION_ROLES)
        return found.filter(item__in=list(self.result.chosen)) if self.result else found

    def chunks(self) -> Iterator[list[Material]]:
        """Yield all items in order."""
        after = -1
        while rows := list(
            self.items.filter(position__gt=after).order_by("position").values_list("pk", "key", "position")[:CHUNK]
        ):
            found = {pk: Material(pk, key) for pk, key, _ in rows}
            _fill(found)
            if self.result:
                _put(self.result, found)
            yield list(found.values())
            after = rows[-1][2]

    def texts(self, items: Iterable[int]) -> dict[str, str]:
        """Return items' captions, imported and written, by content."""
        items = list(items)
        imported = Caption.objects.filter(item__in=items).order_by().values_list("text", flat=True).distinct()
        return {of_text(text): text for text in imported} | (self.result.texts(items) if self.result else {})

    def digest(self, *facts: str) -> str:
        """Return a digest, equal for two runs that would give the same results; `facts`: further inputs."""
        of_study = [f"study {self.result.study}"] if self.result else []
        found = hashlib.sha256(json.dumps([*facts, *of_study]).encode())
        for chunk in self.chunks():
            for one in chunk:
                found.update(json.dumps([one.item, sorted(one.captions.items()), sorted(one.images.items())]).encode())
        return found.hexdigest()


def _fill(found: Mapping[int, Material]) -> None:
    captions = Caption.objects.filter(item__in=list(found), role__in=CAPTION_ROLES).order_by()
    for item, role, position, text in captions.values_list("item", "role", "position", "text"):
        found[item].captions[role, position] = of_text(text)
    images = ItemImage.objects.filter(item__in=list(found), role__in=IMAGE_ROLES).order_by()
    for item, role, position, content in images.values_list("item", "role", "position", "image__sha256"):
        found[item].images[role, position] = content


def _put(result: Result, found: Mapping[int, Material]) -> None:
    """Fill in what people chose and wrote; the place of an image that no longer exists stays empty."""
    chosen = {item: image for item in found if (image := result.chosen[item])}
    contents = dict(ItemImage.objects.filter(pk__in=chosen.values()).values_list("pk", "image__sha256"))
    for item, image in chosen.items():
        found[item].images.pop(NEGATIVE, None)
        found[item].images |= {NEGATIVE: contents[image]} if image in contents else {}
    for item in result.written.keys() & found.keys():
        for role, text in result.written[item].items():
            found[item].captions[role, 0] = of_text(text)
