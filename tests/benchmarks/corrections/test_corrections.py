"""Corrections by file, command, page and API: words, pictures, withdrawn items; all rows or none."""

import json
import uuid
from io import BytesIO, StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from PIL import Image as Pillow

from benchmarks.corrections.correct import Change, correct
from benchmarks.corrections.reading import read_changes
from benchmarks.formats.base import ProblemLog
from benchmarks.models import Action, Benchmark, Correction, Item, ItemImage, Job, Prediction, Run
from benchmarks.runs import figures as run_figures
from benchmarks.runs import material
from benchmarks.tasks import run_corrections
from tests.builders import studies

ROWS = """id,place,text,file,action,reason
item-0,negative,A green cup.,,,Wrong colour.
item-0,positive,,new.png,,A blurred picture.
item-1,,,,withdraw,It shows a person.
"""


def picture() -> bytes:
    content = BytesIO()
    Pillow.new("RGB", (40, 30), (200, 30, 30)).save(content, "PNG")
    return content.getvalue()


@pytest.fixture
def benchmark(db) -> Benchmark:
    return studies.benchmark(items=2)


def holds(benchmark) -> bool:
    """What ROWS ask for."""
    item, gone = benchmark.items.order_by("position")
    use = item.item_images.get(role="positive")
    words = item.captions.get(role="negative").text
    return (words, use.source_name, use.image.width, gone.withdrawn) == ("A green cup.", "new.png", 40, True)


@pytest.mark.django_db(transaction=True)
def test_the_command_makes_the_corrections_of_a_file(tmp_path):
    benchmark = studies.benchmark(items=2)
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "new.png").write_bytes(picture())
    out, before = StringIO(), ItemImage.objects.get(item__position=0, role="positive").image
    given = benchmark.name, tmp_path / "rows.csv"
    with pytest.raises(CommandError, match="Nothing was corrected"):
        call_command("correct_items", *given, stdout=out)
    assert "NO_IMAGES" in out.getvalue() and not Correction.objects.exists()
    call_command("correct_items", *given, images=tmp_path / "new", stdout=out)
    assert "3 corrections of 2 items." in out.getvalue() and holds(benchmark)
    assert Correction.objects.get(action="image").old_image == before
    with pytest.raises(CommandError, match="Nothing was corrected: 2 problems"):  # the picture may come again
        call_command("correct_items", *given, images=tmp_path / "new", stdout=out)


@pytest.mark.parametrize(
    "row, code",
    [
        ({"id": "1", "text": "x", "file": "y", "reason": "r"}, "VALUE_MISSING"),
        ({"id": "1", "action": "delete", "reason": "r"}, "WRONG_VALUE"),
        ({"id": "1", "caption": "x", "reason": "r"}, "UNKNOWN_COLUMN"),
        ({"id": 1, "text": "x", "reason": "r"}, "WRONG_TYPE"),
    ],
)
def test_a_row_that_is_no_correction_is_named(tmp_path, row, code):
    log, path = ProblemLog(), tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row))
    assert read_changes(path, log) == [] and log.problems[0].code == code and log.problems[0].row == 1


def test_a_role_stands_for_its_first_text_or_picture(tmp_path):
    log, path = ProblemLog(), tmp_path / "rows.csv"
    path.write_text(ROWS + "item-0,caption-negative-1,Two.,,,So.\n")
    found = [(one.action, one.place) for one in read_changes(path, log)]
    assert found == [
        (Action.CAPTION, "caption-negative-0"),
        (Action.IMAGE, "positive-0"),
        (Action.WITHDRAW, ""),
        (Action.CAPTION, "caption-negative-1"),
    ]


