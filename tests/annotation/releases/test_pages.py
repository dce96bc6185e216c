"""The pages of releases, and their files."""

import re
import subprocess
import zipfile

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from annotation.designs.plan import StagePlan
from annotation.models import Release
from annotation.releases import forms as releases_forms
from annotation.releases import page as releases_page
from annotation.releases.card_html import card_html
from annotation.releases.plan import Plan
from benchmarks.jobs import jobs
from benchmarks.models import Job
from tests.builders import crowds, object_storage, releases, studies
from tests.builders.pipelines import with_originals

pytestmark = pytest.mark.django_db
SENT = {
    "name": "cups", "version": "1.0", "stages": ["1"], "splits": "one", "seed": "0", "shard_mb": "500",
    "forms": ["csv"], "word-licence": "MIT",
}  # fmt: skip


@pytest.fixture
def study(manager):
    return studies.study(items=2, name="Red cups")


def new(study) -> str:
    return reverse("release-new", args=[study.pk])


def page(release) -> str:
    return reverse("release-detail", args=[release.pk])


def part(release, name: str) -> str:
    return reverse("release-file", args=[release.pk, name])


def body(answer) -> bytes:
    return b"".join(answer.streaming_content)


# Asking for one


def test_a_first_release_begins_with_the_study_and_the_least_public(client, study):
    form = client.get(new(study)).context["form"]
    assert {name: form[name].value() for name in ("name", "version", "splits", "public")} == {
        "name": "red-cups", "version": "1.0", "splits": "one", "public": None,
    }  # fmt: skip
    assert form["stages"].value() == ["1"]


def test_the_next_one_begins_with_the_last_but_for_what_is_public(client, study):
    words, splits = {"licence": "MIT"}, {"train": 50, "test": 50}
    releases.asked(study, "1.9", name="cups", splits=splits, seed=3, public=["times"], words=words)
    form = client.get(new(study)).context["form"]
    names = ("name", "version", "splits", "train", "test", "seed", "word-licence", "public")
    assert [form[name].value() for name in names] == ["cups", "1.10", "own", 50, 50, 3, "MIT", None]


@pytest.mark.parametrize(
    "there, expected", [([], "1.0"), (["1.0"], "1.1"), (["1.9", "1.10"], "1.11"), (["2.0.9", "1.5"], "2.0.10")]
)
def test_next_version(there, expected):
    assert releases_forms.next_version(there) == expected


def test_what_is_sent_is_the_plan_and_its_job_is_sent(client, study, monkeypatch):
    sent = []
    monkeypatch.setattr(jobs, "dispatch", sent.append)
    answer = client.post(new(study), {**SENT, "public": ["comments"], "word-ethics": "a\r\nb "})
    release = Release.objects.get()
    assert answer.url == page(release)
    assert sent == [release.job]
    assert Plan.from_json(release.plan) == Plan(
        "cups", "1.0", forms=["csv"], public=["comments"], stages=[], words={"licence": "MIT", "ethics": "a\nb"}
    )


WRONG = [
    (
        {"name": "../cups", "version": "one", "splits": "own", "train": "60"},
        {"name": "letters, digits", "version": "two or three numbers", "splits": "add up to 100"},
    ),
    (
        {"stages": [], "shard_mb": "0", "forms": ["pdf"]},
        {"stages": "Choose at least one.", "shard_mb": "greater than or equal to 1", "forms": "pdf"},
    ),
    ({"version": "0.9"}, {"version": "There is already"}),
]


@pytest.mark.parametrize(("wrong", "says"), WRONG)
def test_what_is_wrong_stands_at_its_field(client, study, wrong, says):
    releases.asked(study, "0.9", name="cups")
    answer = client.post(new(study), {**SENT, **wrong})
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert errors.keys() == says.keys()
    assert all(said in " ".join(errors[field]) for field, said in says.items())
    assert Release.objects.count() == 1


def test_percents_that_are_not_asked_for_do_not_matter(client, study, monkeypatch):
    monkeypatch.setattr(jobs, "dispatch", lambda job: None)
    assert client.post(new(study), {**SENT, "train": "many"}).status_code == 302


