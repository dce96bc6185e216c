"""The pages of benchmarks and imports, as a client gets them."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from django.urls import reverse

from benchmarks import locks
from benchmarks.audit import named
from benchmarks.jobs import jobs, uploads
from benchmarks.models import Benchmark, Event, Image, Item, ItemImage, Job, JobState
from benchmarks.records import Problem
from benchmarks.views import benchmarks
from tests.builders import imports, studies
from tests.collapsed import collapsed

pytestmark = pytest.mark.django_db


def upload(path: Path, name: str = "") -> SimpleUploadedFile:
    return SimpleUploadedFile(name or path.name, path.read_bytes())


def post(client, path: Path, archive: Path | None, **fields):
    form = {"name": "Cups", "format": "jsonl", "data": upload(path)}
    given = {"images": upload(archive)} if archive else {}
    return client.post(reverse("import-new"), form | given | fields)


def test_the_list_says_what_to_do_or_counts_items_and_studies(client, manager):
    assert "Import the first one" in client.get(reverse("benchmark-list")).content.decode()
    studies.study(benchmark=studies.benchmark(items=2, candidates=3, name="Counted"))
    row = client.get(reverse("benchmark-list")).content.decode().split("Counted")[1].split("</tr>")[0]
    assert 'data-unit="items">2<' in row and 'data-label="studies">1<' in row


def test_the_list_is_searched_sorted_and_paged(client, manager, monkeypatch):
    monkeypatch.setattr(benchmarks, "LISTED", 2)
    first, second, third = (studies.benchmark(items=n, candidates=1, name=name) for n, name in enumerate("bAc", 1))

    def rows(**asked: object) -> list[Benchmark]:
        return list(client.get(reverse("benchmark-list"), asked).context["table"].paged)

    assert rows() == [third, second] and rows(**{"benchmarks-page": 2}) == [first]
    assert rows(**{"benchmarks-sort": "item_count"}) == [first, second] and rows(q="a") == [second]
    client.post(reverse("benchmark-archive", args=[second.pk]))
    assert rows() == [third, first] and rows(state="archived") == [second]
    client.post(reverse("benchmark-archive", args=[second.pk]), {"to": "list"})
    assert rows(state="archived") == [] and rows() == [third, second]
    assert Event.objects.filter(subject=f"benchmark:{second.pk}", by=named(manager)).count() == 2


def test_a_benchmark_gets_another_name(client, manager):
    benchmark, other = studies.benchmark(items=1, name="Cups"), studies.benchmark(items=1, name="Plates")
    address = reverse("benchmark-settings", args=[benchmark.pk])
    assert 'value="Cups"' in client.get(address).text
    assert "is called “Mugs”" in client.post(address, {"new_name": "Mugs"}, follow=True).text
    event = Event.objects.get(verb="renamed", subject=f"benchmark:{benchmark.pk}", by=named(manager))
    assert event.data == {"before": "Cups", "after": "Mugs"}
    for taken, why in (("Plates", "Another benchmark has this name"), ("a\u200bb", "invisible"), ("", "required")):
        answer = client.post(address, {"new_name": taken})
        assert (answer.status_code, why in answer.text) == (422, True)
    assert {one.name for one in (benchmark, other) if not one.refresh_from_db()} == {"Mugs", "Plates"}


def test_a_benchmark_is_deleted_by_its_name(client, manager):
    benchmark = studies.benchmark(items=2, candidates=3, name="Gone")
    address = reverse("benchmark-settings", args=[benchmark.pk])
    page = collapsed(client.get(address).text)
    assert "2 items with" in page and "the images that nothing else uses" in page and "0 model runs" in page
    wrong = client.post(address, {"name": "gone"})
    assert wrong.status_code == 422 and 'href="#id_name"' in wrong.text and Benchmark.objects.exists()
    assert client.post(address, {"name": "Gone"}, follow=True).status_code == 200
    assert not Benchmark.objects.exists() and not Image.objects.exists()
    assert Event.objects.get(verb="deleted", subject=f"benchmark:{benchmark.pk}").by == named(manager)


def test_a_benchmark_that_a_study_uses_is_not_deleted_and_the_page_says_so(client, manager, monkeypatch):
    study = studies.study(items=1)
    address = reverse("benchmark-settings", args=[study.benchmark_id])
    refused = client.get(address).text
    assert f"is used by “{study.name}”" in refused and 'name="name"' not in refused
    assert client.post(address, {"name": study.benchmark.name}).status_code == 422 and Benchmark.objects.exists()
    monkeypatch.setattr(benchmarks.delete, "BY_COMMAND", 0)
    alone = studies.benchmark(items=1, name="Large")
    address = reverse("benchmark-settings", args=[alone.pk])
    assert "manage.py delete_benchmark" in client.get(address).text
    assert client.post(address, {"name": "Large"}).status_code == 422 and alone in Benchmark.objects.all()


def test_items_are_paged_by_their_position(client, manager):
    benchmark = studies.benchmark(items=45, candidates=2)
    url = reverse("benchmark-detail", args=[benchmark.pk])
    seen, page = [], client.get(url).context["page"]
    while True:
        seen += [item.position for item in page.items]
        if not page.later:
            break
        page = client.get(f"{url}?{page.later}").context["page"]
    assert seen == list(range(45))
    back = client.get(f"{url}?{page.earlier}").context["page"]
    assert [item.position for item in back.items] == list(range(20, 40))


def test_items_are_filtered_by_type_and_subtype(client, manager):
    benchmark = studies.benchmark(items=2)
    studies.item(benchmark, type="add", subtype="obj", key="other")
    page = client.get(reverse("benchmark-detail", args=[benchmark.pk]), {"type": "add", "subtype": "obj"})
    assert [item.key for item in page.context["page"].items] == ["other"]
    assert "1 of 3 items" in page.content.decode()


def test_a_search_stays_on_every_page_and_within_the_type(client, manager):
    benchmark = studies.benchmark(items=25, candidates=0)
    studies.item(benchmark, candidates=0, type="add", key="item-other")
    url = reverse("benchmark-detail", args=[benchmark.pk])
    first = client.get(url, {"q": "RED cup"})
    assert "26 of 26 items" in first.text and 'value="RED cup"' in first.text
    assert len(client.get(f"{url}?{first.context['page'].later}").context["page"].items) == 6
    found = client.get(url, {"q": "OTHER", "type": "add"})
    assert [item.key for item in found.context["page"].items] == ["item-other"] and 'name="type"' in found.text
    assert "1 of 26 items: added ·" in " ".join(found.text.split())
    assert client.get(url, {"q": "other", "type": "swap"}).context["page"].items == []


@pytest.mark.parametrize("asked", ["after=x", "before=-1", "after=99999999999999", "after=٣"])
def test_a_senseless_place_shows_the_first_page(client, manager, asked):
    benchmark = studies.benchmark(items=2)
    page = client.get(reverse("benchmark-detail", args=[benchmark.pk]) + f"?{asked}")
    assert len(page.context["page"].items) == 2


def test_what_looks_like_markup_is_shown_as_text(client, manager):
    benchmark = studies.benchmark(items=1, name="<b>{{7*7}}</b>")
    benchmark.items.get().captions.update(text="<img src=x onerror=alert(1)>")
    page = client.get(reverse("benchmark-detail", args=[benchmark.pk])).content.decode()
    assert "&lt;b&gt;{{7*7}}&lt;/b&gt;" in page and "<img src=x" not in page


def test_an_upload_becomes_a_job_and_the_job_a_benchmark(
    client, manager, tmp_path, eager_tasks, django_capture_on_commit_callbacks
):
    path, images = imports.small(tmp_path / "given")
    with django_capture_on_commit_callbacks(execute=True):
        answer = post(client, path, images)
    job = Job.objects.get()
    assert answer.url == reverse("job-detail", args=[job.pk])
    assert (job.state, job.created_by, Item.objects.count()) == (JobState.DONE, manager, 3)
    page = client.get(answer.url).content.decode()
    assert "Everything was imported" in page and "hx-get" not in page
    assert imports.tree(tmp_path / uploads.UPLOADS) == []


def test_several_data_files_and_loose_images(
    client, manager, tmp_path, eager_tasks, django_capture_on_commit_callbacks
):
    row = {"0": {"filename": "a.jpg", "caption": "A cat on a mat.", "negative_caption": "A mat on a cat."}}
    data = [SimpleUploadedFile(f"{name}.json", json.dumps(row).encode()) for name in ("swap_obj", "add_att")]
    form = {
        "name": "Two",
        "format": "sugarcrepe",
        "data": data,
        "images": [SimpleUploadedFile("a.jpg", imports.jpeg(1))],
    }
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("import-new"), form)
    assert Job.objects.get().state == JobState.DONE, Job.objects.get().problems
    assert set(Item.objects.values_list("key", flat=True)) == {"swap_obj-0", "add_att-0"}


def test_problems_are_shown_with_their_rows(client, manager, tmp_path, eager_tasks, django_capture_on_commit_callbacks):
    path, _ = imports.small(tmp_path / "given")
    with django_capture_on_commit_callbacks(execute=True):
        answer = post(client, path, imports.archive(tmp_path, ["0.jpg", "0-0.jpg"]))
    page = client.get(answer.url).content.decode()
    assert "Nothing was stored: 4 problems" in page
    groups, listed = page.split('id="all-problems"')
    assert "<code>MISSING_IMAGE</code> 4 problems" in groups and "cups/7.jpg" in groups  # with a right example
    assert listed.count("<code>MISSING_IMAGE</code>") == 4


def test_a_hundred_problems_are_listed_and_all_are_counted(client, manager):
    job = jobs.queue_job(kind="import", title="Many", params={}, by="test")
    jobs.fail_job(job=job, by="test", problems=[Problem("X", "f", n, "", "Do it.") for n in range(250)], count=1234)
    page = client.get(reverse("job-detail", args=[job.pk])).content.decode()
    assert "1,234 problems" in page and "The first 100 problems, in the order found" in page
    assert page.split('id="all-problems"')[1].count("<code>X</code>") == 100


@pytest.mark.parametrize(("file", "in_files"), [("cups.csv", True), ("", False)])
def test_only_problems_in_files_are_to_be_fixed_there(client, manager, file, in_files):
    job = jobs.queue_job(kind="import", title="Cups", params={"kept": {"data": ["1"]}}, by="test")
    jobs.fail_job(job=job, by="test", problems=[Problem("X", file, None, "", "The disk is full.")])
    page = client.get(reverse("job-detail", args=[job.pk])).text
    assert "The disk is full." in page and ("without uploading them" in page) != in_files
    assert {"Fix these" in page, "upload only those" in page, "what to do" in page} == {in_files}


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"name": " "}, "This field is required"),
        ({"name": "x" * 121}, "at most 120"),
        ({"format": "parquet"}, "Select a valid choice"),
        ({"format": "sugarcrepe"}, "does not accept"),
        (
            {"format": "sugarcrepe"},
            "accept this type of file: Your own file, Winnow manifest (JSON Lines), Release of Winnow.",
        ),
        ({"data": []}, "This field is required"),
        ({"images": SimpleUploadedFile("images.rar", b"x")}, "Upload one .zip"),
    ],
)
def test_what_the_form_refuses(client, manager, tmp_path, fields, word):
    answer = post(client, imports.small(tmp_path / "given")[0], None, **fields)
    assert answer.status_code == 422 and word in answer.content.decode()
    assert not Job.objects.exists()


def test_uploads_that_nobody_will_read_are_swept_after_a_day(manager, tmp_path, monkeypatch):
    wanted, left = uploads.new_folder(), uploads.new_folder()
    jobs.queue_job(kind="import", title="One", params={"upload": str(wanted)}, by="test")
    uploads.sweep()
    assert left.exists()
    monkeypatch.setattr(uploads, "OLD", -1)
    uploads.sweep()
    assert wanted.exists() and not left.exists()


def running(**fields) -> Job:
    job = jobs.start_job(job=jobs.queue_job(kind="import", title="One", params={}, by="test"), by="test")
    Job.objects.filter(pk=job.pk).update(phase="checking images", done=50, total=200, **fields)
    return job


def test_a_running_job_shows_how_far_it_is_and_asks_again(client, manager):
    url = reverse("job-detail", args=[running().pk])
    fragment = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert 'max="200" value="50"' in fragment and "25%" in fragment
    assert 'hx-trigger="every 1s"' in fragment and "<html" not in fragment
    assert ">Refresh</a>" in fragment


@pytest.mark.parametrize(("then", "seconds"), [(0, 30), (25, 35)])
def test_pace_is_that_of_the_present_phase_and_counts_what_follows(then, seconds):
    job = Job(state="running", done=50, total=200, rate=5, then=then)
    assert jobs.pace(job) == jobs.Pace(percent=25, rate=5, seconds=seconds)


def test_the_rate_is_that_of_the_last_fifth_of_a_phase(manager, monkeypatch):
    """80 seconds at one a second, then faster, then a long pause."""
    clock = SimpleNamespace(monotonic=lambda: 1.0)
    monkeypatch.setattr(jobs, "time", clock)
    progress, rates = jobs.Progress(running()), []
    progress.begin("checking images", 1000)
    for seconds, done in [(40, 40), (80, 80), (100, 280), (700, 280)]:
        clock.monotonic = lambda at=1.0 + seconds: at
        progress.step(done - progress.done)
        progress.write()
        rates.append(Job.objects.get().rate)
    assert rates == pytest.approx([1, 1, 10, 0.4], rel=0.01)


def test_cancel_by_a_button(client, manager):
    job = running()
    with locks.alone(named(job)):  # as the process that is at it
        client.post(reverse("job-cancel", args=[job.pk]))
    job.refresh_from_db()
    assert job.cancel_asked and job.state == JobState.RUNNING
    with pytest.raises(jobs.Cancelled):
        jobs.Progress(job).begin("checking images", 200)


def test_a_waiting_job_is_cancelled_at_once(client, manager):
    job = jobs.queue_job(kind="import", title="One", params={}, by="test")
    page = client.post(reverse("job-cancel", args=[job.pk]), follow=True).content.decode()
    assert "Nothing was stored" in page


@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED, JobState.CANCELLED])
def test_a_job_that_is_over_moves_no_more(state):
    job = Job.objects.create(kind="import", title="One", state=state)
    for move in (jobs.start_job, lambda **job: jobs.finish_job(report={}, **job)):
        with pytest.raises(jobs.CannotMove):
            move(job=job, by="test")


def test_an_image_is_served_under_its_opaque_name_and_nothing_tells_more(client, tmp_path, settings):
    Path(settings.MEDIA_ROOT).mkdir()
    imports.imported(*imports.small(tmp_path / "given"))
    image = Image.objects.first()
    for name in ("image", "thumbnail"):
        answer = client.get(reverse(name, args=[image.opaque]))
        assert answer.content.startswith(b"\xff\xd8\xff")
        assert answer["Cache-Control"] == "private, max-age=31536000, immutable"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert not {"ETag", "Last-Modified", "Content-Disposition", "Set-Cookie"} & set(answer.headers)


def test_an_image_costs_no_query(client, tmp_path, settings, django_assert_num_queries):
    Path(settings.MEDIA_ROOT).mkdir()
    imports.imported(*imports.small(tmp_path / "given"))
    use = ItemImage.objects.select_related("image").first()
    with django_assert_num_queries(0):
        for opaque in (use.opaque, use.image.opaque):
            assert client.get(reverse("image", args=[opaque])).status_code == 200
    assert client.get(reverse("image", args=["0" * 32])).status_code == 404


@pytest.mark.parametrize(
    "path", ["/i/../../secret_key", "/i/" + "0" * 32 + ".png", "/i/" + "G" * 32 + ".jpg", "/i/..%2fx.jpg"]
)
def test_no_other_file_can_be_asked_for(client, path):
    assert client.get(path).status_code == 404


@override_settings(ACCEL_REDIRECT="/files/")
def test_a_web_server_can_send_the_images(client):
    answer = client.get(reverse("thumbnail", args=["ab" * 16]))
    assert answer["X-Accel-Redirect"] == f"/files/thumbnails/ab/{'ab' * 16}.jpg"
    assert answer.content == b""


def test_the_api_lists_benchmarks_and_shows_a_job(client, manager):
    studies.benchmark(items=2, name="Named")
    answer = client.get(reverse("api-benchmark-list")).json()
    assert (answer["count"], answer["results"][0]["name"], answer["results"][0]["item_count"]) == (1, "Named", 2)
    job = running()
    shown = client.get(reverse("api-job-detail", args=[job.pk])).json()
    assert (shown["state"], shown["done"], shown["total"]) == ("running", 50, 200)
    assert Benchmark.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "place"),
    {
        "benchmark-detail": "Items", "benchmark-models": "Models", "score-new": "Models", "images-new": "New material",
        "corrections-new": "Corrections", "ratings-new": "Ratings", "benchmark-webhooks": "Settings",
    }.items(),
)  # fmt: skip
def test_the_rail_marks_the_place_of_each_page(client, manager, name, place):
    """And who may not change the benchmark is not led to its settings."""
    benchmark = studies.benchmark(items=1, created_by=manager)
    page = collapsed(client.get(reverse(name, args=[benchmark.pk])).text)
    (here,) = [part for part in page.split('<a class="go"')[1:] if "aria-current" in part.split(">")[0]]
    assert here.split(">")[1].split("<")[0].strip() == place
    client.force_login(User.objects.create_user("other", is_staff=True))
    assert "> Settings" not in collapsed(client.get(reverse("benchmark-models", args=[benchmark.pk])).text)
