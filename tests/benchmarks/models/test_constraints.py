"""The constraints of WHAT is judged, each refusing what it is there to refuse."""

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from benchmarks.models import Benchmark, Caption, Image, Item, ItemImage, Job, Notification, Subscription
from tests.builders import studies

pytestmark = pytest.mark.django_db


def user() -> User:
    return User.objects.get_or_create(username="ana")[0]


BROKEN = {
    "benchmarks_benchmark_name_key": lambda one, two: Benchmark.objects.create(name=one.benchmark.name, source="jsonl"),
    "benchmarks_image_sha256_key": lambda one, two: Image.objects.update(sha256="0" * 64),
    "benchmarks_image_opaque_key": lambda one, two: Image.objects.update(opaque="0" * 32),
    "item_key_once": lambda one, two: Item.objects.update(key="same"),
    "item_position_once": lambda one, two: Item.objects.update(position=7),
    "caption_place_once": lambda one, two: Caption.objects.update(item=one),
    "caption_role_named": lambda one, two: Caption.objects.filter(item=one, role="positive").update(role="Neutral"),
    "item_image_place_once": lambda one, two: ItemImage.objects.update(position=0),
    "item_image_role_named": lambda one, two: ItemImage.objects.update(role="spare-1"),
    "item_image_crop_whole": lambda one, two: ItemImage.objects.update(crop=[5, 5, 0, 9]),
    "subscription_once": lambda one, two: [Subscription.objects.create(user=user(), kind="job") for _ in range(2)],
    "notification_once": lambda one, two: [
        Notification.objects.create(user=user(), kind="job", about="job:1") for _ in range(2)
    ],
    "job_state_known": lambda one, two: Job.objects.create(kind="import", title="t", state="lost"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_database_refuses(name):
    one, two = studies.benchmark(items=2).items.all()
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        BROKEN[name](one, two)


def test_every_constraint_has_its_test():
    models = (Benchmark, Item, Caption, ItemImage, Job, Subscription, Notification)
    declared = {constraint.name for model in models for constraint in model._meta.constraints}
    assert declared <= set(BROKEN)


@pytest.mark.parametrize("crop", [[], [1, 2, 3], [1, 2, 3, 4, 5], [-1, 0, 5, 5], [0, 0, 5, 0]])
def test_a_crop_has_four_numbers_that_make_a_box(crop):
    one = studies.benchmark(items=1).items.get()
    with pytest.raises(IntegrityError, match="item_image_crop_whole"), transaction.atomic():
        one.item_images.update(crop=crop)
    assert one.item_images.update(crop=[0, 0, 1, 1]) == 5
