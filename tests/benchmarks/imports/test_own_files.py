"""A file of one's own, from the page to the items: look, choose, check, import, and once more for the next round."""

import io
import json
import re
import zipfile
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks.models import Benchmark, Item, Job
from tests.benchmarks.bad_inputs.texts import crepe_row
from tests.builders import imports
from tests.builders.columns import sent_by

pytestmark = pytest.mark.django_db
ROWS = "image,caption,foil,type,who\n7.jpg,A red cup.,A blue cup.,swap,ana\n8.jpg,A big hat.,A small hat.,swap,ben\n"


def loose(name: str, data: str | bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data.encode() if isinstance(data, str) else data)


@pytest.fixture
def bring(client, eager_tasks, django_capture_on_commit_callbacks):
    client.force_login(User.objects.create_user("ana", is_staff=True))

    def post(fields):
        with django_capture_on_commit_callbacks(execute=True):
            answer = client.post(reverse("import-new"), fields)
        return Job.objects.latest("pk") if answer.status_code == 302 else answer

    return post


@pytest.fixture
def looked(bring, client, tmp_path):
    """The job that has looked at the file, and its page."""
    images = imports.archive(tmp_path, ["7.jpg", "8.jpg"]).read_bytes()
    files = {"data": [loose("mine.csv", ROWS), loose("images.zip", images)]}
    job = bring({"name": "Cups", "format": "own", **files})
    return job, client.get(reverse("job-detail", args=[job.pk])).text


def test_columns_are_shown_with_what_they_probably_are_and_become_items(bring, client, looked):
    job, page = looked
    assert not Item.objects.exists() and job.report["mapping"] == {
        "winnow": "mapping/1",
        "type": "type",
        "texts": {"positive": "caption", "negative": "foil"},
        "images": {"positive": "image"},
    }
    assert "A blue cup." in page and ">who</bdi>" in page
    assert page.count('<img src="data:image/jpeg;base64,') == 2
    again = bring(sent_by(page, who=("text", "author")))
    assert isinstance(again, Job), again.context["form"].errors
    assert (again.state, again.problems) == ("done", [])
    first = Item.objects.order_by("position").first()
    assert {one.role: one.text for one in first.captions.all()} == {
        "positive": "A red cup.",
        "negative": "A blue cup.",
        "author": "ana",
    }
    assert (first.type, first.item_images.count(), first.meta) == ("swap", 1, {})
    assert Benchmark.objects.get().mapping["texts"]["author"] == "who"


def test_a_choice_shows_the_first_items_at_once(client, looked):
    job, page = looked
    address = reverse("import-preview", args=[job.pk])
    sent = sent_by(page, foil=("text", "+"), image=("", ""))
    sent["own_role"][2] = "other"
    found = client.post(address, sent).text
    assert "other</span>" in found and "<img" not in found
    assert "Two columns are the type" in client.post(address, sent_by(page, who=("type", ""))).text
    assert "Give the role of “who”" in client.post(address, sent_by(page, who=("text", ""))).text
    assert "at least one column" in client.post(address, {"place": ["a"], "what": [""], "role": [""]}).text


def test_what_was_checked_can_be_imported(bring, client, looked):
    job, page = looked
    checked = bring(sent_by(page) | {"check_only": "on"})
    page = client.get(reverse("job-detail", args=[checked.pk])).text
    form = page[page.index("<form") : page.index("Import 2 items")]
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form)
    job = bring({name: unescape(value) for name, value in hidden})
    assert (job.state, Item.objects.count()) == ("done", 2), job.problems


def test_a_list_in_a_cell_is_shown_by_its_first_members(bring, client):
    rows = [{"image": "7.jpg", "caption": "A cup.", "options": [f"A {n}." for n in range(5)]}]
    job = bring({"name": "Cups", "format": "own", "data": loose("a.json", json.dumps(rows))})
    assert job.report["columns"][2]["examples"] == ["A 0. · A 1. · A 2. · … (5)"]


