"""The demo: made once, by one command, through the import that everybody uses."""

import io
from collections import Counter
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from PIL import Image as Pillow

from annotation.management.commands.create_demo import SCENES
from annotation.models import Slot, Study, Task
from benchmarks.formats import jsonl
from benchmarks.formats.base import ProblemLog
from benchmarks.models import Benchmark, Image, Item

ITEMS = list(jsonl.read_items(SCENES / "items.jsonl", ProblemLog()))
MOVES = ["replace obj", "replace att", "replace rel", "swap obj", "swap att", "add obj", "add att"]


def create_demo(items: int = 3) -> str:
    said = StringIO()
    call_command("create_demo", stdout=said, items=items)
    return said.getvalue().strip()


@pytest.mark.django_db
def test_it_makes_a_benchmark_of_known_answers_and_a_study_of_the_whole_pipeline_and_prints_the_way_in():
    path = create_demo()
    study = Study.objects.get()
    assert path == f"/join/{study.invite}/"
    assert (Item.objects.count(), Image.objects.count(), Task.objects.count(), Slot.objects.count()) == (3, 15, 3, 6)
    assert list(study.stages.values_list("name", flat=True)) == ["choose", "disambiguate", "i2t", "t2i"]
    for item in Item.objects.prefetch_related("item_images"):
        keys = {use.key for use in item.item_images.all()} | {"none"}
        assert item.truth["bivlc-choose"] and set(item.truth["bivlc-choose"]) <= keys


@pytest.mark.django_db
def test_twice_is_once_also_after_a_run_that_ended_after_the_import():
    assert create_demo() == create_demo()
    Study.objects.all().delete()
    create_demo()
    assert (Study.objects.count(), Benchmark.objects.count()) == (1, 1)


@pytest.mark.django_db
@pytest.mark.parametrize("items", [0, 61])
def test_more_items_than_there_are_and_none_are_refused(items):
    with pytest.raises(CommandError, match="choose from 1 to 60"):
        create_demo(items)


def test_every_move_and_every_number_of_right_candidates_occurs_at_every_place():
    assert Counter(f"{item.type} {item.subtype}" for item in ITEMS).keys() == set(MOVES)
    right = [item.truth["bivlc-choose"] for item in ITEMS]
    assert {0 if found == ["none"] else len(found) for found in right} == {0, 1, 2, 3}
    assert {key for found in right for key in found} == {*(f"candidate-{place}" for place in range(4)), "none"}
    for item in ITEMS:  # a negative caption that only adds something leaves the positive caption true
        assert item.truth["bivlc-disambiguate"] == ["both" if item.type == "add" else "positive-0"]


def test_each_picture_is_used_once_and_neither_its_name_nor_its_file_says_more_than_it_shows():
    names = [image.name for item in ITEMS for image in item.images]
    pictures = {path.name: path.read_bytes() for path in (SCENES / "pictures").iterdir()}
    assert sorted(names) == sorted(pictures) and len(set(pictures.values())) == len(names) == 300
    for name, data in pictures.items():
        with Pillow.open(io.BytesIO(data)) as picture:
            assert (len(name), picture.format, picture.size, picture.mode) == (21, "WEBP", (512, 512), "RGB")
            assert not picture.getexif() and "xmp" not in picture.info and "icc_profile" not in picture.info
