"""Law 4: no byte that an annotator can get says what is right, what a file was called, or what others answered."""

import json
import re
import uuid
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.files.storage import default_storage
from PIL import Image as Drawing

from annotation.models import Lease
from benchmarks.models import Image, Item, ItemImage
from tests.builders import pictures, studies
from workers.images import check_and_render

pytestmark = pytest.mark.django_db
CANARY = "CANARY"
WORDS = ["candidate", "negative", "positive", "swap", "truth", CANARY.lower()]
JSON = {"HTTP_ACCEPT": "application/json"}


def told(number: int) -> bytes:
    """A picture whose EXIF, comment and XMP say which one it is."""
    exif = Drawing.Exif()
    exif[0x010E] = exif[0x9286] = f"{CANARY} positive {number}"  # ImageDescription, UserComment
    note = f"{CANARY} negative {number}".encode()
    return pictures.draw(number, exif=exif, comment=note, xmp=note) + note


@pytest.fixture
def annotator(db):
    """Every place where an item can tell of itself is planted; somebody else has answered before."""
    benchmark = studies.benchmark(items=6, name=f"{CANARY} benchmark", source=f"{CANARY}")
    told_truth = {"bivlc-choose": ["candidate-0"], "note": CANARY}
    for item in benchmark.items.all():
        Item.objects.filter(pk=item.pk).update(key=f"{CANARY}-{item.pk}", meta={"right": CANARY}, truth=told_truth)
    ItemImage.objects.update(source_name=f"{CANARY}_positive.jpg", licence=CANARY, attribution=CANARY)
    study = studies.study(benchmark=benchmark, name="A study", overlap=2)
    pictures.paint(study, [told(number) for number in range(30)])
    other = studies.annotator(study, name=f"{CANARY} Ada", prolific_pid=f"{CANARY}1")
    for _ in range(3):
        studies.judgment(other, study.stages.get(), "candidate-1")
    return studies.annotator(study, ready=False)


@pytest.fixture
def seen(client, annotator) -> dict[str, bytes]:
    """All that this annotator can get, by address: headers and body."""
    found = {}

    def take(answer) -> str:
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
        name = f"{answer.request['REQUEST_METHOD']} {answer.request['PATH_INFO']} {len(found)}"
        found[name] = headers.encode() + b"\n\n" + body
        return body.decode(errors="replace")

    home = f"/judge/{annotator.token}/"
    take(client.get(f"/join/{annotator.study.invite}/"))
    take(client.get(home))
    take(client.post(home + "accept/", {"version": 1}))
    for turn in range(6):
        page = take(client.get(home))
        lease = Lease.objects.filter(annotator=annotator, state="held").order_by("granted_at", "pk").first()
        fields = {"lease": lease.token, "key": uuid.uuid4(), "answer": "1"}
        if turn == 2:
            take(client.post(home + "flag/", {"lease": lease.token, "flag_reason": "Odd."}, **JSON))
            page += take(client.post(home + "skip/", {"lease": lease.token}, **JSON))
        else:
            page += take(client.post(home + "submit/", fields, **JSON))
        if turn == 1:
            page += take(client.post(home + "undo/", {"undo_key": uuid.uuid4()}, **JSON))
        for address in set(re.findall(r"/[it]/[0-9a-f]{32}\.jpg", page)):
            take(client.get(address))
            take(client.get(address.replace("/i/", "/t/")))
    for address in (home, home + "?rules", home + "history/"):
        take(client.get(address))
    take(client.get(home, **JSON))
    take(client.post(home + "submit/", {"lease": uuid.uuid4(), "key": uuid.uuid4(), "answer": "candidate-0"}, **JSON))
    take(client.post(home + "renew/", **JSON))
    take(client.get(home + "nowhere/"))
    return found


def leaks(found: dict[str, bytes]) -> list[str]:
    return [f"{word} in {name}" for name, body in found.items() for word in WORDS if word.encode() in body.lower()]


def test_the_canaries_are_really_planted(annotator):
    assert all(word.encode() in told(1).lower() for word in ("canary", "positive", "negative"))
    assert CANARY in Item.objects.first().key and Item.objects.filter(truth__note=CANARY).count() == 6


def test_nothing_that_an_annotator_gets_tells_the_answer(seen):
    pictures_seen = [name for name in seen if name.startswith("GET /i/")]
    assert len(pictures_seen) >= 20 and sum(name.startswith("POST") for name in seen) >= 8
    assert leaks(seen) == []


def test_served_pictures_carry_no_metadata(annotator):
    for image in Image.objects.all():
        for path in (image.served_path, image.thumbnail_path):
            picture = Drawing.open(default_storage.open(path))
            assert not picture.getexif() and not {"comment", "exif", "xmp", "icc_profile"} & set(picture.info)


def test_the_same_picture_under_two_names_is_served_as_the_same_bytes():
    one, two = check_and_render(told(1)), check_and_render(pictures.draw(1))
    assert one.served == two.served


def test_script_and_style_do_not_name_options():
    static = Path(finders.find("css/judge.css")).parents[1]
    for path in [*static.glob("js/judging/*.js"), *static.glob("css/judge*.css")]:
        text = path.read_text(encoding="utf-8").lower()
        assert not [word for word in WORDS if word in text], path


def test_neither_order_nor_tokens_follow_the_identity_of_options(client):
    """Over 60 screens every candidate stands at every place, and about as often."""
    stage = studies.stage(items=60)
    annotator = studies.annotator(stage.study)
    while studies.judgment(annotator, stage):
        pass
    shown = list(Lease.objects.values_list("shown", flat=True))
    first = [order[0] for order in shown]
    assert len({json.dumps(order) for order in shown}) > 15
    assert all(4 <= first.count(f"candidate-{number}") <= 30 for number in range(4))
