"""The demo: made once, by one command, through the import that everybody uses."""

from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Slot, Study, Task
from benchmarks.models import Benchmark, Image, Item

pytestmark = pytest.mark.django_db


def create_demo(**options) -> str:
    said = StringIO()
    call_command("create_demo", stdout=said, items=3, **options)
    return said.getvalue().strip()


def test_it_makes_a_benchmark_and_a_study_and_prints_the_way_in():
    path = create_demo()
    study = Study.objects.get()
    assert path == f"/join/{study.invite}/"
    assert (Item.objects.count(), Image.objects.count(), Task.objects.count(), Slot.objects.count()) == (3, 15, 3, 6)


def test_it_is_the_whole_pipeline():
    create_demo()
    stages = list(Study.objects.get().stages.values_list("name", flat=True))
    assert stages == ["choose", "disambiguate", "i2t", "t2i"]


def test_twice_is_once():
    assert create_demo() == create_demo()
    assert (Study.objects.count(), Benchmark.objects.count()) == (1, 1)


def test_a_run_that_ended_after_the_import_is_taken_up():
    create_demo()
    Study.objects.all().delete()
    create_demo()
    assert (Study.objects.count(), Benchmark.objects.count()) == (1, 1)


def test_every_item_knows_its_truth():
    create_demo()
    for item in Item.objects.prefetch_related("item_images"):
        keys = {use.key for use in item.item_images.all()} | {"none"}
        assert item.truth["bivlc-choose"] and set(item.truth["bivlc-choose"]) <= keys
