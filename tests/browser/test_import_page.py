"""An import in a real browser: upload, watch, read the report; and what went wrong."""

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks import tasks
from benchmarks.imports import run as run_import
from benchmarks.jobs import jobs
from benchmarks.models import Item, Job
from tests.benchmarks.bad_inputs.sources import vl_row
from tests.browser.looking import flaws
from tests.builders import imports


@pytest.fixture
def waiting(monkeypatch) -> list[int]:
    """Ids of the jobs that pages asked for; the test itself is their worker."""
    asked: list[int] = []
    monkeypatch.setattr(tasks.run_import, "delay", asked.append)
    return asked


@pytest.fixture
def manager(page, visit) -> Page:
    return visit(page, "/benchmarks/import/")


def choose(page: Page, format: str) -> None:
    """One of the known formats, which are folded away."""
    page.get_by_text("Format and options").click()
    page.get_by_role("radio", name=format).check()


def fill_in(page: Page, path: Path, images: Path) -> None:
    page.get_by_label("Benchmark name").fill("Cups")
    choose(page, "Winnow manifest")
    page.get_by_label("Data and images").set_input_files([path, images])
    page.get_by_role("button", name="Upload and import").click()


def test_upload_progress_report(manager, waiting, tmp_path, monkeypatch, axe_violations):
    monkeypatch.setattr(jobs, "WRITE_EVERY", 0)
    fill_in(manager, *imports.small(tmp_path / "given", 4))
    expect(manager.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    seen = []

    def tell(phase: str, done: int, total: int | None) -> None:
        if phase == "checking images" and done == 4:
            expect(manager.get_by_text("4 of 8")).to_be_visible()
            seen.append(manager.get_by_role("progressbar").get_attribute("value"))

    jobs.run(job_id=waiting[0], by="test", work=run_import.import_files, tell=tell)
    expect(manager.get_by_role("heading", name="Everything was imported")).to_be_visible()
    assert seen == ["4"]
    assert axe_violations(manager) == []
    manager.get_by_role("link", name="Open the benchmark").click()
    expect(manager.get_by_role("article")).to_have_count(4)
    shown = manager.get_by_role("img").first
    shown.scroll_into_view_if_needed()
    expect(shown).to_have_js_property("naturalWidth", 16)
    assert manager.errors == []


def test_problems_appear_without_a_reload(manager, waiting, tmp_path, axe_violations):
    path, _ = imports.small(tmp_path / "given", 2)
    fill_in(manager, path, imports.archive(tmp_path, ["0.jpg"]))
    expect(manager.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    jobs.run(job_id=waiting[0], by="test", work=run_import.import_files)
    expect(manager.get_by_role("region", name="Nothing was stored: 3 problems")).to_be_focused()
    expect(manager.get_by_role("heading", name="MISSING_IMAGE")).to_be_visible()
    expect(manager.get_by_text("is not among the 1 files of images.zip")).to_have_count(3)
    assert flaws(manager, axe_violations) == []
    assert not Item.objects.exists()

    # A kept file can be used again or deleted; everybody can read all fields.
    manager.get_by_role("link", name="Import again").click()
    kept = manager.get_by_role("checkbox", name="images.zip")
    expect(kept).to_be_checked()
    expect(manager.get_by_role("checkbox", name="items.jsonl")).to_be_checked()
    manager.get_by_role("radio", name="Two origins of negatives (JSON)").check()
    expect(manager.get_by_label("Second negatives’ origin")).to_have_value("ARO+CREPE")
    assert flaws(manager, axe_violations) == []
    manager.get_by_role("button", name="Delete images.zip").press("Enter")
    expect(kept).to_have_count(0)
    expect(manager.get_by_label("Images", exact=True)).to_be_focused()
    assert manager.errors == []


def test_cancel(manager, waiting, tmp_path):
    """And files that are dropped join those that are there; a name with a quotation mark arrives."""
    for names in (["cups.csv"], ["more.zip", "cups.csv"]):
        dropped = manager.evaluate_handle(
            """names => names.reduce((data, name) => (data.items.add(new File(["x"], name)), data),
            new DataTransfer())""",
            names,
        )
        manager.locator(".drop").dispatch_event("drop", {"dataTransfer": dropped})
    field = manager.get_by_label("Data and images")
    assert field.evaluate("input => [...input.files].map(file => file.name)") == ["more.zip", "cups.csv"]
    fill_in(manager, *imports.small(tmp_path / "given", 2))
    manager.get_by_role("button", name="Cancel").click()
    expect(manager.get_by_role("heading", name="Cancelled")).to_be_visible()
    jobs.run(job_id=waiting[0], by="test", work=run_import.import_files)
    assert Job.objects.get().state == "cancelled" and not Item.objects.exists()

    item = imports.item(1, images=[{"role": "positive", "file": 'a "red" cup.jpg'}])
    (picture := tmp_path / 'a "red" cup.jpg').write_bytes(imports.jpeg(1))
    manager.goto(manager.url.partition("/jobs/")[0] + "/benchmarks/import/")
    fill_in(manager, imports.manifest(tmp_path, [item]), picture)
    expect(manager.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    assert jobs.run(job_id=waiting[1], by="test", work=run_import.import_files).state == "done"


@pytest.fixture
def large(tmp_path) -> tuple[Path, Path]:
    """Two items, and images of more bytes than go with the form."""
    path, images = imports.small(tmp_path / "given", 2, extra={"spare.jpg": os.urandom(17 * 2**20)})
    return path, images


def test_an_interrupted_upload_goes_on_after_a_reload(manager, waiting, large, axe_violations):
    """The connection breaks once and comes back; then the page is closed in the midst, and the file chosen again."""
    sent, broken = [], [3]  # offsets, of the small file first

    def patch(route) -> None:
        if route.request.method != "PATCH":
            return route.continue_()
        if len(sent) in broken:
            broken.remove(len(sent))
            return route.abort()
        if len(sent) == 4:  # the page will be closed
            return None
        sent.append(int(route.request.headers["upload-offset"]))
        return route.continue_()

    manager.route("**/uploads/*/", patch)
    manager.evaluate("setInterval(() => dispatchEvent(new Event('online')), 50)")  # ends the waits for the connection
    fill_in(manager, *large)
    expect(manager.get_by_text("12.0 MB of")).to_be_visible()
    assert sent == [0, 0, 4 * 2**20, 8 * 2**20]
    assert flaws(manager, axe_violations, "#uploading") == []
    manager.get_by_role("button", name="Stop uploading").click()
    expect(manager.get_by_role("status")).to_have_text("Stopped. Press the button to continue.")
    manager.unroute("**/uploads/*/")
    manager.reload()
    expect(manager.get_by_text("Choose the file again to continue")).to_be_visible()
    manager.on("request", lambda request: sent.append(request.headers.get("upload-offset")))
    fill_in(manager, *large)
    expect(manager.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    assert min(int(offset) for offset in sent[4:] if offset) >= 12 * 2**20
    assert Path(Job.objects.get().params["images"]).read_bytes() == large[1].read_bytes()
    assert jobs.run(job_id=waiting[0], by="test", work=run_import.import_files).state == "done"
    assert manager.errors == ["Failed to load resource: net::ERR_FAILED"]


def written_sides(folder: Path) -> list[Path]:
    files = []
    for side, caption in (("original", "cup on book"), ("hard_positive", "cup atop book")):
        (folder / side).mkdir()
        files.append(folder / side / "vl_checklist_relations.json")
        files[-1].write_text(json.dumps([vl_row(caption=caption)]))
    return files


def test_the_second_side_by_keyboard(manager, waiting, tmp_path):
    """Without it, the form comes back and shows its field."""
    sides, address = written_sides(tmp_path), manager.url
    second, origin = manager.get_by_label("Second side"), manager.get_by_label("First negatives’ origin")
    expect(manager.get_by_label("Benchmark name")).to_be_visible()
    expect(second).to_be_hidden()
    manager.get_by_label("Data and images").set_input_files(sides[0])
    manager.get_by_label("Benchmark name").focus()
    expect(manager.get_by_label("Benchmark name")).to_have_value("vl_checklist_relations")
    manager.keyboard.press("ControlOrMeta+a")
    manager.keyboard.type("VL")
    for key in ("Tab", "Enter", "Tab"):  # to the formats, which are folded away
        manager.keyboard.press(key)
    formats = manager.locator("input[name=format]")
    for _ in range(formats.count()):
        if manager.get_by_role("radio", name="Hard Positives (JSON)").is_checked():
            break
        manager.keyboard.press("ArrowDown")
    expect(second).to_be_visible()
    expect(origin).to_be_hidden()
    manager.keyboard.press("Tab")
    expect(second).to_be_focused()
    second.set_input_files(sides[1])
    manager.get_by_role("checkbox", name="Text only").focus()
    manager.keyboard.press("Space")
    manager.keyboard.press("Enter")
    expect(manager.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    jobs.run(job_id=waiting[0], by="test", work=run_import.import_files)
    assert Item.objects.get().key == "relations-0"

    manager.goto(address)
    manager.get_by_label("Benchmark name").fill("VL again")
    choose(manager, "Hard Positives (JSON)")
    manager.get_by_label("Data and images").set_input_files(sides[0])
    manager.get_by_role("button", name="Upload and import").click()
    wanted = "These files are the original side. Upload the hard positive side too."
    expect(manager.get_by_role("alert")).to_contain_text(wanted)
    expect(manager.get_by_label("Second side")).to_be_visible()


def test_the_second_side_without_script(open_page, visit):
    page = visit(open_page(java_script_enabled=False), "/benchmarks/import/")
    expect(page.get_by_label("Second side")).to_be_hidden()
    choose(page, "Two origins of negatives (JSON)")
    expect(page.get_by_label("Second side")).to_be_visible()
    expect(page.get_by_label("First negatives’ origin")).to_be_visible()