def test_a_stage_takes_along_what_it_rests_on(client, manager, monkeypatch):
    monkeypatch.setattr(jobs, "dispatch", lambda job: None)
    plans = [
        StagePlan("bivlc-choose", "one", settings={"carries": "negative"}),
        StagePlan("bivlc-disambiguate", "two", source="one", apart_from=[]),
        StagePlan("verify", "beside", source="one", apart_from=[]),
        StagePlan("bivlc-i2t", "three", source="two", apart_from=[]),
        StagePlan("bivlc-t2i", "four", source="two", after="three", apart_from=[]),
    ]
    study = studies.study(items=1, stages=plans)
    client.post(new(study), {**SENT, "stages": ["5"]})
    assert Release.objects.get().plan["stages"] == [1, 2, 4, 5]


def test_it_says_what_would_be_in_it_and_what_to_think_of(client, manager):
    study = crowds.stage(items=8, people=2).study
    shown = client.get(new(study))
    counts = shown.context["outlook"].counts
    assert counts["imported"] == 8 == counts["kept"] + counts["dropped"] + counts["open"]
    assert "No image has a licence" in shown.text
    assert "Still open" in shown.text
    study.stages.update(state="closed")
    assert "Still open" not in client.get(new(study)).text


def test_a_stage_without_items_waits_and_is_not_said_to_be_open(client, manager):
    one = StagePlan("bivlc-choose", "one", settings={"carries": "negative"})
    plans = [one, StagePlan("bivlc-i2t", "two", source="one", settings={"sample": 2})]
    shown = client.get(new(studies.study(items=1, stages=plans))).text
    still_open, waits = re.search(r"Still open: (.*?)</li>.*No items yet: (.*?)</li>", shown, re.S).groups()
    fits, read = "Choose the image that fits", "Image to text"
    assert fits in still_open and read not in still_open and read in waits and fits not in waits


@pytest.mark.parametrize("source, there", [("sugarcrepe", True), ("jsonl", False)])
def test_its_own_files_are_offered_where_they_can_be_written(client, manager, source, there):
    study = studies.study(benchmark=studies.benchmark(source=source))
    assert ('value="source"' in client.get(new(study)).text) == there


def test_counting_again_freezes_nothing(client, study):
    assert client.post(new(study), {**SENT, "look": "1"}).status_code == 200
    assert not Release.objects.exists()


# In the making


def test_htmx_gets_the_bar_until_it_is_over(client, study):
    release = releases.asked(study)
    htmx = {"HX-Request": "true"}
    assert "<progress" in client.get(page(release), headers=htmx).text
    assert "<h1>" in client.get(page(release)).text
    Job.objects.update(state="cancelled", finished_at="2026-03-02T08:00Z")
    for ended in (release, releases.by_hand(study, "1.1")):
        over = client.get(page(ended), headers=htmx)
        assert (over.status_code, over["HX-Refresh"]) == (204, "true")


def test_one_that_failed_says_why_and_can_be_tried_again_or_discarded(client, study, monkeypatch):
    monkeypatch.setattr(jobs, "dispatch", lambda job: None)
    release = releases.failed(study)
    assert page(release) in client.get(reverse("job-detail", args=[release.job_id])).text
    for url in (page(release), reverse("release-list", args=[study.pk])):
        assert "The disk is full." in client.get(url).text
    client.post(reverse("release-again", args=[release.pk]))
    told = client.post(reverse("release-discard", args=[release.pk]), follow=True)
    assert "is still being built" in told.text
    Job.objects.update(state="cancelled", finished_at="2026-03-02T08:00Z")
    client.post(reverse("release-discard", args=[release.pk]))
    assert not Release.objects.exists()


