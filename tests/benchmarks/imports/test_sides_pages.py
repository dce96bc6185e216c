"""The import page for formats with two sides, and for rows that lack a part."""

import json

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks.jobs import uploads
from benchmarks.models import Item, Job
from tests.benchmarks.bad_inputs.sources import triplet, tsv, vl_row
from tests.benchmarks.bad_inputs.texts import crepe_row
from tests.builders import imports

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def staff(client) -> User:
    user = User.objects.create_user("ana", is_staff=True)
    client.force_login(user)
    return user


def loose(name: str, content: object) -> SimpleUploadedFile:
    data = content if isinstance(content, str) else json.dumps(content)
    return SimpleUploadedFile(name, data.encode())


def relations(row: dict) -> SimpleUploadedFile:
    return loose("vl_checklist_relations.json", [row])


@pytest.fixture
def bring(client, eager_tasks, django_capture_on_commit_callbacks):
    def post(format: str, data, **fields):
        form = {"name": "B", "format": format, "data": data, "text_only": "on", **fields}
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(reverse("import-new"), form)

    return post


def test_two_files(bring, tmp_path):
    bring("hard-positives", relations(vl_row()), second=relations(vl_row(caption="cup atop book")))
    item = Item.objects.get()
    assert {caption.role: caption.text for caption in item.captions.all()} == {
        "positive": "cup on book",
        "second_positive": "cup atop book",
        "negative": "cup off book",
    }
    assert imports.tree(tmp_path / uploads.UPLOADS) == []


def test_several_files_a_side_and_the_names_of_the_origins(bring):
    names = ("swap_obj.json", "add_att.json")
    first, second = ([loose(name, {"0": crepe_row(negative_caption=text)}) for name in names] for text in ("A.", "B."))
    bring("sugarcrepe-compare", first, second=second, second_origin="Theirs")
    assert [item.meta["origins"] for item in Item.objects.all()] == [["SUGARCREPE", "Theirs"]] * 2


@pytest.mark.parametrize(
    ("format", "fields", "word"),
    [
        ("hard-positives", {}, "These files are the original side. Upload the hard positive side too."),
        ("hard-positives", {"second": loose("a.tsv", "x")}, "does not accept “a.tsv”"),
        ("visla", {"second": loose("a.tsv", "x"), "data": loose("a.tsv", "x")}, "has no second side"),
        ("sugarcrepe-compare", {"second": relations({}), "second_origin": "SUGARCREPE"}, "two origins different names"),
        ("sugarcrepe-compare", {"second": relations({}), "first_origin": "x" * 61}, "at most 60"),
    ],
)
def test_what_the_form_refuses(bring, format, fields, word):
    answer = bring(format, fields.pop("data", relations(vl_row())), **fields)
    assert answer.status_code == 422 and word in answer.text
    assert not Job.objects.exists()


def test_incomplete_rows_are_refused_or_left_out_and_listed(client, bring):
    rows = tsv(triplet(), triplet(2, negative_caption=""))
    refused = client.get(bring("visla", loose("a.tsv", rows)).url).text
    assert "<code>INCOMPLETE_ROW</code>" in refused and not Item.objects.exists()
    report = client.get(bring("visla", loose("a.tsv", rows), skip_incomplete="on").url).text
    assert "All complete rows were imported" in report and "items imported · 1 incomplete row skipped" in report
    assert "<code>INCOMPLETE_ROW</code>" in report
    assert Item.objects.get().key == "generic-0"


def test_a_format_that_is_seldom_wanted_is_in_sight_where_it_was_chosen(client):
    assert '<details class="field">' in client.get(reverse("import-new")).content.decode()
    page = client.post(reverse("import-new"), {"name": "Cups", "format": "visla-parquet"}).content.decode()
    assert '<details class="field" open>' in page and 'value="visla-parquet" checked' in page
