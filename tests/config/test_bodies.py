"""How large a request's body may be: refused before anything of it is read, at every address."""

import re
from functools import cache

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse

from config import bodies
from tests.config.running import ROOT

pytestmark = pytest.mark.django_db
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
HEX = "a" * 32
VALUES = [
    [], [HEX], [1], [1, 1], [1, 1, 1], ["a"], ["a", "b"], [1, "a"], [1, 1, 1, "a"], [1, 1, "a"], ["a.png"],
    [HEX, "mp4"],
]  # fmt: skip
FORM = "application/x-www-form-urlencoded"


class Unread:
    """A body that must not be read."""

    def read(self, *_):
        raise AssertionError("the body was read")

    readline = read

    def close(self): ...


@pytest.fixture
def unread(monkeypatch):
    """Every request has such a body."""
    begin = WSGIRequest.__init__

    def with_unread_body(request, environ):
        begin(request, {**environ, "wsgi.input": Unread()})
        request._stream = Unread()

    monkeypatch.setattr(WSGIRequest, "__init__", with_unread_body)


@cache
def addresses() -> dict[str, str]:
    """An address of every pattern, by its name."""
    found = {}
    for name in filter(lambda name: isinstance(name, str), get_resolver().reverse_dict.keys()):
        for values in VALUES:
            try:
                found[name] = reverse(name, args=values)
                break
            except NoReverseMatch:
                pass
    return found


def test_every_address_is_tried():
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    assert names - set(addresses()) == set()


def send(client: Client, path: str, length: int, kind: str = "multipart/form-data; boundary=x", method: str = "POST"):
    """A request whose head announces a body."""
    return client.generic(method, path, CONTENT_LENGTH=str(length), CONTENT_TYPE=kind)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "path", ["/appearance/", "/judge/a/submit/", "/api/v1/uploads/", "/benchmarks/import/", "/nowhere/"]
)
def test_a_body_without_a_length_is_refused(client, unread, method, path):
    answer = client.generic(method, path, HTTP_TRANSFER_ENCODING="chunked")
    assert (answer.status_code, b"Content-Length" in answer.content) == (411, True)


@pytest.mark.parametrize(
    ("method", "size"), [*((one, settings.BUFFERED_BODY + 1) for one in METHODS), ("POST", 400_000_000)]
)
def test_nothing_large_is_read_from_strangers_at_any_address(unread, method, size):
    client = Client(enforce_csrf_checks=True)
    client.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
    for name, path in addresses().items():
        answer = send(client, path, size, method=method)
        assert answer.status_code in (302, 308, 401, 403, 404, 405, 413), (name, answer.status_code)


@pytest.mark.parametrize("path", ["/appearance/", "/login/", "/join/a/", "/judge/a/submit/", "/judge/a/", "/nowhere/"])
def test_who_sends_too_much_reads_how_much_may_be_sent(client, unread, path):
    answer = send(client, path, 400_000_000, FORM)
    assert answer.status_code == 413 and "at most 1.0" in answer.text and "Winnow" in answer.text


@pytest.mark.parametrize("name", bodies.FILES)
def test_files_are_for_those_who_have_logged_in(client, unread, name):
    path = addresses()[name]
    size = settings.BUFFERED_BODY + 1
    assert send(client, path, size).url == f"/login/?next={path}"
    client.force_login(User.objects.create_user("guest"))
    assert send(client, path, size).status_code == 403
    client.force_login(User.objects.create_superuser("m"))
    assert send(client, path, 11 * 2**30).status_code == 413
    if name == "import-new":
        with pytest.raises(AssertionError, match="the body was read"):
            send(client, path, size)


@pytest.mark.parametrize(("origin", "wrong"), [("https://elsewhere.example", AssertionError), ("", TimeoutError)])
@pytest.mark.parametrize("kind", [FORM, "multipart/form-data; boundary=x"])
def test_the_page_about_an_outdated_form_reads_no_large_one(unread, monkeypatch, origin, wrong, kind):
    """Of another site it is unread; where its token was looked for, the client had stalled."""
    monkeypatch.setattr(Unread, "read", lambda *_: raise_(wrong))
    client = Client(enforce_csrf_checks=True, headers={"Origin": origin} if origin else {})
    client.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
    client.force_login(User.objects.create_superuser("m"))
    assert send(client, "/benchmarks/import/", 2_000_000, kind).status_code == 403


def raise_(wrong: type[Exception]):
    raise wrong


@pytest.mark.parametrize("path", ["/benchmarks/import/", "/studies/new/", "/api/v1/studies/"])
def test_a_body_that_breaks_off_is_nobodys_error(client, unread, monkeypatch, path):
    monkeypatch.setattr(Unread, "read", lambda *_: raise_(TimeoutError))
    client.force_login(User.objects.create_superuser("m"))
    assert send(client, path, 2_000_000).status_code == 400


@pytest.mark.parametrize(
    "sent", ["&".join(f"a{n}=" for n in range(1001)), "a=" + "x" * 3_000_000], ids=["fields", "bytes"]
)
@pytest.mark.parametrize("path", ["/login/", "/appearance/", "/studies/new/"])
def test_a_form_with_too_many_fields_is_refused_by_winnow(client, path, sent):
    client.force_login(User.objects.create_superuser("m"))
    answer = client.post(path, sent, content_type=FORM)
    assert answer.status_code == 413 and "refused" in answer.text and "Winnow" in answer.text


def test_the_proxies_that_we_recommend_let_the_same_through():
    """nginx in the guide, HAProxy before several web servers, Caddy: large bodies at the same addresses."""
    guide = (ROOT / "docs" / "guide" / "deployment.md").read_text()
    balancer = (ROOT / "config" / "haproxy.cfg").read_text()
    acls = re.findall(r"acl files path_reg (\S+)", balancer)
    caddy = re.findall(r"@files path_regexp (\S+)", (ROOT / "config" / "Caddyfile").read_text())
    for found in (re.findall(r"location ~ (\S+) {", guide), acls, caddy):
        for name, path in addresses().items():
            takes_files = name in bodies.FILES or path.startswith("/api/")
            assert found and any(re.search(one, path) for one in found) == takes_files, name
