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


def test_it_makes_a_benchmark_of_known_answers_and_a_study_of_the_whole_pipeline_and_prints_the_way_in():
    path = create_demo()
    study = Study.objects.get()
    assert path == f"/join/{study.invite}/"
    assert (Item.objects.count(), Image.objects.count(), Task.objects.count(), Slot.objects.count()) == (3, 15, 3, 6)
    assert list(study.stages.values_list("name", flat=True)) == ["choose", "disambiguate", "i2t", "t2i"]
    for item in Item.objects.prefetch_related("item_images"):
        keys = {use.key for use in item.item_images.all()} | {"none"}
        assert item.truth["bivlc-choose"] and set(item.truth["bivlc-choose"]) <= keys


def test_twice_is_once_also_after_a_run_that_ended_after_the_import():
    assert create_demo() == create_demo()
    Study.objects.all().delete()
    create_demo()
    assert (Study.objects.count(), Benchmark.objects.count()) == (1, 1)
