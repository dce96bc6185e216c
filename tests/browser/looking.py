"""What tests of pages ask of a page in a browser."""

from collections.abc import Callable, Iterator, Sequence

from playwright.sync_api import Locator, Page

from tests.browser.conftest import Sitting

ANOTHER_SCREEN = """before => {
  const there = document.querySelector('#place fieldset.screen');
  return there ? there.dataset.lease !== before : !document.getElementById('place');
}"""


OUTSIDE = """names => names.filter(name => [...document.querySelectorAll(name)].some(one => {
  const box = one.getBoundingClientRect();
  return box.width && (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1);
}))"""
# Of an annotator's screen
CONTROLS = [".card-option", ".choice", "#submit", "#zoom", "#skip", "summary", "#undo", "#rules", ".caption", "#chip"]

DESK, PHONE = (1366, 768, "light"), (390, 844, "dark")  # both sizes and both colour schemes, in two looks
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def in_windows(page: Page, *windows: tuple[int, int, str]) -> Iterator[tuple[int, int, str]]:
    """The page in each window in turn (by default DESK and PHONE), laid out anew; at the end in the first again."""
    windows = windows or (DESK, PHONE)
    for window in windows:
        _look_through(page, window)
        page.evaluate(TWO_FRAMES)
        yield window
    _look_through(page, windows[0])


def _look_through(page: Page, window: tuple[int, int, str]) -> None:
    width, height, scheme = window
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)


def flaws(page: Page, violations: Callable[..., list[str]], within: str = "html") -> list:
    """What is wrong in either window: the rules that it breaks (`axe_violations`), and whether it is too wide.

    `within`: only what has come since another look at the same page.
    """
    found = []
    for window in in_windows(page):
        found += [(window, broken) for broken in violations(page, again=window == PHONE, within=within)]
        found += [] if fits(page) else [(window, "too wide")]
    return found


def compose(locator: Locator, key: str) -> bool:
    """Press a key while an input method composes a word there; whether the method gets it."""
    return locator.evaluate(
        """(field, key) => field.dispatchEvent(
          new KeyboardEvent("keydown", { key, isComposing: true, bubbles: true, cancelable: true }))""",
        key,
    )


def tab_to(page: Page, locator: Locator) -> None:
    """By the Tab key alone."""
    target = locator.element_handle()
    for _ in range(120):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("Tab never comes there.")


def enter(page: Page) -> None:
    """Press Enter; at once when the page is there that this leads to, where `expect` would look every half a second."""
    with page.expect_navigation():
        page.keyboard.press("Enter")


def fits(page: Page) -> bool:
    """Nothing runs off the side of the window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def outside(page: Page, selectors: Sequence[str] = CONTROLS) -> list[str]:
    """Those of which a part is out of sight."""
    return page.evaluate(OUTSIDE, list(selectors))


def send(desk: Sitting, *keys: str) -> Sitting:
    """Press them, and wait for the next screen or the end."""
    before = desk.lease
    desk.press(*keys)
    desk.page.wait_for_function(ANOTHER_SCREEN, arg=before)
    return desk
