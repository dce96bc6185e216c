"""The page of a stage's instructions: images, previews and versions; and what annotators then see."""

import io
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import strip_tags
from PIL import Image as Drawing

from annotation.models import InstructionsImage, Stage
from annotation.studies import instructions_images, lifecycle
from benchmarks.models import Event
from tests.annotation.judging.test_pages import home
from tests.builders import pictures, studies

pytestmark = pytest.mark.django_db
HAND = pictures.draw(1, 64, 48)


@pytest.fixture
def stage() -> Stage:
    return studies.stage(items=2)


def address(stage: Stage, asked: str = "") -> str:
    return reverse("study-instructions", args=[stage.study_id]) + asked


def file(name: str = "Six fingers.JPG", data: bytes = HAND) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def add(stage: Stage, name: str = "hand.jpg", data: bytes = HAND) -> InstructionsImage:
    return instructions_images.add(stage=stage, file_name=name, data=data, by="test")


def test_an_image_is_uploaded_previewed_and_read_by_annotators(client, manager, stage):
    sent = {"text": "Look: ![six fingers](six-fingers)", "es": "Mira", "images": [file()]}
    page = client.post(address(stage), {**sent, "upload": "1"})
    assert "![description](six-fingers)" in page.text and "Look: ![six fingers]" in page.text
    image = InstructionsImage.objects.get()
    shown = f'<img src="/instructions/{image.opaque}.jpg" alt="six fingers" width="64" height="48">'
    assert shown in page.text and "not saved yet" in page.text and stage.instructions.count() == 1
    again = client.post(address(stage), {**sent, "images": [file()], "preview": "1"})  # the same file once more
    assert shown in again.text and (stage.instructions.count(), InstructionsImage.objects.count()) == (1, 1)
    client.post(address(stage), {"text": sent["text"], "es": "Mira"})
    assert stage.instructions.latest("version").translations == {"es": "Mira"}
    annotator = studies.annotator(stage.study, ready=False)
    client.logout()
    for who in (annotator, studies.annotator(stage.study)):
        assert shown in client.get(home(who)).text  # before the first screen, and in its help
    served = client.get(f"/instructions/{image.opaque}.jpg")
    assert served["Content-Type"] == "image/jpeg" and "immutable" in served["Cache-Control"]
    assert Drawing.open(io.BytesIO(served.content)).size == (64, 48)
    assert client.get(f"/instructions/{'0' * 32}.jpg").status_code == 404
    assert Event.objects.filter(verb="added an image to instructions", data__name="six-fingers").count() == 1


def test_a_judging_page_asks_for_images_only_if_the_text_has_one(client, stage):
    annotator = studies.annotator(stage.study)
    for text, asks in (("Look.", False), ("![a](hand)", True)):
        lifecycle.revise_instructions(stage=stage, text=text, by="test")
        studies.read(annotator, stage)
        with CaptureQueriesContext(connection) as asked:
            client.get(home(annotator))
        assert any("instructionsimage" in one["sql"] for one in asked) == asks


