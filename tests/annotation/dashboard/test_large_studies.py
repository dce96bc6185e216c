"""The page of a large study: what was computed last, as of when, and how far the newer figures are."""

import re
from datetime import timedelta

import pytest
from django.db.models import F
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from annotation import tasks
from annotation.assignment import leases
from annotation.dashboard import study_overview
from annotation.figures import cache
from annotation.figures.stage import study_figures
from annotation.judging import submissions
from annotation.models import CachedFigures, Study
from benchmarks.jobs import jobs
from benchmarks.models import Job
from tests.builders import crowds, studies

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    monkeypatch.setattr(cache, "SMALL", 0)


@pytest.fixture
def study():
    return crowds.stage(items=18, people=4, overlap=2).study


def work() -> None:
    for job in Job.objects.filter(state="queued"):
        tasks.compute_figures(job.pk)


def rested() -> None:
    """The last figures are old enough for newer ones."""
    CachedFigures.objects.update(made_at=F("made_at") - timedelta(minutes=5))


def look(client, study: Study) -> str:
    return client.get(reverse("study-stage", args=[study.pk, 1])).content.decode()


def live(client, study: Study, page: str):
    return client.get(reverse("stage-live", args=[study.pk, 1]), {"seen": seen(page)})


def seen(page: str) -> str:
    return re.search(r"seen=(\w+)", page)[1]


def test_the_first_visitor_sees_the_bar_and_what_is_at_hand(client, manager, study):
    page = look(client, study)
    assert "The results are being computed" in page and "waiting for a worker" in page
    assert 'id="live-flags"' in page and "Close this stage" in page
    assert 'id="live-tiles"' not in page and "nothing yet" not in page


def test_the_preview_of_a_release_is_what_the_worker_counted(client, manager, study):
    at = reverse("release-new", args=[study.pk])
    first = client.get(at).text
    assert "The results are being computed" in first and "kept-now" not in first and "would be empty" not in first
    work()
    shown = client.get(at)
    assert shown.context["outlook"].counts["imported"] == 18 and "kept-now" in shown.text


def test_a_page_without_figures_is_loaded_anew_once_they_are_there(client, manager, study, monkeypatch):
    monkeypatch.setattr(jobs, "revive_job", lambda **_: False)  # a worker is at it
    page = look(client, study)
    assert live(client, study, page).status_code == 204
    Job.objects.update(state="running", done=2, total=9)
    moved = live(client, study, page)
    assert "2 of 9 parts" in moved.content.decode() and "HX-Refresh" not in moved
    Job.objects.update(state="queued")
    work()
    assert live(client, study, page)["HX-Refresh"] == "true"


def test_the_page_shows_the_figures_of_the_last_computation(client, manager, study):
    look(client, study)
    work()
    page, figures = look(client, study), study_figures(study.stages.get())
    kept = f"{figures['outcomes']['kept']} kept"
    for shown in (kept, "A-04", ">α on whether any image fits<", "nothing has changed since"):
        assert shown in page
    rested()
    studies.judgment(studies.annotator(study), study.stages.get())
    after = look(client, study)
    assert "A-05" not in after and "newer ones are being computed" in after
    work()
    assert "A-05" in look(client, study)


def test_old_figures_stay_while_newer_ones_rest(client, manager, study):
    look(client, study)
    work()
    studies.judgment(studies.annotator(study), study.stages.get())
    assert "next update after" in look(client, study) and not Job.objects.filter(state="queued").exists()


def test_what_is_of_now_comes_without_new_figures(client, manager, study):
    """Flags, leases out and states; the figures that the page has are not sent again."""
    look(client, study)
    work()
    page = look(client, study)
    assert live(client, study, page).status_code == 204
    person = studies.annotator(study)
    lease = leases.hold(annotator=person, stage=study.stages.get(), wanted=1)[0]
    submissions.flag(annotator=person, token=lease.token, reason="A strange one")
    changed = live(client, study, page).content.decode()
    assert "1 task is open in annotators" in changed and 'id="live-outcomes"' not in changed
    assert "open flags" in changed and 'id="live-flags"' in changed


def test_newer_figures_come_with_the_next_question(client, manager, study):
    look(client, study)
    work()
    page = look(client, study)
    rested()
    studies.judgment(studies.annotator(study), study.stages.get())
    live(client, study, page)
    work()
    changed = live(client, study, page).content.decode()
    assert "A-05" in changed and 'id="live-outcomes" hx-swap-oob="innerHTML"' in changed


def test_a_closed_study_is_asked_for_until_its_figures_are_there(client, manager, study):
    Study.objects.update(state="closed")
    assert "hx-trigger" in look(client, study)
    work()
    assert "hx-trigger" not in look(client, study)


def test_any_page_can_ask_again_until_its_figures_are_of_now(rf):
    def shown(found: cache.LatestFigures) -> str:
        request = rf.get("/somewhere/?type=swap")
        return render_to_string("components/_as_of.html", {"latest": found, "part": "kappas", "request": request})

    queued = Job.objects.create(kind="figures", title="x")
    asking = shown(cache.LatestFigures(None, None, False, queued))
    assert 'hx-get="/somewhere/?type=swap"' in asking and 'hx-select="#kappas" hx-target="#kappas"' in asking
    there = shown(cache.LatestFigures({}, timezone.now(), True))
    assert "Results as of" in there and "hx-get" not in there


def test_a_failure_is_told(client, manager, study, monkeypatch):
    monkeypatch.setitem(cache.KINDS, study_overview.KIND, lambda *given: 1 / 0)
    look(client, study)
    work()
    page = look(client, study)
    failed = Job.objects.get(params__kind=study_overview.KIND)
    assert "There are no results yet" in page and reverse("job-detail", args=[failed.pk]) in page


def test_the_list_says_what_was_counted_last(client, manager, study):
    address = reverse("study-list")
    assert "being counted" in client.get(address).content.decode()
    work()
    counted = client.get(address).content.decode()
    assert "being counted" not in counted and 'items and questions"' in counted


def test_many_annotators_are_shown_in_part(monkeypatch):
    monkeypatch.setattr(study_overview, "PEOPLE", 2)
    rows = [
        {"name": n, "signs": signs, "judged": judged} for n, signs, judged in [(1, [], 5), (2, [], 9), (3, ["fast"], 1)]
    ]
    assert [row["name"] for row in study_overview._annotators_shown(rows)] == [2, 3]


def test_only_what_the_page_shows_is_kept(study):
    """An export has every pair of annotators."""
    found = study_overview.overview(study.stages.get())
    assert all("kappa_pairs" not in of for of in found["figures"]["agreement"])
    assert len(found["pairs"]) == found["pair_count"] == 6
