"""What tests share: people who are logged in, a place for files, a real Chromium, a running site, accessibility rules,
the real material.

Celery: tasks are queued as in production and nothing runs them; a test that wants them run takes `eager_tasks`.
"""

import functools
import gc
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from socketserver import StreamRequestHandler

import hypothesis
import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings as django_settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User, update_last_login
from django.contrib.sessions.backends.base import VALID_KEY_CHARS
from django.contrib.sessions.backends.db import SessionStore
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import connection, connections
from django.db.models import Q, Subquery
from django.http import HttpRequest
from django.template import Context, Template
from django.test import Client, TransactionTestCase
from django.test import utils as test_utils
from django.test.utils import instrumented_test_render
from django.utils.crypto import get_random_string
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright
from pytest_django.plugin import blocking_manager_key
from xdist.scheduler import LoadFileScheduling

from annotation.protocols import registry
from benchmarks.transactions import retry_deadlocks
from tests import prepared, savepoints
from tests.builders import object_storage
from tests.chromium import CHROMIUM_FLAGS, CHROMIUM_NAMES
from tests.collapsed import collapsed
from workers import parquet
from workers.celery import app as celery

LONGEST = ("test_up.py", "test_judge.py", "test_independent.py", "test_rank.py", "test_attention_checks.py")
MODELS = (  # below tests/: they import torch and transformers, which takes a process eight seconds
    "benchmarks/generation/", "benchmarks/scoring/", "benchmarks/training/", "workers/models/", "workers/test_losses",
    "workers/test_training", "annotation/test_the_whole_chain", "annotation/releases/test_formats_webdataset",
    "annotation/releases/test_formats_docs",
)  # fmt: skip
EMPTY_PAGE = "URL.createObjectURL(new Blob([], { type: 'text/html' }))"
PATIENCE = 30_000  # milliseconds for what a page should do at once; the machine may be busy
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_WINDOWS = {  # what a window's size and colours change: how things look, what is left of names when parts are hidden
    "type": "rule",
    "values": ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable", "link-name",
               "button-name", "empty-heading", "empty-table-header"],
}  # fmt: skip
FIND_VIOLATIONS = """async ([within, options, known]) => {
  const keys = new Map(), found = new Map(), seen = new Set(known);
  const hash = text => {  // two of 32 bits: FNV-1a, and as Java hashes strings
    let one = 0x811c9dc5, other = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      one = Math.imul(one ^ code, 0x01000193);
      other = (Math.imul(other, 31) + code) | 0;
    }
    return (one >>> 0).toString(36) + (other >>> 0).toString(36);
  };
  for (const element of document.querySelectorAll('body, body *')) {
    if (!element.checkVisibility()) continue;
    const { color, fontSize, fontWeight, backgroundColor, backgroundImage, opacity, filter, position, textShadow,
      clipPath } = getComputedStyle(element);
    const key = hash([keys.get(element.parentElement), element.localName, element.getAttribute('class'), color,
      fontSize, fontWeight, backgroundColor, backgroundImage, opacity, filter, position, textShadow, clipPath].join());
    keys.set(element, key);
    const text = [...element.childNodes].map(node => node.nodeType === 3 ? node.data.trim() : '').join('');
    const hasText = text.length > 1 || ['input', 'select', 'textarea'].includes(element.localName);
    if (hasText) found.set(key, (found.get(key) ?? 0) + 1);
    // Texts of one character axe leaves undecided, and no text is none of its own, but only after a long search.
    if (!hasText || seen.has(key) || found.get(key) > 3) element.setAttribute('data-alike', '');
  }
  const { violations } = await axe.run(within, options);
  document.querySelectorAll('[data-alike]').forEach(element => element.removeAttribute('data-alike'));
  return [violations, [...found.keys()]];
}"""
_texts_seen = set()  # on pages that kept every rule: a hash of how they are drawn
REAL = Path(__file__).resolve().parent.parent.parent / "shared"
TEMPLATE, TEMPLATE_TRIED = "test_winnow", Path(os.environ["WINNOW_VAR"], "template-tried")
EMPTY_TABLES = """DO $$ DECLARE name text; has_rows bool; names text := ''; BEGIN
  FOR name IN SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'
    AND tablename NOT IN ('django_migrations', 'django_content_type', 'auth_permission') LOOP
    EXECUTE 'SELECT EXISTS (SELECT FROM ' || name || ')' INTO has_rows;
    IF has_rows THEN names := names || ', ' || name; END IF;
  END LOOP;
  IF names <> '' THEN EXECUTE 'TRUNCATE ' || substr(names, 3) || ' CASCADE'; END IF;
END $$"""


