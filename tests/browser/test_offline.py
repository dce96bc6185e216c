"""Without a connection: the page says what is stored on the device, and a reload finds a page of ours."""

from playwright.sync_api import expect

from tests.browser.conftest import Sitting
from tests.browser.looking import flaws
from tests.builders import pictures

KEPT = "async () => (await Promise.all((await caches.keys()).map(async name => (await (await caches.open(name)).keys())"
KEPT += ".map(({ url }) => new URL(url).pathname)))).flat()"


def test_out_of_screens_the_page_says_how_many_answers_are_stored_here(sit, axe_violations):
    desk = sit(items=4)
    desk.page.context.set_offline(True)
    desk.press("1", "Enter", "2", "Enter")
    line = desk.page.locator(".pause")
    expect(line).to_have_text("There is no connection right now. 2 answers are stored on this device and will be sent.")
    assert flaws(desk.page, axe_violations, "#place") == []
    desk.page.context.set_offline(False)
    desk.at_desk().nothing_picked().counts(2).says("saved")
    assert [answer for _, answer in desk.answers()] == ["1", "2"]


def test_a_reload_without_a_connection_finds_a_page_that_goes_on_by_itself(open_page, site, axe_violations):
    annotator = pictures.desk(items=4)
    page = open_page(service_workers="allow", unshared=True, reduced_motion="no-preference")
    desk = Sitting(page, site, annotator).open()
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    first = desk.lease
    page.context.set_offline(True)
    desk.press("2", "Enter").counts(1)
    page.reload()
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()
    expect(page.locator("#kept")).to_have_text("1 answer is stored on this device and will be sent.")
    assert flaws(page, axe_violations) == []
    kept = page.evaluate(KEPT)
    assert "/judge-offline/en/" in kept and all(
        path.startswith(("/judge-offline/", "/judge-words/", "/static/")) for path in kept
    )
    page.context.set_offline(False)
    desk.at_desk().says("saved")
    assert desk.lease != first and desk.answers() == [(first, "2")]
