"""Releases in a real browser: every page in every state, by keyboard, without script."""

import pytest
from playwright.sync_api import expect

from annotation.models import Release
from annotation.releases import lifecycle as release_lifecycle
from benchmarks.jobs import jobs
from tests.browser.looking import enter, flaws, tab_to
from tests.builders import crowds, releases, studies
from tests.builders.pipelines import with_originals


@pytest.fixture
def study():
    """Its items share no images, so there can be several splits."""
    return with_originals(crowds.stage(benchmark=studies.benchmark(items=4), people=2).study)


def test_every_page_fits_the_window_and_breaks_no_rule(study, visit, page, axe_violations):
    first = releases.frozen(study, "1.0")
    study.annotators.filter(number=1).update(excluded_at="2026-03-02T08:00Z", exclusion_reason="Always left")
    more = {"splits": {"train": 50, "test": 50}, "forms": ("imagefolder", "webdataset")}
    second = releases.frozen(study, "1.1", words={"citation": "@misc{a}"}, **more)
    failed, making = releases.failed(study, "1.2"), releases.asked(study, "1.3")

    def look(path: str) -> None:
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert flaws(page, axe_violations) == [], path

    paths = [f"/releases/{failed.pk}/", f"/releases/{making.pk}/", f"/releases/{second.pk}/?against={first.pk}"]
    for path in [*paths, f"/studies/{study.pk}/results/releases/", f"/studies/{studies.study().pk}/results/releases/"]:
        visit(page, path)
        look(path)
    visit(page, f"/studies/{study.pk}/results/releases/new/")
    page.check("[value=own]")
    page.get_by_text("What is public").click()
    page.check("[value=gold]")
    page.fill("[name=version]", "one")
    page.get_by_role("button", name="Freeze this release").click()
    expect(page.get_by_role("alert").get_by_role("link", name="Version")).to_be_visible()
    look("a form with a mistake")
    assert [error for error in page.errors if "422" not in error] == []


def test_the_keyboard_makes_one_and_sees_it_come(study, visit, page):
    visit(page, f"/studies/{study.pk}/results/")
    tab_to(page, page.get_by_role("link", name="Releases", exact=True))
    enter(page)
    tab_to(page, page.get_by_role("link", name="Create the first release"))
    enter(page)
    tab_to(page, page.get_by_label("Name", exact=True))
    page.keyboard.type("cups")
    tab_to(page, page.locator("[name=splits][value=one]"))
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Seed")).to_be_visible()
    tab_to(page, page.get_by_role("button", name="Freeze this release"))
    enter(page)
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    jobs.run(job_id=Release.objects.get().job_id, by="worker", work=release_lifecycle.run_release)
    expect(page.get_by_role("heading", name="Contents")).to_be_visible()
    expect(page.get_by_role("heading", name="cups 1.0").first).to_be_visible()
    tab_to(page, page.get_by_role("link", name="Download everything"))
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "cups-1.0.zip"
    assert download.value.path().stat().st_size == Release.objects.get().size


def test_changes_come_by_themselves_and_without_script_by_a_link(study, visit, open_page):
    """A hash is copied whole; what depends on a choice comes with it without script too."""
    releases.frozen(study, "1.0")
    second = releases.frozen(study, "1.1")
    plain = visit(open_page(java_script_enabled=False), f"/releases/{second.pk}/")
    assert plain.get_by_text("Identical except for name and version").count() == 0
    page = visit(open_page(permissions=["clipboard-read", "clipboard-write"]), f"/releases/{second.pk}/")
    expect(page.get_by_text("Identical except for name and version")).to_be_visible()
    page.get_by_text("Verify it").click()
    page.get_by_role("button", name="Copy the content hash").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == second.content
    plain.get_by_role("link", name="Compare them").click()
    expect(plain.get_by_text("Identical except for name and version")).to_be_visible()

    visit(plain, f"/studies/{study.pk}/results/releases/new/")
    expect(plain.get_by_label("train (%)")).to_be_hidden()
    plain.check("[value=own]")
    plain.get_by_label("train (%)").fill("70")
    plain.get_by_label("test (%)").fill("30")
    plain.get_by_text("0 of 17 filled in").click()
    plain.get_by_label("Licence").fill("MIT")
    plain.get_by_role("button", name="Freeze this release").click()
    expect(plain.get_by_text("Build in progress")).to_be_visible()
    plan = Release.objects.latest("pk").plan
    assert (plan["splits"], plan["words"]) == ({"train": 70, "test": 30}, {"licence": "MIT"})
