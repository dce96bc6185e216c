"""Law 4: no byte that an annotator can get says what is right, what a file was called, or what others answered."""

import json
import re
import uuid
from pathlib import Path
from random import Random

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.core.files.storage import default_storage
from django.utils import timezone
from PIL import Image as Drawing

from annotation.assignment import leases
from annotation.checks import attention_checks, gold_items, qualification
from annotation.checks.parsing import Known
from annotation.designs.plan import StagePlan
from annotation.judging import constant_time, submissions
from annotation.models import Kind, Lease, Seat, Task
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.registry import PROTOCOLS
from benchmarks.models import Caption, Image, Item, ItemImage
from tests.builders import declared, every_protocol, pictures, predictions, studies
from workers.images import check_and_render

pytestmark = pytest.mark.django_db
CANARY = "CANARY"
WORDS = ["candidate", "negative", "positive", "swap", "truth", CANARY.lower()]
OF_PAGES = [*WORDS, "original", "caption-", "i2t", "t2i"]  # three bytes may well be in a picture
JSON = {"HTTP_ACCEPT": "application/json"}


def told(number: int) -> bytes:
    """A picture whose EXIF, comment and XMP say which one it is."""
    exif = Drawing.Exif()
    exif[0x010E] = exif[0x9286] = f"{CANARY} positive {number}"  # ImageDescription, UserComment
    note = f"{CANARY} negative {number}".encode()
    return pictures.draw(number, 200, 200, exif=exif.tobytes(), comment=note, xmp=note) + note


@pytest.fixture
def annotator(request, db):
    """Every place where something must stay on the server has the canary; somebody else has answered before.

    Where the protocol allows it there are checks, from another benchmark, and a screen of practice.
    """
    protocol = getattr(request, "param", "bivlc-choose")
    owner = User.objects.create(username=f"{CANARY} owner", is_staff=True)
    counts = (5 if PROTOCOLS[protocol].confirms else 3), 2  # there one judges an item
    benchmark, others = (every_protocol.benchmark(n, name=f"{CANARY} {n}", source=CANARY) for n in counts)
    plan = StagePlan(protocol, f"{CANARY} stage", settings=settings_of(protocol))
    study = studies.study(benchmark=benchmark, name="A study", stages=[plan], created_by=owner)
    stage = study.stages.get()
    if protocol in every_protocol.CHECKED:
        *known, practice = others.items.all()
        attention_checks.set_checks(stage=stage, answers={item: [] for item in known}, by=CANARY)
        gold_items.set_known(stage=stage, kind=Kind.PRACTICE, known={practice: Known((), "Well.")}, by=CANARY)
        Task.objects.filter(kind=Kind.CHECK).update(note=CANARY)
    for item in Item.objects.all():
        truth = item.truth | {"note": CANARY}
        Item.objects.filter(pk=item.pk).update(key=f"{CANARY}-{item.pk}", meta={"right": CANARY}, truth=truth)
    Item.objects.update(type=f"{CANARY} swap", subtype=CANARY)
    ItemImage.objects.update(source_name=f"{CANARY}_positive.jpg", licence=CANARY, attribution=CANARY)
    for parts in (Caption, ItemImage):
        parts.objects.update(attributes={"canary": CANARY})
    for one in (benchmark, others):
        pictures.paint_benchmark(one, [told(number % 6) for number in range(30)])
    predictions.model(benchmark, {item: predictions.bivlc() for item in benchmark.items.all()}, f"{CANARY} model")
    other, rng = studies.annotator(study, name=f"{CANARY} Ada", prolific_pid=f"{CANARY}1"), Random(1)
    Seat.objects.filter(annotator=other).update(ready_at=timezone.now())
    for turn in range(2):
        lease = leases.hold(annotator=other, stage=stage, wanted=1)[0]
        submissions.flag(annotator=other, token=lease.token, reason=CANARY)
        fields = every_protocol.answer(rng, lease, PROTOCOLS[protocol])
        given = {"shown_answer": fields.pop("answer", ""), "more": fields}
        reason = {"shown_answer": CANNOT_JUDGE, "reason": CANARY, "more": {}} if turn == 1 else given
        submission = submissions.Submission(token=lease.token, key=uuid.uuid4(), **reason)
        submissions.submit(annotator=other, submission=submission)
    who = studies.annotator(study, ready=False)
    who.token, study.invite = "0" * 24, "1" * 24  # of random letters, three may well be "i2t"
    who.save(update_fields=["token"])
    study.save(update_fields=["invite"])
    return who


def settings_of(protocol: str) -> dict:
    if protocol in every_protocol.CHECKED:
        return {"overlap": 2, "check_rate": 0.3}
    return {} if PROTOCOLS[protocol].confirms else {"overlap": 2}


