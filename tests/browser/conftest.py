"""A judging screen open in a real Chromium, driven by keyboard alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Annotator, Judgment, Seat
from annotation.screens.read_answer import place_on_screen
from tests.builders import pictures


class Sitting:
    """An annotator before an open page."""

    def __init__(self, page: Page, site: str, annotator: Annotator):
        self.page, self.annotator = page, annotator
        self.home = f"{site}/judge/{annotator.token}/"

    def open(self) -> "Sitting":
        self.page.goto(self.home)
        ready = Seat.objects.filter(annotator=self.annotator, ready_at__isnull=False).exists()
        return self.at_desk() if ready else self

    def at_desk(self) -> "Sitting":
        expect(self.page.locator("#desk.ready")).to_be_visible()
        return self

    def press(self, *keys: str) -> "Sitting":
        for key in keys:
            self.page.keyboard.press(key)
        return self

    @property
    def lease(self) -> str:
        return self.page.locator("#place fieldset.screen").get_attribute("data-lease")

    def says(self, chip: str) -> "Sitting":
        expect(self.page.locator("#chip")).to_have_text(chip)
        return self

    def counts(self, done: int) -> "Sitting":
        expect(self.page.locator("#done")).to_have_text(str(done))
        return self

    def told(self, words: str) -> "Sitting":
        expect(self.page.locator("#say")).to_contain_text(words)
        return self

    def picked(self, value: str) -> "Sitting":
        expect(self.page.locator(f'#place input[name=answer][value="{value}"]')).to_be_checked()
        return self

    def nothing_picked(self) -> "Sitting":
        expect(self.page.locator("#place input:checked")).to_have_count(0)
        return self

    def answers(self) -> list[tuple[str, str]]:
        """What the database holds, in order: the screen and the answer as it was shown."""
        found = Judgment.objects.filter(lease__annotator=self.annotator).select_related("lease").order_by("pk")
        return [(str(judgment.lease.token), place_on_screen(judgment.lease, judgment.answer)) for judgment in found]


@pytest.fixture
def sit(open_page, site) -> Callable[..., Sitting]:
    """`sit(items=6, width=390, dark=True, **study settings)`: an open page at the first screen."""

    def take_seat(annotator: Annotator | None = None, page: Page | None = None, **settings) -> Sitting:
        window = {name: settings.pop(name) for name in ("width", "height", "dark") if name in settings}
        who = annotator or pictures.desk(**settings)
        return Sitting(page or open_page(**window), site, who).open()

    return take_seat


def refuse(route: Route) -> None:
    """As if the server were down."""
    route.abort("connectionrefused")
