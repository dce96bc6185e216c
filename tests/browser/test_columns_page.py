"""Published ratings under the authors' own columns become a study, by keyboard and choices alone."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation import tasks
from annotation.imported_ratings.study import RatingsImport
from annotation.models import Judgment, Study
from annotation.protocols import library
from benchmarks.jobs import jobs
from benchmarks.models import Job
from tests.browser.looking import flaws
from tests.browser.test_newcomer import press_until
from tests.builders import declared

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "foreign" / "tifa160-likert-anns.csv"


@pytest.mark.real
def test_published_ratings_become_a_study_by_keyboard(page, visit, tmp_path, monkeypatch, axe_violations):
    asked: list[int] = []
    monkeypatch.setattr(tasks.run_ratings, "delay", asked.append)
    header, *lines = PUBLISHED.read_text().splitlines()
    (file := tmp_path / "likert.csv").write_text("\n".join([header, *lines[:12]]))
    keys = dict.fromkeys("/".join(line.split(",")[1:3]) for line in lines[:12])
    benchmark = declared.benchmark(library.shipped("prompt-fit"), len(keys))
    for key, item in zip(keys, benchmark.items.order_by("position"), strict=True):
        benchmark.items.filter(pk=item.pk).update(key=key)
    visit(page, f"/benchmarks/{benchmark.pk}/ratings/")
    page.get_by_label("Name of the new study").fill("TIFA160")
    page.get_by_label("What was asked").select_option("prompt-fit")
    page.get_by_label("Source").fill("DSG")
    page.get_by_label("File of ratings").set_input_files(file)
    page.get_by_role("button", name="Upload").press("Enter")
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    jobs.run(job_id=asked.pop(), by="test", work=RatingsImport.do)
    expect(page.get_by_role("heading", name="Which column is what?")).to_be_visible()
    assert flaws(page, axe_violations) == []

    first = page.locator("#first-items")
    expect(first.get_by_text("mini-dalle/tifa160_143").first).to_be_visible()
    expect(first.get_by_text("no such item")).to_have_count(0)
    answer = page.get_by_label("What it is: answer", exact=True)
    press_until(page, "Tab", answer)
    page.keyboard.press("i")  # the id of the item: two columns
    expect(first.get_by_text("Two columns are the item")).to_be_visible()
    expect(answer).to_be_focused()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(first.get_by_text("Two columns are the item")).to_have_count(0)
    press_until(page, "Tab", page.get_by_role("button", name="Import", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    jobs.run(job_id=asked.pop(), by="test", work=RatingsImport.do)
    expect(page.get_by_role("heading", name="Imported likert.csv")).to_be_visible()
    assert Job.objects.first().report["mapping"]["item"] == "{t2i_model}/{item_id}"
    assert (Study.objects.get().name, Judgment.objects.count()) == ("TIFA160", 12)
    assert page.errors == []
