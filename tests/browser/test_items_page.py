"""A study's items in a real browser: from a search to an item's history by keyboard, accessible, at every size."""

from playwright.sync_api import expect

from annotation.models import Flag, Lease
from tests.browser.looking import flaws, tab_to
from tests.builders import text_items
from tests.builders.pictures import paint


def test_from_a_search_to_the_history_by_keyboard(visit, page, axe_violations):
    study = paint(text_items.study(text_items.PARAPHRASE, items=2))
    text_items.edits(study.stages.select_related("study").get(), "A cat naps on a mat.")
    Flag.objects.create(lease=Lease.objects.first(), reason="Is this a mat?")
    edited = Lease.objects.first().task.item

    visit(page, f"/studies/{study.pk}/items/")
    assert flaws(page, axe_violations) == []
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys.get_by_role("term")).to_have_text(["/", "?", "Esc"])
    assert flaws(page, axe_violations, ".page-keys") == []
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("?")  # a key that is typed does nothing else
    expect(page.locator("#q")).to_have_value("?")
    page.keyboard.press("Backspace")
    page.context.add_cookies([{"name": "keys", "value": "off", "url": page.url}])
    page.reload()
    page.keyboard.press("?")
    expect(keys).to_have_count(0)
    tab_to(page, page.locator("#q"))
    page.keyboard.type(edited.key)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**q={edited.key}**")
    tab_to(page, page.get_by_role("link", name=edited.key, exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_text("flagged by A-01")).to_be_visible()
    expect(page.get_by_role("cell", name="A cat naps on a mat.")).to_be_visible()
    assert (flaws(page, axe_violations), page.errors) == ([], [])
    page.locator(".thumbs a").first.press("Enter")
    assert (flaws(page, axe_violations, ".enlarged"), page.errors) == ([], [])
