"""A judging screen open in a real Chromium, driven by keyboard alone."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Frame, Locator, Page, Route, expect

from annotation.models import Annotator, Judgment, Seat
from annotation.screens.read_answer import place_on_screen
from tests.builders import pictures


def pytest_itemcollected(item: pytest.Item) -> None:
    """The site answers from threads of its own, which see only what is committed."""
    item.add_marker(pytest.mark.browser)
    item.add_marker(pytest.mark.django_db(transaction=True))


HAS_TEXT = """([css, words, whole]) => {
  const text = document.querySelector(css)?.textContent.replace(/\\s+/g, " ").trim();
  return whole ? text === words : text?.includes(words);
}"""

PICTURES_LOADED = """() => [...document.querySelectorAll("#place img")].every(
  (img) => !img.getClientRects().length || (img.complete && !img.dataset.src))"""


def await_pictures(page: Page | Frame) -> None:
    """Until each picture has loaded or failed: before that, the page refuses every answer."""
    page.wait_for_function(PICTURES_LOADED)


def press(page: Page, *keys: str) -> None:
    """Press them; an answer once the page takes one."""
    for key in keys:
        if key.endswith("Enter"):
            await_pictures(page)
        page.keyboard.press(key)


def submit_button(page: Page) -> Locator:
    """To be clicked or tapped: the page takes an answer."""
    await_pictures(page)
    return page.locator("#submit")


class Sitting:
    """An annotator before an open page. Where `expect` looks again after up to half a second, this sees it at once."""

    def __init__(self, page: Page, site: str, annotator: Annotator):
        self.page, self.annotator = page, annotator
        self.home = f"{site}/judge/{annotator.token}/"

    def open(self) -> "Sitting":
        self.page.goto(self.home)
        ready = Seat.objects.filter(annotator=self.annotator, ready_at__isnull=False).exists()
        return self.at_desk() if ready else self

    def at_desk(self) -> "Sitting":
        return self._waits_for("() => document.querySelector('#desk.ready')?.checkVisibility()")

    def _waits_for(self, function: str, arg=None) -> "Sitting":
        self.page.wait_for_function(function, arg=arg)
        return self

    def press(self, *keys: str) -> "Sitting":
        press(self.page, *keys)
        return self

    @property
    def lease(self) -> str:
        return self.page.locator("#place fieldset.screen").get_attribute("data-lease")

    def says(self, chip: str) -> "Sitting":
        return self._waits_for(HAS_TEXT, ["#chip", chip, True])

    def counts(self, done: int) -> "Sitting":
        return self._waits_for(HAS_TEXT, ["#done", str(done), True])

    def told(self, words: str) -> "Sitting":
        return self._waits_for(HAS_TEXT, ["#say", words, False])

    def picked(self, value: str) -> "Sitting":
        picked = f'#place input[name=answer][value="{value}"]'
        return self._waits_for("css => document.querySelector(css)?.checked", picked)

    def nothing_picked(self) -> "Sitting":
        return self._waits_for("() => !document.querySelector('#place input:checked')")

    def all_done(self) -> "Sitting":
        """The last answer has been given."""
        expect(self.page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
        return self

    def answers(self) -> list[tuple[str, str]]:
        """What the database holds, in order: the screen and the answer as it was shown."""
        found = Judgment.objects.filter(lease__annotator=self.annotator).select_related("lease").order_by("pk")
        return [(str(judgment.lease.token), place_on_screen(judgment.lease, judgment.answer)) for judgment in found]


@pytest.fixture
def visit(site, sign_in) -> Callable[..., Page]:
    """`visit(page, "/studies/")`: the page at that address of ours, as a superuser sees it."""

    def go(page: Page, path: str) -> Page:
        ana = User.objects.filter(username="ana").first() or User.objects.create_superuser("ana")
        sign_in(page, ana)
        page.goto(site + path)
        return page

    return go


@pytest.fixture
def sit(open_page, site) -> Callable[..., Sitting]:
    """`sit(items=6, width=390, dark=True, **study settings)`: an open page at the first screen.

    With motion, without which a screen is not hidden until it is ready.
    """

    def take_seat(annotator: Annotator | None = None, page: Page | None = None, **settings) -> Sitting:
        window = {name: settings.pop(name) for name in ("width", "height", "dark") if name in settings}
        who = annotator or pictures.desk(**settings)
        return Sitting(page or open_page(reduced_motion="no-preference", **window), site, who).open()

    return take_seat


def refuse(route: Route) -> None:
    """As if the server were down."""
    route.abort("connectionrefused")
