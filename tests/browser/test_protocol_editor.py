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
    page.get_by_role("button", name="Start from Caption or hard negative").press("Enter")
    text = page.get_by_label("Protocol file (YAML)")
    expect(page.locator("#state")).to_contain_text("No problems")
    assert compose(text, "Tab") and text.input_value() == library.text_of("image-caption-foil")

    frame = page.frame_locator("#preview")
    expect(frame.locator("#desk.ready")).to_be_visible()
    await_pictures(page.locator("#preview").element_handle().content_frame())
    frame.locator("#place h1").click()  # keys are the editor's until then
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
    expect(page.get_by_role("heading", level=1)).to_have_text("Caption or hard negative")
    assert flaws(page, axe_violations) == []
    page.get_by_role("link", name="Use in a new study").click()
    page.get_by_role("link", name="Continue to the texts").click()
    page.get_by_label("Study name").fill("Ours")
    page.get_by_role("button", name="Create the study").click()
    page.wait_for_url(re.compile(r"/studies/\d+/$"))
    assert Study.objects.get().stages.get().protocol == str(ProtocolVersion.objects.get())
    assert page.errors == [] and not Lease.objects.exists() and not Judgment.objects.exists()


def test_a_question_goes_from_the_form_to_a_new_study(visit, page, axe_violations):
    """By keyboard: the file and the screen follow what is typed, and only the fields of the chosen kind are there."""
    benchmark = declared.benchmark(library.shipped("image-caption-foil"), items=3)
    pictures.paint_benchmark(benchmark)
    visit(page, f"/studies/new/?benchmark={benchmark.pk}")
    page.locator(f"main a[href='/protocols/?benchmark={benchmark.pk}']").click()
    assert flaws(page, axe_violations) == []
    page.get_by_role("button", name="Write a question").press("Enter")
    frame, file = page.frame_locator("#preview"), page.locator("pre.file")
    expect(frame.get_by_role("radio", name="Neither")).to_be_attached()
    expect(page.get_by_label("Points of the scale")).to_be_hidden()
    page.get_by_label("Choose one of several").press("ArrowDown")
    expect(page.get_by_label("Yes or no")).to_be_checked()
    expect(page.get_by_role("group", name="To choose from")).to_be_hidden()
    page.get_by_label("The question", exact=True).fill("Does the sentence say what you see?")
    page.get_by_label("Button for yes").fill("It does")
    expect(file).to_contain_text("yes: It does")
    expect(frame.locator("#place").get_by_text("It does")).to_be_visible()
    expect(frame.locator("#place")).to_contain_text("Does the sentence say what you see?")
    assert flaws(page, axe_violations) == []
    for name in ("positive image", "1 caption"):
        page.get_by_role("group", name="On the screen").get_by_label(name).press("Space")
    expect(page.locator("#state")).to_contain_text("Tick at least one part of the item.")
    assert page.errors == []
    page.get_by_role("button", name="Use it in a new study").press("Enter")
    expect(page.locator("#problems")).to_be_focused()
    assert flaws(page, axe_violations) == []
    page.get_by_role("group", name="On the screen").get_by_label("positive image").press("Space")
    page.get_by_role("button", name="Use it in a new study").press("Enter")
    page.wait_for_url(f"**/studies/new/?protocol=does-the-sentence-say-what-you@1&benchmark={benchmark.pk}")
    expect(page.locator("main")).to_contain_text("Does the sentence say what you see?")


def test_the_editor_wraps_long_lines_and_numbers_stay_beside_theirs(visit, page):
    benchmark = declared.benchmark(library.shipped("image-caption-foil"), items=1)
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, f"/protocols/?benchmark={benchmark.pk}")
    page.get_by_role("button", name="Start from Caption or hard negative").click()
    text = page.get_by_label("Protocol file (YAML)")
    lines = text.input_value().splitlines()
    text.fill("\n".join([*lines[:3], f"# {'word ' * 60}{'x' * 90}", "scren:", *lines[3:]]))
    expect(page.locator("#draft-problems li").first).to_be_visible()
    sizes = """[id_text, document.getElementById("numbers"), document.documentElement].map(
      (one) => [one.scrollWidth - one.clientWidth, one.scrollHeight])"""
    (over, height), (_, beside), (wide, _) = page.evaluate(sizes)
    assert (over, wide) == (0, 0) and height == beside
    page.locator("#draft-problems a", has_text="scren").click()
    marked = page.locator("#numbers .bad").first
    assert marked.text_content().startswith("scren:") and marked.bounding_box()["height"] < 30
    assert page.evaluate("[id_text.scrollTop, document.getElementById('numbers').scrollTop]")[0] > 0
    assert page.evaluate("id_text.scrollTop === document.getElementById('numbers').scrollTop")
