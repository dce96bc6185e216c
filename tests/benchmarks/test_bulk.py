"""Rows written by COPY are those that `bulk_create` writes."""

import pytest
from django.db import IntegrityError, transaction
from django.forms import model_to_dict

from benchmarks import bulk
from benchmarks.models import Benchmark, Caption, Item, ItemImage
from tests.builders import studies

pytestmark = pytest.mark.django_db
HARD = "a\tb\\N\n“ü” 𝄞 \\"


def test_rows_are_as_the_orm_writes_them():
    image = studies.study(items=1).benchmark.items.get().item_images.first().image
    benchmark = Benchmark.objects.create(name="Two")
    written, copied = bulk.insert(
        Item(benchmark=benchmark, key=key, position=place, type="", meta={"a": HARD, "none": None})
        for place, key in enumerate([HARD, "b"])
    )
    stored = Item.objects.get(pk=written.pk)
    assert (stored.key, stored.meta, stored.withdrawn) == (HARD, {"a": HARD, "none": None}, False)
    assert written.pk < copied.pk and not written._state.adding

    def uses(item):
        return [
            ItemImage(item=item, image=image, role="positive", position=place, source_name=HARD, crop=crop)
            for place, crop in enumerate([[0, 0, 2, 1], None])
        ]

    bulk.insert(uses(written))
    ItemImage.objects.bulk_create(uses(copied))
    one, other = (
        [model_to_dict(use, exclude=["id", "item", "opaque"]) for use in item.item_images.order_by("position")]
        for item in (written, copied)
    )
    assert one == other
    Item(benchmark=benchmark, key="c", position=2).save()  # the next id is free


def test_what_the_database_refuses_is_its_own_error():
    item = studies.study(items=1).benchmark.items.get()
    taken = Caption(item=item, role="positive", position=0, text="Taken")
    Caption.objects.filter(item=item).delete()
    bulk.insert([taken])
    with pytest.raises(IntegrityError), transaction.atomic():
        bulk.insert([Caption(item=item, role="positive", position=0, text="Twice")])
    assert bulk.insert(Caption.objects.none()) == []
