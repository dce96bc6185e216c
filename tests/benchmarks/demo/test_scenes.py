"""The demo's scenes: their truth against a second opinion, their pictures against their scenes."""

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


def test_the_stated_truth_is_what_a_second_reading_finds():
    for item in ITEMS:
        _, candidates = pictures(item)
        found = [f"candidate-{n}" for n, scene in enumerate(candidates) if holds(captions(item)[1], scene)]
        assert item.record.truth["bivlc-choose"] == (found or ["none"]), captions(item)


def test_a_picture_that_fits_the_negative_caption_fits_the_positive_one_too_where_something_was_added_alone():
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


def test_a_right_candidate_does_not_fit_the_positive_caption_unless_something_was_added():
    for item in ITEMS:
        if item.record.type != "add":
            right = [s for s in pictures(item)[1] if holds(captions(item)[1], s)]
            assert not any(holds(captions(item)[0], scene) for scene in right), captions(item)


def test_all_seven_kinds_and_every_count_of_right_candidates_come():
    assert {(item.record.type, item.record.subtype) for item in ITEMS} == set(MOVES)
    counts = Counter(sum(holds(captions(i)[1], s) for s in pictures(i)[1]) for i in ITEMS)
    assert set(counts) == {0, 1, 2, 3}
    assert 0.06 < counts[0] / len(ITEMS) < 0.2


def test_right_answers_stand_in_every_place_about_equally():
    places = Counter(key for item in ITEMS for key in item.record.truth["bivlc-choose"] if key != "none")
    mean = sum(places.values()) / 4
    assert len(places) == 4
    assert all(abs(count - mean) < 0.25 * mean for count in places.values())


def test_broken_pictures_are_among_the_candidates_and_never_the_positive():
    damages = Counter(scene.damage for item in ITEMS for scene in pictures(item)[1])
    assert damages["smear"] > 10 and damages["cut"] > 10
    assert not any(pictures(item)[0].damage for item in ITEMS)


def test_nothing_covers_what_it_should_not_and_all_is_in_the_frame():
    for item in ITEMS:
        for scene in item.scenes.values():
            for thing in scene.things:
                assert thing.left >= 0 and thing.right <= 1 and thing.top >= 0 and thing.bottom <= 1
            for one, other in combinations(scene.things, 2):
                assert {one.kind, other.kind} & HOSTED or apart(one, other), captions(item)


def apart(one, other) -> bool:
    beside = one.right < other.left or other.right < one.left
    return beside or one.bottom < other.top or other.bottom < one.top


def test_the_same_seed_draws_the_same_bytes_and_another_seed_others():
    (one, first), (two, second), (three, _) = (demo_benchmark(3, seed) for seed in (7, 7, 8))
    assert one == two
    assert list(first.stream(first.names[:6])) == list(second.stream(second.names[:6]))
    assert three != one


def test_names_tell_nothing_and_no_two_pictures_are_the_same():
    records, images = demo_benchmark(7, 1)
    assert [image.name for record in records for image in record.images] == list(images.names)
    assert all(len(name) == 20 and name.endswith(".jpg") for name in images.names)
    assert len({data for _, data in images.stream()}) == len(images.names) == 35


def test_a_picture_is_a_plain_jpeg_without_metadata():
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


def test_colours_that_look_alike_never_stand_against_each_other():
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


def test_a_thousand_items_are_laid_out_with_nothing_too_small_to_see():
    scenes = [scene for number in range(1000) for scene in demo_item(number, 5).scenes.values()]
    assert min(min(thing.width, thing.height) for scene in scenes for thing in scene.things) >= SMALLEST
