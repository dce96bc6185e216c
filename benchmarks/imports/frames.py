"""Frames for images whose size would reveal their role, the same for all images of an item.

Generated images are often 512 × 512, photographs are not. So if an item's images differ in role or size, annotators get
a variant of each, under another name, with the same width, height and number of bytes throughout the item. Phones get
smaller copies of large images, framed or not, under the same names at another address; those of framed ones have the
same number of bytes again. All of these are made after an import, and a missing one on request. They can be recreated
from served images, so backups leave them out.
"""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, islice

from django.contrib.postgres.functions import RandomUUID
from django.db import transaction
from django.db.models import CharField, Q, QuerySet
from django.db.models.functions import MD5, Cast

from benchmarks import locks
from benchmarks.imports import staging
from benchmarks.imports.images import THREADS
from benchmarks.models import Benchmark, Item, ItemImage
from benchmarks.storage.files import kept
from workers import images

BATCH = 200  # items
log = logging.getLogger(__name__)


def make_missing_everywhere() -> None:
    """Make what an older version or a killed import left out. Does nothing while another worker does it."""
    with locks.alone("frames") as mine:
        for benchmark in Benchmark.objects.order_by("pk") if mine else ():
            make_missing(benchmark)


def make_missing(benchmark: Benchmark) -> int:
    """Make missing variants of the items; return for how many. Errors are logged: each is also made on request."""
    made = 0
    try:
        with staging.images_stay(), ThreadPoolExecutor(THREADS, thread_name_prefix="frames") as pool:
            wanted = _items_without(benchmark)
            while batch := list(islice(wanted, BATCH)):
                made += len(list(pool.map(_make, batch)))
    except Exception:
        log.exception("Could not frame the images of benchmark %s", benchmark.pk)
    return made


def _items_without(benchmark: Benchmark) -> Iterator[list[ItemImage]]:
    """Yield the images of each item that lacks a variant."""
    uses = ItemImage.objects.filter(item__benchmark=benchmark).select_related("image").order_by("item")
    exists = kept.lookup("framed", "small")
    for _, group in groupby(uses.iterator(chunk_size=1000), key=lambda use: use.item_id):
        one = list(group)
        if not all(map(exists, _paths(one))):
            yield one


def _paths(uses: list[ItemImage]) -> list[str]:
    """Return the paths of the variants that an item's images should have."""
    paths = [use.image.small_path for use in uses if images.small_size((use.image.width, use.image.height))]
    if not images.are_alike((use.role, use.image.width, use.image.height) for use in uses):
        paths += [use.framed_path for use in uses]
        if images.small_size(_frame(uses)):
            paths += [use.small_path for use in uses]
    return paths


def _frame(uses: list[ItemImage]) -> tuple[int, int]:
    return images.frame_size((use.image.width, use.image.height) for use in uses)


def make(opaque: str) -> bool:
    """Make the variants of the item with an image or variant of this name; return whether there is one, with files."""
    use = ItemImage.objects.filter(Q(opaque=opaque) | Q(image__opaque=opaque)).first()
    if use is None:
        return False
    try:
        _make(list(ItemImage.objects.filter(item=use.item_id).select_related("image")))
    except FileNotFoundError:
        return False
    return True


def _make(uses: list[ItemImage]) -> None:
    served = [kept.read(use.image.served_path) for use in uses]
    for use, content in zip(uses, served, strict=True):
        if images.small_size((use.image.width, use.image.height)) and not kept.exists(use.image.small_path):
            kept.write(use.image.small_path, images.smaller(content))
    if images.are_alike((use.role, use.image.width, use.image.height) for use in uses):
        return
    size = _frame(uses)
    framed = images.framed(served, size)
    for use, content in zip(uses, framed, strict=True):
        kept.write(use.framed_path, content)
    if images.small_size(size):
        for use, content in zip(uses, images.padded([images.smaller(one) for one in framed]), strict=True):
            kept.write(use.small_path, content)


def renew(items: QuerySet[Item]) -> None:
    """Give these items' variants new names because their images change, and delete the old variants."""
    uses = ItemImage.objects.filter(item__in=items)
    old = [path for use in uses.only("opaque") for path in (use.framed_path, use.small_path)]
    uses.update(opaque=MD5(Cast(RandomUUID(), CharField())))
    transaction.on_commit(lambda: kept.remove(old))