def pytest_configure(config):
    """Static files come from their source folders under their plain names: no collectstatic before tests."""
    django_settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    django_settings.WHITENOISE_USE_FINDERS = django_settings.WHITENOISE_AUTOREFRESH = True
    django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast, for tests alone
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    django_settings.CACHES["default"]["OPTIONS"]["db"] = int(worker[2:]) % 15 + 1  # one clears its cache alone
    TransactionTestCase._fixture_teardown = _empty_tables
    test_utils.instrumented_test_render = _render
    Q.check = functools.partialmethod(_check_once, {}, Q.check)
    savepoints.install()
    prepared.install()
    StreamRequestHandler.disable_nagle_algorithm = True  # or many answers wait 40 ms for a reader's receipt
    _load_hypothesis_profile()


def _load_hypothesis_profile() -> None:
    """The suite tries the same examples every time; `make nightly` tries others, and more of them."""
    same = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow], "print_blob": True}
    hypothesis.settings.register_profile("suite", **same, derandomize=True, max_examples=50)
    hypothesis.settings.register_profile("nightly", **same, max_examples=1000)
    hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


def _empty_tables(case: TransactionTestCase) -> None:
    """Instead of Django's flush, which truncates every table and writes content types and permissions anew.

    A request that a page had sent when its test ended may still be under way: PostgreSQL then ends one of the two.
    """
    for name in case._databases_names(include_mirrors=False):
        with connections[name].cursor() as cursor:
            retry_deadlocks(cursor.execute)(EMPTY_TABLES)


def _check_once(condition: Q, known: dict, check: Callable[..., bool], against: dict, **options) -> bool:
    """Whether a new row meets a check constraint: Django asks the database each time, three statements for each of a
    study's and a stage's constraints, and tests make thousands that are alike. What looks at other rows is asked."""
    if any(isinstance(part, Subquery) for part in condition.flatten()):
        return check(condition, against, **options)
    key = condition, *(repr(against.get(name)) for name in sorted(condition.referenced_base_fields))
    if key not in known:
        known[key] = check(condition, against, **options)
    return known[key]


def _render(template: Template, context: Context) -> str:
    """What a page was drawn of is kept for tests that ask its context; Django copies that of every part as well, of
    every field of a form and of all in them."""
    is_part = context.template is not template or (template.name or "").startswith("django/forms/")
    return template.nodelist.render(context) if is_part else instrumented_test_render(template, context)


def pytest_sessionstart(session):
    """While the suite's processes collect, their first one makes the tables that each then copies."""
    if session.config.pluginmanager.hasplugin("dsession"):
        threading.Thread(target=_make_template, args=[session.config], daemon=True).start()


def _make_template(config: pytest.Config) -> None:
    try:
        with config.stash[blocking_manager_key].unblock():
            connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
            connection.close()
    finally:
        TEMPLATE_TRIED.touch()


@pytest.fixture
def manager(client) -> User:
    """A superuser: tests/annotation/test_rights.py holds what the members of a study may."""
    return _logged_in(client, is_superuser=True)


@pytest.fixture
def owner(client) -> User:
    """Of what a test makes as theirs."""
    return _logged_in(client)


def _logged_in(client: Client, **more: bool) -> User:
    user = User.objects.create_user("ana", is_staff=True, **more)
    client.force_login(user)
    return user


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix):
    """Of several processes none migrates: the rows that migrations write are in the copy, too."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        while not TEMPLATE_TRIED.exists():
            time.sleep(0.1)
        connection.settings_dict["TEST"] |= {"TEMPLATE": TEMPLATE, "MIGRATE": False}


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What was imported and collected stays until the end: the garbage collector need not look through it, which took
    an eighth of a worker's time, nor run while it grows."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


def pytest_collection_modifyitems(items):
    """The longest files come first, so that no process has one of them left when the others are done."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (not _needs_models(item.nodeid), places.get(item.path.name, len(places))))