def test_the_next_round_needs_no_choice(bring, looked):
    job, page = looked
    bring(sent_by(page))
    more = ROWS.replace("7.jpg", "9.jpg").replace("8.jpg", "10.jpg").replace("red", "green").replace("big", "grey")
    job = bring({"name": "Cups", "format": "own", "data": loose("more.csv", more), "text_only": "on"})
    assert (job.state, Item.objects.count()) == ("done", 4)
    assert {"mine-1", "mine-2", "more-1", "more-2"} == {item.key for item in Item.objects.all()}
    job = bring({"name": "Cups", "format": "own", "data": loose("other.csv", "picture,text\n9.jpg,A cup.\n")})
    assert {(one["code"], one["column"]) for one in job.problems} == {
        ("COLUMN_MISSING", name) for name in ("type", "caption", "foil", "image")
    }


def test_a_file_in_a_known_format_says_so(bring, client):
    job = bring({"name": "Cups", "format": "own", "data": loose("swap_obj.json", json.dumps({"0": crepe_row()}))})
    page = client.get(reverse("job-detail", args=[job.pk])).text
    assert (
        "This is SugarCrepe (JSON)" in page
        and "Import as SugarCrepe (JSON)" in page
        and 'name="format" value="sugarcrepe"' in page
    )


def test_an_archive_that_is_no_table_is_recognised_by_its_files(bring, client, tmp_path):
    files = {f"{side}/vl_checklist_relations.json": "[]" for side in ("original", "hard_positive")}
    job = bring({"name": "Cups", "format": "own", "data": loose("sides.zip", zipped(files))})
    page = client.get(reverse("job-detail", args=[job.pk])).text
    assert "This is Hard Positives (JSON)" in page and "Which column is what?" not in page


def zipped(files: dict[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return held.getvalue()


def test_a_file_that_cannot_be_read_says_why(bring):
    job = bring({"name": "Cups", "format": "own", "data": loose("a.csv", b"\xd0\xcf\x11\xe0 old")})
    assert [one["code"] for one in job.problems] == ["WRONG_TYPE"]


def test_the_command_guesses_shows_and_takes_a_mapping(tmp_path, capsys):
    (tmp_path / "mine.csv").write_text(ROWS)
    images = imports.archive(tmp_path, ["7.jpg", "8.jpg"])
    given = ["own", str(tmp_path / "mine.csv"), "--name", "Cups", "--images", str(images)]
    call_command("import_benchmark", *given, "--look")
    shown = capsys.readouterr().out
    mapping = json.loads(shown[shown.index("{") :].rpartition("}")[0] + "}")
    mapping["texts"]["author"] = "who"
    (tmp_path / "mapping.json").write_text(json.dumps(mapping))
    call_command("import_benchmark", *given, "--mapping", str(tmp_path / "mapping.json"))
    assert Item.objects.count() == 2 and Benchmark.objects.get().mapping["texts"]["author"] == "who"
    (tmp_path / "mapping.json").write_text('{"winnow": "mapping/1", "text": {}}')
    with pytest.raises(CommandError, match="Did you mean “texts”"):
        call_command("import_benchmark", *given, "--mapping", str(tmp_path / "mapping.json"))
    (tmp_path / "numbers.csv").write_text("a,b\n1,2\n")
    with pytest.raises(CommandError, match="1 problem"):
        call_command("import_benchmark", "own", str(tmp_path / "numbers.csv"), "--name", "None")
    assert "The columns are a, b" in capsys.readouterr().out


def test_images_inside_the_files_are_imported(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"image": {"bytes": imports.jpeg(n), "path": f"{n}.jpg"}, "caption": f"A cup, {n}."} for n in (1, 2)]
    pq.write_table(pa.Table.from_pylist(rows), stream := io.BytesIO())
    (tmp_path / "a.parquet").write_bytes(stream.getvalue())
    call_command("import_benchmark", "own", str(tmp_path / "a.parquet"), "--name", "Cups")
    assert [item.item_images.count() for item in Item.objects.all()] == [1, 1]