def test_a_plan_that_did_not_do_is_changed_in_its_place(client, study, monkeypatch):
    monkeypatch.setattr(jobs, "dispatch", lambda job: None)
    old = releases.failed(study, "1.4", name="cups", public=["times"], words={"licence": "MIT"})
    form = client.get(f"{new(study)}?instead={old.pk}").context["form"]
    assert [form[name].value() for name in ("name", "version", "public", "word-licence")] == [
        "cups", "1.4", ["times"], "MIT",
    ]  # fmt: skip
    sent = {**SENT, "version": "1.4", "instead": old.pk}
    assert client.post(new(study), {**sent, "version": "x"}).status_code == 422
    assert Release.objects.get() == old
    client.post(new(study), sent)
    found = Release.objects.get()
    assert (found.version, found.pk == old.pk) == ("1.4", False)
    assert client.post(new(study), {**sent, "instead": found.pk}).status_code == 422


# Frozen


def test_a_page_shows_the_files_by_form_and_the_card_as_text(client, study):
    many = {f"imagefolder/test/images/{number:03}.jpg": b"x" for number in range(40)}
    release = releases.by_hand(study, files={**many, "other/<i>.txt": b"?"})
    shown = client.get(page(release))
    found = {group.title: (group.count, len(group.files)) for group in shown.context["groups"]}
    assert found == {"Documents and tables": (3, 3), "Parquet": (1, 1), "Image folder": (40, 30), "other": (1, 1)}
    assert release.content in shown.text
    assert "A &lt;b&gt;red&lt;/b&gt; cup." in shown.text
    assert "pretty_name" not in shown.text
    assert "<i>" not in shown.text


def test_a_file_is_what_stands_in_the_zip(client, place, study):
    release = releases.by_hand(study, files={"a b/ü.jsonl": b'{"a": 1}\n', "page.html": b"<script>", "none.csv": b""})
    with default_storage.open(release.file) as file, zipfile.ZipFile(file) as archive:
        inside = {entry.filename.partition("/")[2]: archive.read(entry) for entry in archive.infolist()}
    for name, content in inside.items():
        answer = client.get(part(release, name))
        assert body(answer) == content
        assert answer["ETag"] == f'"{releases.described(content)["sha256"]}"'
        assert answer["Content-Disposition"].startswith("attachment")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Type"] in {"text/plain; charset=utf-8", "application/octet-stream"}


def test_a_download_goes_on_where_it_broke_off(client, place, study):
    release = releases.by_hand(study, files={"long.csv": bytes(range(256)) * 40})
    for url in (part(release, "long.csv"), reverse("release-download", args=[release.pk])):
        whole = client.get(url)
        content = body(whole)
        rest = client.get(url, headers={"Range": "bytes=5000-", "If-Range": whole["ETag"]})
        assert (rest.status_code, body(rest)) == (206, content[5000:])
        assert client.get(url, headers={"If-None-Match": whole["ETag"]}).status_code == 304
    assert releases.described(content)["sha256"] == release.sha256


def test_a_download_may_redirect_to_the_bucket(client, bucket, study, settings):
    url = object_storage.server().url
    settings.STORAGES = object_storage.storages(url, bucket, downloads="https://s3.example.org")
    release = releases.by_hand(study)
    download = reverse("release-download", args=[release.pk])
    answer = client.get(download)
    assert answer.status_code == 302 and answer["Location"].startswith(f"https://s3.example.org/{bucket}/releases/")
    assert client.get(part(release, "README.md")).status_code == 200
    default_storage.delete(release.file)
    assert client.get(download).status_code == 404
    client.logout()
    assert client.get(download)["Location"].startswith("/login/")


@pytest.mark.parametrize("name", ["absent.csv", "../secret", "data", "split/README.md"])
def test_what_is_not_in_it_is_not_there(client, study, name):
    assert client.get(part(releases.by_hand(study), name)).status_code == 404


def test_what_was_taken_out_of_the_storage_is_not_there(client, place, study):
    release = releases.by_hand(study)
    default_storage.delete(release.file)
    page = reverse("release-detail", args=[release.pk])
    for url in (reverse("release-download", args=[release.pk]), part(release, "README.md"), page):
        assert client.get(url).status_code == 404