def _needs_models(nodeid: str) -> bool:
    return nodeid.removeprefix("tests/").startswith(MODELS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """`--dist loadfile`, but one process runs all files that need models: only it imports the libraries for them."""
    if config.getvalue("dist") == "loadfile":
        return _FilesAndModels(config, log)


class _FilesAndModels(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return "models" if _needs_models(nodeid) else super()._split_scope(nodeid)


class Reader(Client):
    """Django's client; a page comes without the whitespace that no browser shows."""

    def force_login(self, user, backend=None):
        """Two statements where nobody is logged in: a session made at once as Django's is after its key has changed."""
        if backend or django_settings.SESSION_COOKIE_NAME in self.cookies:
            return super().force_login(user, backend)
        user.backend, request = self._get_backend(), HttpRequest()
        request.session = SessionStore(get_random_string(32, VALID_KEY_CHARS))
        request.session._session_cache = {
            SESSION_KEY: user._meta.pk.value_to_string(user),
            BACKEND_SESSION_KEY: user.backend,
            HASH_SESSION_KEY: user.get_session_auth_hash(),
        }
        row = request.session.create_model_instance(request.session._session_cache)
        request.session.model.objects.bulk_create([row])
        update_last_login(None, user)
        self._set_login_cookies(request)

    def request(self, **environ):
        response = super().request(**environ)
        if not response.streaming and response.get("Content-Type", "").startswith("text/html"):
            response._container = CollapsedPage(response.content)
        return response


class CollapsedPage:
    """The content of a response, collapsed when it is first read: many tests only look at the status."""

    def __init__(self, page: bytes):
        self.page = page

    @functools.cached_property
    def collapsed(self) -> bytes:
        return collapsed(self.page.decode()).encode()

    def __iter__(self):
        yield self.collapsed


@pytest.fixture
def client() -> Reader:
    return Reader()


@pytest.fixture(autouse=True)
def own_protocols():
    """Each test publishes protocol files anew, under the same names."""
    registry.forget_published()


@pytest.fixture(autouse=True)
def own_files(settings, tmp_path):
    """Each test writes its files under its own folder, never into another's."""
    settings.VAR = tmp_path
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path


@pytest.fixture
def bucket(settings) -> str:
    """Files are kept in a new bucket of that name, at the address of `object_storage.server()`."""
    storage = object_storage.server()
    name = object_storage.new_bucket(storage.url)
    settings.STORAGES = object_storage.storages(storage.url, name)
    return name


@pytest.fixture(params=["folder", "bucket"])
def place(request) -> None:
    """Files are kept in a folder, then in a bucket."""
    if request.param == "bucket":
        request.getfixturevalue("bucket")


@pytest.fixture
def parquet_trial_in_process(monkeypatch):
    """Parquet files are read through in this process: a child process takes half a second to start."""
    monkeypatch.setattr(parquet, "trial_in_child", parquet.trial)


@pytest.fixture
def eager_tasks():
    """Celery tasks run at once, in the test's own process."""
    celery.loader.import_default_modules()
    celery.conf.update(task_always_eager=True, task_eager_propagates=True)
    yield
    celery.conf.update(task_always_eager=False, task_eager_propagates=False)


@pytest.fixture
def alone(transactional_db):
    """Nobody else is connected: what threads of earlier tests have left open is ended, as stopping Winnow would."""
    _end_other_sessions()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """At the end nobody else is connected, so that the database can be dropped."""
    yield
    with django_db_blocker.unblock():
        connection.close()  # a test may have broken it
        _end_other_sessions()


def _end_other_sessions() -> None:
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
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


class RequestCounter:
    """Requests that the test's own site is answering at this moment; Django's test client is not counted."""

    def __init__(self):
        self.changed, self.open = threading.Condition(), 0
        request_started.connect(self._started)
        request_finished.connect(self._finished)

    def _started(self, sender, **_) -> None:
        self._add(sender, 1)

    def _finished(self, sender, **_) -> None:
        self._add(sender, -1)

    def _add(self, sender, one: int) -> None:
        if sender and issubclass(sender, WSGIHandler):
            with self.changed:
                self.open += one
                self.changed.notify_all()

    def wait_for_none(self) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.open <= 0, timeout=10)
            self.open = 0


@pytest.fixture(scope="session")
def site_requests() -> RequestCounter:
    return RequestCounter()


@pytest.fixture(scope="session")
def idle_pages(chromium) -> dict[str, list[Page]]:
    """Pages that no test uses now, by the options of their browser contexts: a new context costs a second of CPU."""
    return {}


@pytest.fixture
def open_page(chromium, idle_pages, site_requests) -> Callable[..., Page]:
    """`open_page(width=390, height=844, dark=True, **context options)`: a page in a browser context of its own.

    What the page logs as an error or throws is in `page.errors`. Contexts are used again by later tests, emptied of
    cookies and storage; `unshared=True` makes a fresh one (a clock, once installed, stays in its context). Service
    workers, which tests' routes do not see, are blocked unless `service_workers="allow"`. Nothing moves by itself
    unless `reduced_motion="no-preference"`: charts that grow into place take up to 40% of their page's CPU time.
    """
    used = []

    def make(width=1366, height=768, dark=False, reduced_motion="reduce", unshared=False, **options) -> Page:
        options = {"service_workers": "block"} | options
        kind = repr(sorted(options.items()))
        idle = [] if unshared else idle_pages.setdefault(kind, [])
        page = idle.pop() if idle else _new_page(chromium, options)
        used.append((page, None if unshared else kind))
        page.errors = []
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion=reduced_motion)
        return page

    yield make
    for page, _ in used:
        page.context.set_offline(True)
    site_requests.wait_for_none()  # the database is emptied next
    for page, kind in used:
        if kind is None or not _cleared(page):
            page.context.close()
        else:
            idle_pages[kind].append(page)