def test_the_page_of_an_item_corrects_its_words(admin_client, benchmark):
    address = reverse("item-correct", args=[benchmark.pk, 0])
    page = admin_client.get(address).content.decode()
    assert "A blue cup and a red plate, 0." in page and "Withdraw the item" in page
    texts = {f"{old}caption-{one.role}-0": one.text for one in benchmark.items.get(position=0).captions.all()
             for old in ("", "old-")}  # fmt: skip
    nothing = admin_client.post(address, {**texts, "reason": "So."})
    assert nothing.status_code == 422 and b"Nothing was changed" in nothing.content
    sent = {**texts, "caption-negative-0": "A green cup.", "reason": "Wrong colour."}
    assert admin_client.post(address, sent).status_code == 302
    again = admin_client.post(address, {**sent, "caption-negative-0": "A grey cup."})
    assert again.status_code == 422 and b"A green cup." in again.content  # somebody was faster
    empty = admin_client.post(address, {**sent, "old-caption-negative-0": "A green cup.", "caption-negative-0": " "})
    assert empty.status_code == 422 and b"A caption cannot be empty." in empty.content
    gone = admin_client.post(address, {**texts, "reason": "Bad.", "withdraw": "1"}, follow=True).content.decode()
    assert "Withdrawn. Studies no longer ask" in gone
    assert 'class="primary" name="restore"' in gone and "Wrong colour." in gone
    assert admin_client.post(address, {"reason": "A mistake.", "restore": "1"}).status_code == 302
    assert not Item.objects.filter(withdrawn=True).exists() and Correction.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_picture_on_the_page_and_a_file_of_corrections_are_jobs(admin_client):
    benchmark = studies.benchmark(items=2)
    file = SimpleUploadedFile("new.png", picture())
    sent = {"picture-positive-0": file, "reason": "Blurred."}
    texts = {f"{old}caption-{one.role}-0": one.text for one in benchmark.items.get(position=0).captions.all()
             for old in ("", "old-")}  # fmt: skip
    admin_client.post(reverse("item-correct", args=[benchmark.pk, 0]), {**sent, **texts})
    run_corrections(Job.objects.get().pk)
    assert Job.objects.get().state == "done" and Correction.objects.get().new == "new.png"
    rows = SimpleUploadedFile("rows.csv", ROWS.encode())
    given = {"file": rows, "images": [SimpleUploadedFile("new.png", picture())]}
    address = reverse("corrections-new", args=[benchmark.pk])
    job = admin_client.post(address, given)
    run_corrections(Job.objects.latest("pk").pk)
    assert holds(benchmark) and "See the history" in admin_client.get(job.url).content.decode()
    assert "A green cup." in admin_client.get(address).content.decode()


def test_the_api_takes_rows_and_lists_what_was_corrected(admin_client, benchmark):
    address = reverse("api-corrections", args=[benchmark.pk])
    rows = [{"id": "item-0", "place": "negative", "text": "A green cup.", "reason": "Wrong colour."}]
    sent = admin_client.post(
        address, {"corrections": rows}, content_type="application/json",
        headers={"Idempotency-Key": str(uuid.uuid4())},
    )  # fmt: skip
    assert sent.status_code == 202, sent.content
    run_corrections(Job.objects.get().pk)
    [made] = admin_client.get(address).json()["results"]
    assert (made["item"], made["new"], made["by"]) == ("item-0", "A green cup.", "admin")


def test_figures_of_models_leave_out_what_is_withdrawn_and_say_what_is_old(benchmark):
    run = Run.objects.create(benchmark=benchmark, origin="imported", kind="sugarcrepe", title="CLIP")
    for item in benchmark.items.all():
        Prediction.objects.create(run=run, item=item, question="s(positive)", score=0.2)
        Prediction.objects.create(run=run, item=item, question="s(negative)", score=0.1)

    def n() -> int:
        return run_figures.of_runs([run]).figures[run.pk]["n"]

    def change(item: str, action: Action, place: str = "", new: str = "") -> None:
        asked = Change(item=item, action=action, place=place, new=new, reason="So.")
        correct(benchmark=benchmark, changes=[asked], by="test")

    assert n() == 2 and run_figures.corrected_since([run]) == {}
    change("item-1", Action.WITHDRAW)
    change("item-0", Action.CAPTION, "caption-negative-0", "A green cup.")
    assert n() == 1 and run_figures.corrected_since([run]) == {run.pk: 1}
    assert [one.key for chunk in material.Scope(benchmark).chunks() for one in chunk] == ["item-0"]