def test_what_is_not_frozen_has_no_files(client, study):
    release = releases.asked(study)
    for url in (reverse("release-download", args=[release.pk]), part(release, "README.md")):
        assert client.get(url).status_code == 404


def test_a_release_of_another_study_is_no_one_to_compare_with(client, study):
    release, other = releases.by_hand(study), releases.by_hand(studies.study())
    shown = client.get(f"{page(release)}?against={other.pk}")
    assert shown.context["other"] is None


# As the worker makes them


@pytest.mark.django_db(transaction=True)
def test_two_versions_from_the_form_to_what_differs(client, manager, eager_tasks, tmp_path):
    study = with_originals(crowds.stage(items=8, people=2).study)
    client.post(new(study), SENT)
    Job.objects.filter(kind="release").get(state="done")
    person = study.annotators.first()
    person.excluded_at, person.exclusion_reason = "2026-03-02T08:00Z", "Always left"
    person.save()
    client.post(new(study), {**SENT, "version": "1.1"})
    first, second = Release.objects.order_by("version")
    assert "Compare them" in client.get(page(second)).text
    shown = client.get(f"{page(second)}?against={first.pk}")
    assert "Annotator A-01 is excluded since: Always left." in shown.text
    assert "Compare them" not in client.get(page(second)).text
    assert second.content in client.get(reverse("release-list", args=[study.pk])).text
    assert reverse("release-detail", args=[second.pk]) in client.get(reverse("job-detail", args=[second.job_id])).text
    assert told_by_shell(client, second, tmp_path) == second.content


def told_by_shell(client, release, folder) -> str:
    """What the page's commands print, where they count."""
    (folder / f"{release.folder}.zip").write_bytes(body(client.get(reverse("release-download", args=[release.pk]))))
    shown = client.get(page(release)).text
    lines = shown.partition('aria-label="Commands that verify it">sha256sum')[2].splitlines()[2:6]
    with zipfile.ZipFile(folder / f"{release.folder}.zip") as archive:
        archive.extractall(folder)
    command = "\n".join(lines).partition("</textarea>")[0].replace("&#x27;", "'")
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


# The card


def test_the_card_is_html_of_the_page():
    card = "---\na: b\n---\n# T\n\n**Who.** one \\* \\_\\\ntwo <https://a.example/b>\n\n## H\n\n- x\n- `y*`\n\n1. z\n\n"
    card += "|  | b |\n| --- | ---: |\n| c \\| d | 1 |\n\n````text\n```\n\n# <no>\n````\n"
    assert card_html(card).replace("\n", "") == (
        '<h3 class="top">T</h3><p><b>Who.</b> one * _<br>two '
        '<a href="https://a.example/b" rel="nofollow noreferrer">https://a.example/b</a></p><h4>H</h4>'
        "<ul><li>x</li><li><code>y*</code></li></ul><ol><li>z</li></ol>"
        '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table class="figures">'
        '<thead><tr><td></td><th scope="col" class="number">b</th></tr></thead>'
        '<tbody><tr><td>c | d</td><td class="number">1</td></tr></tbody></table></div>'
        '<pre tabindex="0"><code>```# &lt;no&gt;</code></pre>'
    )


@pytest.mark.parametrize(
    "raw", ["<script>alert(1)</script>", "<b>x", "![x](https://a.example/x.png)", "[x](javascript:alert)"]
)
def test_nothing_in_a_card_runs_or_is_fetched(raw):
    assert set(re.findall("<[^>]*>", card_html(f"---\na: b\n---\n{raw}\n"))) <= {
        "<p>", "</p>", '<a href="https://a.example/x.png" rel="nofollow noreferrer">', "</a>",
    }  # fmt: skip


def test_of_many_files_of_a_form_the_first_are_listed_and_the_others_counted():
    group = releases_page.Group(7, "webdataset", "Shards", "", count=31, files=[{"name": "a.tar", "bytes": 2048}] * 30)
    assert group.more == 1 and str(group.table).count("/releases/7/files/a.tar") == 30