def test_what_is_served_has_nothing_of_the_file_but_its_pixels(client, stage):
    exif = Drawing.Exif()
    exif[0x010E] = "positive"
    image = add(stage, data=pictures.draw(1, 64, 48, exif=exif.tobytes()))
    assert b"positive" not in client.get(f"/instructions/{image.opaque}.jpg").content


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({"text": "![a](other)"}, "No uploaded image is named “other”"),
        ({"text": "Look", "de": "![](hand)"}, "German: Describe the image “hand”"),
        ({"text": "[x](page)"}, "Start it with https:// or mailto:"),
        ({"text": "Look", "images": [file("a.jpg", b"no image")]}, "“a.jpg”: Use a JPEG, PNG, WebP, AVIF or GIF."),
        ({"text": "Look", "images": [file("a.jpg", HAND[:300])]}, "cut off or damaged"),
        ({"text": "Look", "images": [file("a.jpg", b"0" * 2000)]}, "“a.jpg” is larger than 0 MB"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_saved(client, manager, stage, monkeypatch, sent, why):
    add(stage)
    monkeypatch.setattr(instructions_images, "MOST_BYTES", 1999)
    for one in sent.get("images", []):
        one.seek(0)
    preview = {"preview": "1"} if "images" in sent else {}
    page = client.post(address(stage), {**sent, **preview})
    assert page.status_code == 422 and why in strip_tags(page.text) and sent["text"] in page.text
    assert (stage.instructions.count(), InstructionsImage.objects.count()) == (1, 1)


def test_images_have_different_names_and_a_limit(stage, monkeypatch):
    files = ["A b.png", "a-B.jpg", "图.png"]
    names = [add(stage, name, pictures.draw(number, 200, 200)).name for number, name in enumerate(files)]
    assert names == ["a-b", "a-b-2", "image"]
    monkeypatch.setattr(instructions_images, "MOST", 3)
    with pytest.raises(instructions_images.CannotAdd, match="at most 3"):
        add(stage, data=pictures.draw(7, 200, 200))
    assert add(stage, data=pictures.draw(0, 200, 200)).name == "a-b"  # it is there already


def test_a_file_is_stored_only_with_its_row(stage, monkeypatch, settings):
    def lost(*args, **given):
        raise RuntimeError

    monkeypatch.setattr("annotation.studies.instructions_images.audit.record", lost)
    with pytest.raises(RuntimeError):
        add(stage)
    assert not list(Path(settings.MEDIA_ROOT).rglob("*.jpg"))


def test_a_new_study_cannot_name_images(client, manager, stage):
    form = client.get(reverse("study-new")).text
    name = re.search(r'name="([\w-]+-instructions)"', form)[1]
    page = client.post(reverse("study-new"), {name: "![a](hand)", "plan": "1"})
    assert "Leave out the image “hand”" in page.text


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ({}, {}),
        ({"keep": "de"}, {"de": "Schau."}),
        ({"keep": "de", "es": "Mira dos veces."}, {"de": "Schau.", "es": "Mira dos veces."}),
    ],
)
def test_an_old_translation_is_not_shown_under_a_new_version_unless_it_is_kept(client, manager, stage, more, kept):
    old = {"de": "Schau.", "es": "Mira."}
    lifecycle.revise_instructions(stage=stage, text="Look.", by="test", translations=old)
    changed = {"text": "Look twice.", **old}
    page = client.post(address(stage), changed)
    assert "These translations have not changed" in page.text and page.text.count('name="keep"') == 2
    assert stage.instructions.latest("version").version == 2
    saved = client.post(address(stage), {**changed, "keep_asked": "1", **more}, follow=True)
    assert "Version 3 of the instructions is saved." in saved.text
    assert stage.instructions.latest("version").translations == kept


def test_two_versions_are_compared_in_every_language(client, manager, stage):
    for text, more in (("Pick a cat.", {}), ("Pick the cat.", {"es": "Mira"}), ("Pick the dog.", {"es": "Mira"})):
        lifecycle.revise_instructions(stage=stage, text=text, by="test", translations=more)
    page = client.get(address(stage)).text  # the last two
    assert "removed:</span> cat</del>" in page and "added:</span> dog</ins>" in page and "Spanish</h3>" not in page
    page = client.get(address(stage, "?from=2&to=3")).text
    assert "added:</span> the</ins>" in page and "Spanish</h3>" in page and "added: </span>Mira</ins>" in page
    assert "same text" in client.get(address(stage, "?from=2&to=2")).text
    for odd in ("?from=99&to=x", "?to=1", "?from=" + "9" * 30):
        assert client.get(address(stage, odd)).status_code == 200


def test_a_report_shows_the_images_and_its_file_has_them_inside(client, manager, stage, tmp_path):
    image = add(stage)
    lifecycle.revise_instructions(stage=stage, text="![a hand](hand)", by="test")
    assert f'src="/instructions/{image.opaque}.jpg"' in client.get(reverse("study-report", args=[stage.study_id])).text
    call_command("report", str(stage.study_id), html=tmp_path / "report.html", verbosity=0)
    assert '<img src="data:image/jpeg;base64,/9j/' in (tmp_path / "report.html").read_text()