@pytest.fixture
def seen(client, annotator, monkeypatch) -> dict[str, bytes]:
    """All that this annotator can get, by address: headers, cookies and body."""
    monkeypatch.setattr(constant_time, "STEP", 0.001)  # seconds
    found, rng, protocol = {}, Random(2), PROTOCOLS[annotator.stage.protocol]

    def take(answer) -> str:
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items()) + answer.cookies.output()
        name = f"{answer.request['REQUEST_METHOD']} {answer.request['PATH_INFO']} {len(found)}"
        found[name] = headers.encode() + b"\n\n" + body
        return body.decode(errors="replace")

    home = f"/judge/{annotator.token}/"
    take(client.get(f"/join/{annotator.study.invite}/"))
    take(client.get(home))
    page = take(client.post(home + "accept/", {"version": 1})) + take(client.get(home + "before/"))
    while qualification.wanted(annotator.stage) and not Seat.objects.get(annotator=annotator).ready_at:
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
        for more in ({"answer": re.findall(r'name="answer" value="(\w+)"', page)[-1]}, {"go_on": "1"}):
            take(client.post(home + "before/", fields | more))
            page += take(client.get(home + "before/"))
    page += take(client.get(home))
    for turn in range(3):
        lease = Lease.objects.filter(annotator=annotator, state="held").order_by("granted_at", "pk").first()
        fields = {"lease": lease.token, "key": uuid.uuid4(), **every_protocol.answer(rng, lease, protocol)}
        if turn == 2:
            take(client.post(home + "flag/", {"lease": lease.token, "flag_reason": "Odd."}, **JSON))
            page += take(client.post(home + "skip/", {"lease": lease.token}, **JSON))
        else:
            page += take(client.post(home + "submit/", fields, **JSON))
        if turn == 1:
            page += take(client.post(home + "undo/", {"undo_key": uuid.uuid4()}, **JSON))
    for address in set(re.findall(r"/[ist]/[0-9a-f]{32}\.jpg", page)):
        take(client.get(address))
        take(client.get(address.replace("/i/", "/t/")))
    for address in (home, home + "?rules", home + "history/"):
        take(client.get(address))
    take(client.get(home, **JSON))
    take(client.post(home + "submit/", {"lease": uuid.uuid4(), "key": uuid.uuid4(), "answer": "candidate-0"}, **JSON))
    take(client.post(home + "renew/", **JSON))
    take(client.get(home + "nowhere/"))
    take(client.get(home + "leave/"))
    take(client.post(home + "leave/"))
    take(client.get(home))
    return found


def leaks(found: dict[str, bytes]) -> list[str]:
    """The label of a choice is left out: to keep sentence C as it was, beside what somebody made of it."""
    return [
        f"{word} in {name}"
        for name, body in found.items()
        for word in (WORDS if name.startswith(("GET /i/", "GET /t/")) else OF_PAGES)
        if word.encode() in body.replace(b"<span>Original C</span>", b"").lower()
    ]


def test_the_canaries_are_really_planted_and_pictures_are_served_without(annotator):
    assert all(word.encode() in told(1).lower() for word in ("canary", "positive", "negative"))
    assert CANARY in Item.objects.first().key and Item.objects.filter(truth__note=CANARY).count() == 5
    assert set(Task.objects.values_list("kind", flat=True)) == {Kind.JUDGE, Kind.CHECK, Kind.PRACTICE}
    for image in Image.objects.all():
        for path in (image.served_path, image.thumbnail_path):
            picture = Drawing.open(default_storage.open(path))
            assert not picture.getexif() and not {"comment", "exif", "xmp", "icc_profile"} & set(picture.info)


@pytest.mark.parametrize("annotator", PROTOCOLS, indirect=True)
def test_nothing_that_an_annotator_gets_tells_the_answer(annotator, seen):
    shown = [name for name in seen if name.startswith("GET /i/")]
    assert bool(shown) == (annotator.stage.protocol != "sugarcrepe-compare")
    assert all(b"\xff\xd8\xff" in seen[name] for name in shown)
    assert sum(name.startswith("POST") for name in seen) >= 8
    kinds = set(Lease.objects.filter(annotator=annotator).values_list("task__kind", flat=True))
    assert (Kind.CHECK in kinds) == (annotator.stage.protocol in every_protocol.CHECKED)
    assert leaks(seen) == []


def test_the_same_picture_under_two_names_is_served_as_the_same_bytes():
    one, two = check_and_render(told(1)), check_and_render(pictures.draw(1, 200, 200))
    assert one.served == two.served


def test_script_and_style_do_not_name_options():
    static = Path(finders.find("css/judge.css")).parents[1]
    for path in [*static.glob("js/judging/*.js"), *static.glob("css/judge*.css")]:
        text = path.read_text(encoding="utf-8").lower()
        assert not [word for word in WORDS if word in text], path


def test_neither_order_nor_tokens_follow_the_identity_of_options():
    """Over 60 screens every candidate stands at every place, and about as often."""
    stage = studies.stage(items=60)
    shown = [lease.shown for lease in leases.hold(annotator=studies.annotator(stage.study), stage=stage, wanted=60)]
    first = [order[0] for order in shown]
    assert len({json.dumps(order) for order in shown}) > 15
    assert all(4 <= first.count(f"candidate-{number}") <= 30 for number in range(4))


def test_the_right_answer_that_an_item_has_stays_on_the_server(client):
    file = {
        "winnow": "protocol/1", "name": "by-item", "title": "True", "ask": "Is it true?", "instructions": "Look.",
        "item": {"captions": {"caption": 1}}, "screen": [{"sentence": "caption"}],
        "answers": [{"name": "holds", "kind": "pick", "fixed": {"yes": "Yes", "no": "No"}}],
        "right": {"from": "canary", "values": {CANARY: "yes"}},
    }  # fmt: skip
    stage = declared.of_file(file, 2)
    Item.objects.update(meta={"canary": CANARY})
    Caption.objects.create(item=Item.objects.first(), role="canary", text=CANARY)
    home = f"/judge/{studies.annotator(stage.study).token}/"
    page = client.get(home)
    lease = Lease.objects.filter(state="held").order_by("granted_at", "pk").first()
    sent = {"lease": lease.token, "key": uuid.uuid4(), "shown_answer": "yes", "answer": "yes"}
    after = client.post(home + "submit/", sent, **JSON)
    assert (page.status_code, after.status_code) == (200, 200) and b"Is it true?" in page.content
    assert CANARY.encode() not in page.content + after.content
    assert b"canary" not in page.content + after.content