def _new_page(chromium: Browser, options: dict) -> Page:
    context = chromium.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    return page


def _cleared(page: Page) -> bool:
    """Whether `page` can be used again; one that leaves for another page meanwhile cannot."""
    try:
        clear_page(page)
    except Error:
        return False
    return True


def clear_page(page: Page) -> None:
    """Nothing of a test is left in the page's context: other pages, routes, cookies, storage, the pointer's place."""
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.unroute_all(behavior="ignoreErrors")
    page.mouse.up()
    page.mouse.move(0, 0)
    page.emulate_media(media="null")
    page.context.clear_cookies()
    origin = page.evaluate("origin")
    if origin != "null":
        page.evaluate("sessionStorage.clear()")
        page.goto(page.evaluate(EMPTY_PAGE))  # of the same origin: about:blank would cost a new process
        session = page.context.new_cdp_session(page)
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()
    page.context.set_offline(False)


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


def violations(page: Page, again: bool = False, within: str = "html") -> list[str]:
    """WCAG 2.2 A and AA rules and axe's best practices that the page breaks, a line for each place; empty is good.

    Contrast, most of what axe takes, is looked at in three of the texts that are drawn alike from the page's root down,
    and in none that an earlier page that kept all rules drew alike, nor in those of a single character.
    `again`: the same page kept all rules in another window; only those are run that a window can change.
    `within`: what has come since another look at the same page.
    """
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE_SCRIPT)
        page.evaluate("axe.configure({ rules: [{ id: 'color-contrast', selector: ':not([data-alike])' }] })")
    options = {"runOnly": OF_WINDOWS if again else WCAG, "resultTypes": ["violations"]}
    broken, texts = page.evaluate(FIND_VIOLATIONS, [within, options, list(_texts_seen)])
    if not broken:
        _texts_seen.update(texts)
    return [
        f"{found['id']}: {found['help']}: {node['html'][:200]} ({(node.get('failureSummary') or '')[:300]})"
        for found in broken
        for node in found["nodes"]
    ]


@pytest.fixture
def axe_violations() -> Callable[..., list[str]]:
    return violations


@pytest.fixture(scope="session")
def real() -> Path:
    """The real material's folder beside the project (`../shared`)."""
    if not (REAL / "data").is_dir():
        pytest.skip("the real material is not beside the project (../shared/data)")
    return REAL
