"""What tests share: a place for files, a real Chromium, a running site, accessibility rules, the real material.

Celery: tasks are queued as in production and nothing runs them; a test that wants them run takes `eager_tasks`.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

from tests.collapsed import collapsed
from workers.celery import app as celery

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_FLAGS = [
    "--no-sandbox",  # tests run as root in containers; the only site it opens is our own
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LONGEST = (
    "test_state_machine.py",
    "test_blinding_classifier.py",
    "test_round_trips.py",
    "test_bivlc_paper.py",
    "test_up.py",
    "test_state_machine_text.py",
    "test_races.py",
    "test_real_run.py",
)
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
REAL = Path(__file__).resolve().parent.parent.parent / "shared"


def pytest_configure(config):
    """Static files come from their source folders under their plain names: no collectstatic before tests."""
    django_settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    django_settings.WHITENOISE_USE_FINDERS = django_settings.WHITENOISE_AUTOREFRESH = True
    django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast, for tests alone
    django_settings.CACHES["default"]["KEY_PREFIX"] = os.environ.get("PYTEST_XDIST_WORKER", "tests")


def pytest_collection_modifyitems(items):
    """The longest files come first, so that neither of two processes has one of them left when the other is done."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


class Reader(Client):
    """Django's client; a page comes without the whitespace that no browser shows."""

    def request(self, **environ):
        response = super().request(**environ)
        if not response.streaming and response.get("Content-Type", "").startswith("text/html"):
            response.content = collapsed(response.content.decode())
        return response


@pytest.fixture
def client() -> Reader:
    return Reader()


@pytest.fixture(autouse=True)
def own_files(settings, tmp_path):
    """Each test writes its files under its own folder, never into another's."""
    settings.VAR = tmp_path
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path


@pytest.fixture
def eager_tasks():
    """Celery tasks run at once, in the test's own process."""
    celery.conf.update(task_always_eager=True, task_eager_propagates=True)
    yield
    celery.conf.update(task_always_eager=False, task_eager_propagates=False)


@pytest.fixture
def alone(transactional_db):
    """Nobody else is connected: what threads of earlier tests have left open is ended, as stopping Winnow would."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


@pytest.fixture
def site(live_server) -> str:
    """The address of a running Winnow on the test's database, static files included. The database is emptied after."""
    return live_server.url


@pytest.fixture(scope="session")
def chromium() -> Browser:
    """The system's Chromium, one for the session."""
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        pytest.fail("No Chromium: install the package `chromium` (or Google Chrome) and run the tests again.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium) -> Callable[..., Page]:
    """`open_page(width=390, height=844, dark=True, **context options)`: a page in a browser context of its own.

    What the page logs as an error or throws is in `page.errors`.
    """
    contexts = []

    def make(width: int = 1366, height: int = 768, dark: bool = False, **options) -> Page:
        scheme = "dark" if dark else "light"
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.errors = []
        page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        return page

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def page(open_page) -> Page:
    """One page at 1366 x 768, light."""
    return open_page()


@pytest.fixture
def sign_in(client, site) -> Callable:
    """`sign_in(page, user)`: the page's browser context is logged in to `site` as that user."""

    def log_in(page: Page, user) -> None:
        client.force_login(user)
        name = django_settings.SESSION_COOKIE_NAME
        page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": site}])

    return log_in


def violations(page: Page) -> list[str]:
    """WCAG 2.2 A and AA rules and axe's best practices that the page breaks, a line for each place; empty is good."""
    result = Axe().run(page, options={"runOnly": WCAG, "resultTypes": ["violations"]}).response
    return [
        f"{found['id']}: {found['help']}: {node['html'][:200]} ({(node.get('failureSummary') or '')[:300]})"
        for found in result["violations"]
        for node in found["nodes"]
    ]


@pytest.fixture
def axe_violations() -> Callable[[Page], list[str]]:
    return violations


@pytest.fixture(scope="session")
def real() -> Path:
    """The real material's folder beside the project (`../shared`)."""
    if not (REAL / "data").is_dir():
        pytest.skip("the real material is not beside the project (../shared/data)")
    return REAL
