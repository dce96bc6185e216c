"""The demo's items: their truth against an independent reader of captions, their pictures against their scenes."""

import io
from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from PIL import Image, ImageChops

from benchmarks.demo.claims import CLOSE, COLOURS, MOVES, SETTINGS, Claim, Phrase, distinct_colours
from benchmarks.demo.items import demo_benchmark, demo_item
from benchmarks.demo.painting import paint
from benchmarks.demo.scenes import SMALLEST, Scene, lay_out
from benchmarks.demo.shapes import SPRITES
from tests.benchmarks.demo.caption_reader import holds

ITEMS = [demo_item(number, seed) for seed in range(12) for number in range(35)]
HOSTED = {"table", "basket", "box"}


def captions(item) -> tuple[str, str]:
    return item.record.caption("positive"), item.record.caption("negative")


def pictures(item) -> tuple[Scene, list[Scene]]:
    """The positive picture's scene and those of the candidates."""
    positive, *candidates = (item.scenes[image.name] for image in item.record.images)
    return positive, candidates


def test_the_truth_is_what_an_independent_reader_finds():
    for item in ITEMS:
        _, candidates = pictures(item)
        found = [f"candidate-{n}" for n, scene in enumerate(candidates) if holds(captions(item)[1], scene)]
        assert item.record.truth["bivlc-choose"] == (found or ["none"]), captions(item)


def test_a_right_candidate_fits_the_positive_caption_only_if_the_negative_one_adds_something():
    for item in ITEMS:
        _, candidates = pictures(item)
        fitting = [scene for scene in candidates if holds(captions(item)[1], scene)]
        both = [holds(captions(item)[0], scene) for scene in fitting]
        added = item.record.type == "add"
        assert item.record.truth["bivlc-disambiguate"] == ["both" if added else "positive-0"]
        assert all(both) if added else not any(both), captions(item)


def test_the_positive_picture_fits_its_caption_and_not_the_negative_one():
    for item in ITEMS:
        positive, negative = captions(item)
        assert holds(positive, pictures(item)[0]), positive
        assert not holds(negative, pictures(item)[0]), negative


def test_all_seven_types_and_every_number_of_right_candidates_occur():
    assert {(item.record.type, item.record.subtype) for item in ITEMS} == set(MOVES)
    counts = Counter(sum(holds(captions(i)[1], s) for s in pictures(i)[1]) for i in ITEMS)
    assert set(counts) == {0, 1, 2, 3}
    assert 0.06 < counts[0] / len(ITEMS) < 0.2


def test_right_answers_are_about_equally_frequent_in_every_place():
    places = Counter(key for item in ITEMS for key in item.record.truth["bivlc-choose"] if key != "none")
    mean = sum(places.values()) / 4
    assert len(places) == 4
    assert all(abs(count - mean) < 0.25 * mean for count in places.values())


def test_candidates_are_sometimes_damaged_and_positive_pictures_never():
    damages = Counter(scene.damage for item in ITEMS for scene in pictures(item)[1])
    assert damages["smear"] > 10 and damages["cut"] > 10
    assert not any(pictures(item)[0].damage for item in ITEMS)


def test_things_are_in_the_frame_and_cover_nothing_but_their_hosts():
    for item in ITEMS:
        for scene in item.scenes.values():
            for thing in scene.things:
                assert thing.left >= 0 and thing.right <= 1 and thing.top >= 0 and thing.bottom <= 1
            for one, other in combinations(scene.things, 2):
                assert {one.kind, other.kind} & HOSTED or apart(one, other), captions(item)


def apart(one, other) -> bool:
    beside = one.right < other.left or other.right < one.left
    return beside or one.bottom < other.top or other.bottom < one.top


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_items():
    (one, first), (two, second), (three, _) = (demo_benchmark(3, seed) for seed in (7, 7, 8))
    assert one == two
    assert list(first.stream(first.names[:6])) == list(second.stream(second.names[:6]))
    assert three != one


def test_file_names_reveal_nothing_and_no_two_pictures_are_the_same():
    records, images = demo_benchmark(7, 1)
    assert [image.name for record in records for image in record.images] == list(images.names)
    assert all(len(name) == 20 and name.endswith(".jpg") for name in images.names)
    assert len({data for _, data in images.stream()}) == len(images.names) == 35


def test_a_picture_is_a_jpeg_without_metadata():
    _, images = demo_benchmark(1, 1)
    for _, data in images.stream(images.names[:2]):
        with Image.open(io.BytesIO(data)) as picture:
            assert (picture.format, picture.size, picture.mode) == ("JPEG", (512, 512), "RGB")
            assert not picture.getexif() and set(picture.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


@pytest.mark.parametrize("kind", SPRITES)
def test_a_thing_is_drawn_in_its_box_and_in_its_colour(kind):
    setting = next(name for name, layers in SETTINGS.items() if any(kind in layer.kinds for layer in layers))
    scene = lay_out(Claim(setting, (Phrase(kind, "red"),)), Random(1))
    thing = scene.things[0]
    with_it, without = paint(scene), paint(Scene(setting, (), scene.seed))
    left, top, right, bottom = ImageChops.difference(with_it, without).point(lambda v: 255 if v > 60 else 0).getbbox()
    box = [512 * value for value in (thing.left, thing.top, thing.right, thing.bottom)]
    assert all(abs(a - b) < 14 for a, b in zip((left, top, right, bottom), box, strict=True)), kind
    pixels = np.asarray(with_it.crop(tuple(map(round, box))), dtype=float)
    red = pixels[..., 0] > 1.6 * pixels[..., 1:].max(axis=2)
    assert red.mean() > 0.1


def test_colours_that_look_alike_are_never_contrasted():
    for colour in COLOURS:
        distinct = distinct_colours(colour)
        assert distinct and colour not in distinct
        assert not any({colour, other} in CLOSE for other in distinct)


def test_a_smear_and_a_cut_hide_their_part_and_nothing_else():
    broken = [scene for item in ITEMS for scene in pictures(item)[1] if scene.damage][:12]
    for scene in broken:
        whole = paint(Scene(scene.setting, scene.things, scene.seed))
        changed = ImageChops.difference(whole, paint(scene)).getbbox()
        left, top, right, bottom = (512 * value for value in scene.hidden)
        assert changed[0] >= left - 1 and changed[1] >= top - 1 and changed[2] <= right + 1 and changed[3] <= bottom + 1


def test_nothing_in_a_thousand_items_is_too_small_to_see():
    scenes = [scene for number in range(1000) for scene in demo_item(number, 5).scenes.values()]
    assert min(min(thing.width, thing.height) for scene in scenes for thing in scene.things) >= SMALLEST
