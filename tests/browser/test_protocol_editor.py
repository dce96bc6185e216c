"""A question of one's own in a real browser: library, draft, mistake, preview, version, new study."""

import re

from playwright.sync_api import expect

from annotation.models import Judgment, Lease, ProtocolDraft, ProtocolVersion, Study
from annotation.protocols import library
from tests.browser.conftest import await_pictures
from tests.browser.looking import compose, flaws
from tests.builders import declared, pictures


def test_a_question_goes_from_the_library_to_a_study(visit, page, axe_violations):
    benchmark = declared.benchmark(library.shipped("image-caption-foil"), items=3)
    pictures.paint_benchmark(benchmark)
    visit(page, f"/studies/new/?benchmark={benchmark.pk}")
    page.get_by_role("link", name="Write your own question").click()
    assert flaws(page, axe_violations) == []
    page.get_by_role("button", name="Start from Image, caption and foil").press("Enter")
    text = page.get_by_label("Protocol file (YAML)")
    expect(page.locator("#state")).to_contain_text("No problems")
    assert compose(text, "Tab") and text.input_value() == library.text_of("image-caption-foil")

    frame = page.frame_locator("#preview")
    expect(frame.locator("#desk.ready")).to_be_visible()
    await_pictures(page.locator("#preview").element_handle().content_frame())
    frame.locator("body").press("b")
    frame.locator("body").press("Enter")
    expect(page.locator("#answers")).to_contain_text("Dropped: both fit.")

    # A mistake is named where it is, and mended without losing anything.
    text.fill(text.input_value().replace("kind: pick", "kind: pik"))
    problem = page.locator("#draft-problems a")
    expect(problem).to_contain_text("answers.0.kind")
    assert flaws(page, axe_violations) == []
    problem.press("Enter")
    expect(text).to_be_focused()
    assert "kind: pik" in page.evaluate("getSelection().toString()")
    page.keyboard.type("    kind: pick")
    expect(page.locator("#draft-problems")).to_contain_text("No problems")
    expect(page.locator("#stale")).to_be_visible()
    page.keyboard.press("Tab")
    assert ProtocolDraft.objects.get().text.count("kind: pick\n") == 1
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(text).not_to_be_focused()

    page.get_by_role("button", name="Update the preview").click()
    expect(frame.locator("#desk.ready")).to_be_visible()
    expect(page.locator("#stale")).to_be_hidden()
    page.get_by_label("Phone").check()
    assert page.locator("#preview").evaluate("one => one.clientWidth") == 390

    page.get_by_role("button", name="Publish as a version").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Image, caption and foil")
    assert flaws(page, axe_violations) == []
    page.get_by_role("link", name="Use in a new study").click()
    page.get_by_role("link", name="Continue to the texts").click()
    page.get_by_label("Study name").fill("Ours")
    page.get_by_role("button", name="Create the study").click()
    page.wait_for_url(re.compile(r"/studies/\d+/$"))
    assert Study.objects.get().stages.get().protocol == str(ProtocolVersion.objects.get())
    assert page.errors == [] and not Lease.objects.exists() and not Judgment.objects.exists()
