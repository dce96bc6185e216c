"""Law 4: nothing but its own pixels tells of an image on a screen whether it is the original or a generated one.

With real images: BiVLC's photographs have many sizes, and its generated images 512 × 512 pixels.
"""

import io
import re
from collections import defaultdict

import pytest
from PIL import Image as Drawing

from annotation.assignment import leases as assignment_leases
from annotation.models import Strategy
from annotation.protocols.registry import PROTOCOLS
from annotation.screens.screens import build_screens
from benchmarks.models import Benchmark, ItemImage
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord
from tests.builders import imports, real_material, studies

IMG = re.compile(r'<img src="([^"]+)" alt="[^"]+" width="(\d+)"\s+height="(\d+)"')
MIXED = ["bivlc-disambiguate", "bivlc-i2t", "bivlc-t2i", "verify"]  # both origins, on one screen or on two


def test_these_protocols_show_images_of_both_origins():
    captions = [CaptionRecord(role, "A cup.") for role in ("positive", "negative", "negative", "second_positive")]
    captions += [CaptionRecord("candidate", f"{number} cups.") for number in range(2)]
    images = [ImageRecord(role, role) for role in ("positive", "negative", "candidate", "candidate")]
    item = ItemRecord("one", "", "", tuple(captions), tuple(images))
    shown = {
        name: {part for task in protocol.tasks(item, {}) for part in (*task.shows, *task.options)}
        for name, protocol in PROTOCOLS.items()
    }
    assert sorted(name for name, parts in shown.items() if {"positive-0", "negative-0"} <= parts) == MIXED


@pytest.fixture
def pairs(real, tmp_path) -> Benchmark:
    """Five of BiVLC's items, each with its photograph and the generated image that was chosen."""
    items = real_material.bivlc_items(real / "data" / "bivlc")[:5]
    for item in items:
        [chosen] = item.pop("truth")["bivlc-choose"]
        original, *candidates = item["images"]
        item["images"] = [original, candidates[int(chosen[-1])] | {"role": "negative"}]
    return imported(items, real, tmp_path)


def imported(items, real, tmp_path) -> Benchmark:
    return imports.benchmark(*real_material.packed(items, real / "data", tmp_path))


def screens(benchmark: Benchmark, protocol: str) -> dict[str, list[tuple]]:
    """By item, all screens of a protocol: the address, width and height of each picture on them."""
    stage = studies.stage(benchmark=benchmark, protocol=protocol, strategy=Strategy.EVERYONE)
    leases = assignment_leases.hold(annotator=studies.annotator(stage.study), stage=stage, wanted=50)
    found = defaultdict(list)
    for lease, screen in zip(leases, build_screens(leases, stage), strict=True):
        found[lease.task.item.key] += IMG.findall(screen.html())
    return found


def received(client, address: str, *size: str) -> tuple:
    """All that a browser gets of a picture but its pixels."""
    answer = client.get(address)
    file = Drawing.open(io.BytesIO(answer.content)).size, len(answer.content)
    headers = {name: value for name, value in answer.headers.items() if name != "X-Request-Id"}
    return size, len(address), headers, file


@pytest.mark.real
@pytest.mark.django_db
def test_original_and_generated_images_differ_in_their_pixels_alone(pairs, client):
    for protocol in MIXED:
        shown = screens(pairs, protocol)
        assert len(shown) == 5 and all(len(set(pictures)) == 2 for pictures in shown.values())
        telling = {
            key: found
            for key, pictures in shown.items()
            if len(found := {repr(received(client, *picture)) for picture in pictures}) > 1
        }
        assert telling == {}, protocol


@pytest.mark.real
@pytest.mark.django_db
def test_candidates_of_one_size_stay_as_they_are_and_others_share_a_frame(real, tmp_path, client):
    """Of BiVLC's own, nobody gets smaller for the sake of a photograph that is not on the screen."""
    items = real_material.bivlc_items(real / "data" / "bivlc")[:3]
    items += real_material.coco_items(real / "data" / "coco_val2017")[:3]
    shown = screens(imported(items, real, tmp_path), "bivlc-choose")
    plain = {f"/i/{use.image.opaque}.jpg" for use in ItemImage.objects.select_related("image")}
    for key, pictures in shown.items():
        assert len({(width, height) for _, width, height in pictures}) == 1
        assert {address in plain for address, *_ in pictures} == {key.startswith("bivlc")}
        if key.startswith("coco"):
            assert len({repr(received(client, *picture)) for picture in pictures}) == 1


@pytest.mark.real
@pytest.mark.django_db
def test_the_names_of_framed_images_open_nothing_else(pairs, client):
    """A thumbnail would have the image's own shape."""
    for pictures in screens(pairs, "bivlc-t2i").values():
        for address, *_ in pictures:
            assert client.get(address.replace("/i/", "/t/")).status_code == 404
