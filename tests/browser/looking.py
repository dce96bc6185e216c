"""What tests of pages ask of a page in a browser."""

from playwright.sync_api import Locator, Page

from tests.browser.conftest import Sitting

ANOTHER_SCREEN = """before => {
  const there = document.querySelector('#place fieldset');
  return there ? there.dataset.lease !== before : !document.getElementById('place');
}"""


def tab_to(page: Page, locator: Locator) -> None:
    """By the Tab key alone."""
    for _ in range(120):
        if locator.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("Tab never comes there.")


def fits(page: Page) -> bool:
    """Nothing runs off the side of the window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def send(desk: Sitting, *keys: str) -> Sitting:
    """Press them, and wait for the next screen or the end."""
    before = desk.lease
    desk.press(*keys)
    desk.page.wait_for_function(ANOTHER_SCREEN, arg=before)
    return desk
