"""What tests of pages ask of a page in a browser."""

from collections.abc import Iterator

from playwright.sync_api import Locator, Page

from tests.browser.conftest import Sitting

ANOTHER_SCREEN = """before => {
  const there = document.querySelector('#place fieldset.screen');
  return there ? there.dataset.lease !== before : !document.getElementById('place');
}"""


DESK, PHONE = (1366, 768, "light"), (390, 844, "dark")  # both sizes and both colour schemes, in two looks
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def in_windows(page: Page, *windows: tuple[int, int, str]) -> Iterator[tuple[int, int, str]]:
    """The page in each window in turn (by default DESK and PHONE), laid out anew; at the end in the first again."""
    windows = windows or (DESK, PHONE)
    for window in windows:
        _look_through(page, window)
        yield window
    _look_through(page, windows[0])


def _look_through(page: Page, window: tuple[int, int, str]) -> None:
    width, height, scheme = window
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    page.evaluate(TWO_FRAMES)


def tab_to(page: Page, locator: Locator) -> None:
    """By the Tab key alone."""
    target = locator.element_handle()
    for _ in range(120):
        if target.evaluate("element => element === document.activeElement"):
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
