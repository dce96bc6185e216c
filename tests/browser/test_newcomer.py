"""A newcomer's table of foils, from the start page to a study that asks about them, without a guide."""

import csv
import time

import pytest
from playwright.sync_api import expect

from annotation.models import Study
from benchmarks import tasks
from benchmarks.imports import run as run_import
from benchmarks.jobs import jobs
from benchmarks.models import Job
from tests.builders import imports

ROWS = [("red", "blue"), ("green", "yellow"), ("white", "black")]
MOST_SECONDS = 120


@pytest.fixture
def files(tmp_path):
    with (tmp_path / "foils.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["image", "caption", "foil", "type"])
        for n, (right, wrong) in enumerate(ROWS):
            writer.writerow([f"{n}.jpg", f"A {right} ball on a table.", f"A {wrong} ball on a table.", "color"])
    return tmp_path / "foils.csv", imports.archive(tmp_path, [f"{n}.jpg" for n in range(len(ROWS))])


@pytest.fixture
def work(monkeypatch):
    """Do what the pages have asked the worker for, and leave nothing waiting."""
    asked: list[int] = []
    monkeypatch.setattr(tasks.run_import, "delay", asked.append)

    def work() -> Job:
        job = asked.pop(0)
        jobs.run(job_id=job, by="test", work=run_import.import_files)
        return Job.objects.get(pk=job)

    return work


def press_until(page, key: str, found) -> int:
    """Press the key until this has the focus; how often it took."""
    for times in range(1, 60):
        page.keyboard.press(key)
        if found.evaluate("one => one === document.activeElement"):
            return times
    raise AssertionError(f"{key} never reaches it")


def test_from_the_start_page_to_a_study_about_the_foils(visit, page, files, work, axe_violations):
    began, (table, images) = time.monotonic(), files
    page = visit(page, "/studies/")
    page.locator("#first-step").click()  # of an empty installation
    page.get_by_label("Benchmark name").fill("Foils")
    page.get_by_label("Data and images").set_input_files([table, images])
    page.get_by_role("button", name="Upload and import").click()
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    work()
    # By keys alone: each column's guess can be changed, and Import comes after the last one
    expect(page.get_by_role("heading", name="Which column is what?")).to_be_visible()
    press_until(page, "Tab", page.get_by_label("What it is: image"))
    assert press_until(page, "Tab", page.get_by_label("Role: image")) == 1
    press_until(page, "Tab", page.get_by_label("Role: foil"))
    press_until(page, "Tab", page.get_by_role("button", name="Import", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    assert work().state == "done"
    expect(page.get_by_text("Everything was imported")).to_be_visible()
    page.locator("main").get_by_role("link", name="New study").click()
    suggested = page.locator(".ask").first.get_by_role("button")
    expect(suggested).to_have_text("Caption or hard negative")
    expect(suggested).to_have_attribute("aria-current", "true")
    assert axe_violations(page) == []
    page.get_by_role("link", name="Continue with “Caption or hard negative”").click()
    page.get_by_role("link", name="Continue to the texts").click()
    page.get_by_label("Study name").fill("Which is true?")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", name="Which is true?")).to_be_visible()
    assert time.monotonic() - began < MOST_SECONDS
    stage = Study.objects.get().stages.get()
    assert (stage.protocol, stage.tasks.count(), stage.study.state) == ("image-caption-foil@1", len(ROWS), "open")
    assert sorted(stage.tasks.first().options) == ["caption-negative-0", "caption-positive-0"]
