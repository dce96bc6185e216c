"""The import page: new candidates for a benchmark that is there, and the names and numbers of uploaded files."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks.models import Benchmark, Job, JobState
from tests.benchmarks.views.test_pages import post
from tests.builders import imports

pytestmark = pytest.mark.django_db


def test_an_empty_form_is_told_what_it_lacks(client, manager):
    answer = client.post(reverse("import-new"))
    assert answer.status_code == 422 and "This field is required" in answer.text


class TestNewCandidates:
    @pytest.fixture
    def cups(self, tmp_path, settings):
        imports.imported(*imports.small(tmp_path / "given"))
        return Benchmark.objects.get()

    def bring(self, client, tmp_path, **fields):
        images = [{"role": "candidate", "file": "x.jpg"}, {"role": "candidate", "file": "y.jpg"}]
        path = imports.manifest(tmp_path, [imports.item(1, images=images)], "new.jsonl")
        pictures = [SimpleUploadedFile(name, imports.jpeg(60 + n)) for n, name in enumerate(("x.jpg", "y.jpg"))]
        return post(client, path, None, **{"images": pictures, "new_candidates": "on", **fields})

    def test_in_the_browser(self, client, manager, cups, tmp_path, eager_tasks, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            answer = self.bring(client, tmp_path)
        page = client.get(answer.url).text
        assert "items with new candidates" in page and "studies will ask again about dropped items" in page
        page = client.get(reverse("benchmark-detail", args=[cups.pk])).text
        assert "candidate 3, round 2" in page and "round 1 for 3 items, round 2 for 1 item" in page

    @pytest.mark.parametrize(
        ("fields", "word"),
        [
            ({"name": "Plates"}, "There is no benchmark with this name"),
            ({"text_only": "on"}, "New candidates are images"),
            ({"format": "sugarcrepe"}, "cannot have candidate images"),
        ],
    )
    def test_what_the_form_refuses(self, client, manager, cups, tmp_path, fields, word):
        answer = self.bring(client, tmp_path, **fields)
        assert answer.status_code == 422 and word in answer.text and Job.objects.count() == 1

    def test_the_benchmark_leads_to_the_form_with_its_name(self, client, manager, cups):
        page = client.get(reverse("benchmark-detail", args=[cups.pk])).text
        address = re.search(r'href="([^"]*new_candidates=on[^"]*)"', page)[1].replace("&amp;", "&")
        form = client.get(address).text
        assert 'value="Cups"' in form and re.search(r'name="new_candidates"[^>]*checked', form)


class TestNamesOfUploads:
    def loose(self, client, name: str, stored: str | None = None, data=None):
        """An item whose one image is called that; `name` is what the browser sends."""
        item = imports.item(1, images=[{"role": "positive", "file": stored or name}])
        body = json.dumps(item).encode() + b"\n"
        form = {"name": "Cups", "format": "jsonl", "data": data or [SimpleUploadedFile("items.jsonl", body)]}
        image = SimpleUploadedFile("x.jpg", imports.jpeg(1))
        image.name = name
        return client.post(reverse("import-new"), {**form, "images": [image]})

    def test_a_quotation_mark_as_browsers_send_it(
        self, client, manager, eager_tasks, django_capture_on_commit_callbacks
    ):
        with django_capture_on_commit_callbacks(execute=True):
            self.loose(client, "a %22red%22 cup.jpg", 'a "red" cup.jpg')
        assert Job.objects.get().state == JobState.DONE, Job.objects.get().problems

    @pytest.mark.parametrize("name", ["é" * 126 + ".jpg", "x" * 300 + ".jpg", "x" * 251 + ".jpg", "猫" * 90 + ".jpg"])
    def test_a_name_that_no_disk_can_hold_is_refused(self, client, manager, name):
        answer = self.loose(client, name)
        assert answer.status_code == 422 and "too long" in answer.text and not Job.objects.exists()

    def test_the_longest_name_that_is_taken(self, client, manager, eager_tasks, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            self.loose(client, "é" * 125 + ".jpg")
        assert Job.objects.get().state == JobState.DONE, Job.objects.get().problems

    def test_several_files_of_a_format_that_takes_one(self, client, manager):
        data = [SimpleUploadedFile(f"{n}.jsonl", b"{}\n") for n in range(2)]
        answer = self.loose(client, "x.jpg", data=data)
        assert answer.status_code == 422 and "accepts only one file. Import the files one at a time" in answer.text
