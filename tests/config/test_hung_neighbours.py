"""Whatever is not the database may hang: it accepts connections and says nothing. It costs one short wait. So does the
database, where the health of a server is asked."""

import ipaddress
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection as database
from django.test import Client
from django.urls import reverse

from annotation.assignment import leases
from annotation.models import Judgment
from annotation.webhooks import connection
from benchmarks.accounts import limits, provider
from config import operations
from config.cache import REDIS
from config.database import base
from config.database.base import DatabaseWrapper
from tests.builders import oidc, studies
from tests.builders.silent_server import silent_server
from workers.celery import BROKER
from workers.celery import app as celery

pytestmark = pytest.mark.django_db
ONCE = 4.0  # seconds, on a machine that is busy; without a deadline it is at least twice that


@pytest.fixture
def silent() -> Iterator[int]:
    with silent_server() as port:
        yield port


@pytest.fixture(autouse=True)
def nothing_is_known_afterwards():
    yield
    known = [operations.DATABASE, base.NAMES, REDIS, BROKER, provider.NEIGHBOUR, connection.NAMES]
    try:
        from benchmarks.storage import bucket
    except ImportError:
        pass
    else:
        known += [bucket.SHOWING, bucket.MANAGING]
    for neighbour in known:
        neighbour.forget()


def seconds(act) -> float:
    begun = time.monotonic()
    act()
    return time.monotonic() - begun


def is_waited_for_once(act) -> bool:
    return seconds(act) < ONCE and median(seconds(act) for _ in range(3)) < 0.4


@pytest.fixture
def hung_redis(settings, silent, monkeypatch):
    settings.REDIS_URL = f"redis://127.0.0.1:{silent}/0"
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": settings.REDIS_URL}}
    monkeypatch.setattr(celery.conf, "broker_url", settings.REDIS_URL)
    monkeypatch.setattr(celery.amqp, "_producer_pool", None)
    monkeypatch.setattr(celery, "_pool", None)


@pytest.mark.usefixtures("hung_redis")
class TestRedis:
    def test_the_cache_acts_as_empty(self):
        assert is_waited_for_once(lambda: cache.get("a"))
        cache.set("a", 1)
        cache.set_many({"a": 1}), cache.delete("a"), cache.delete_many(["a"])
        assert (cache.get("a", 7), cache.get_many(["a"]), cache.add("a", 1), cache.touch("a")) == (7, {}, True, False)
        assert "a" not in cache and cache.get_or_set("a", 3) == 3
        with pytest.raises(ValueError):
            cache.incr("a")

    def test_logins_are_counted_by_nobody(self, rf):
        assert is_waited_for_once(lambda: limits.seconds_to_wait(rf.post("/"), "bo"))

    def test_the_health_is_that_of_a_server_on_which_people_can_judge(self, client):
        assert is_waited_for_once(lambda: client.get("/healthz"))
        assert client.get("/healthz").status_code == 200

    def test_an_answer_is_stored_although_its_task_cannot_be_sent(self, client, django_capture_on_commit_callbacks):
        stage = studies.stage(items=9, strategy="audit", target_half_width=0.2)
        who = studies.annotator(stage.study)

        def answer() -> None:
            lease = leases.hold(annotator=who, stage=stage, wanted=1)[0]
            given = {"lease": lease.token, "key": uuid.uuid4(), "answer": "2"}
            with django_capture_on_commit_callbacks(execute=True) as callbacks:
                assert client.post(reverse("judge-submit", args=[who.token]), given).status_code in (200, 302)
            assert callbacks

        assert is_waited_for_once(answer)
        assert Judgment.objects.count() == 4


class TestObjectStorage:
    @pytest.fixture(autouse=True)
    def hung_storage(self, settings, silent, bucket):
        options = settings.STORAGES["default"]["OPTIONS"] | {"endpoint_url": f"http://127.0.0.1:{silent}"}
        settings.STORAGES = {**settings.STORAGES, "default": {**settings.STORAGES["default"], "OPTIONS": options}}

    def test_an_image_is_soon_refused_for_now(self, client):
        def look() -> None:
            answer = client.get(reverse("thumbnail", args=["a" * 32]))
            assert (answer.status_code, answer["Retry-After"]) == (503, "2")

        assert is_waited_for_once(look)

    def test_images_take_few_threads(self):
        """The others are free for answers at once."""

        def look(number: int) -> float:
            return seconds(lambda: Client().get(reverse("thumbnail", args=[f"{number:032}"])))

        with ThreadPoolExecutor(8) as threads:
            waits = sorted(threads.map(look, range(8)))
        assert waits[4] < 1.4 and waits[7] < ONCE

    def test_pages_of_managers_are_soon_refused_too(self, client, monkeypatch):
        from benchmarks.storage import bucket

        monkeypatch.setattr(bucket.MANAGING, "seconds", 0.5)
        client.force_login(User.objects.create_superuser("boss"))
        assert is_waited_for_once(lambda: client.get(reverse("import-new")))


def test_a_provider_of_logins_is_soon_said_to_be_silent(client, settings, silent, monkeypatch):
    monkeypatch.setattr(provider.NEIGHBOUR, "seconds", 0.5)
    settings.PROVIDERS = oidc.RunningProvider(f"http://127.0.0.1:{silent}").configured()
    assert is_waited_for_once(lambda: client.post(reverse("provider-login", args=["lab"])))
    assert "Lab does not answer." in client.post(reverse("provider-login", args=["lab"])).text


def test_a_hung_database_is_soon_told_to_the_balancer(client, silent, monkeypatch):
    class Hung(dict):
        """As of each thread: another connection after one was given up."""

        def __missing__(self, alias):
            return DatabaseWrapper({**database.settings_dict, "HOST": "127.0.0.1", "PORT": silent})

        def __delitem__(self, alias):
            pass

    monkeypatch.setattr(operations, "connections", Hung())
    assert is_waited_for_once(lambda: client.get("/healthz"))
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text.split("\n")[0]) == (503, "database: does not answer")


def test_the_database_is_found_where_it_was_while_its_name_does_not_resolve(monkeypatch):
    found = [(socket.AF_INET, 1, 6, "", (address, 0)) for address in ("10.0.0.7", "10.0.0.8")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    there = DatabaseWrapper({**database.settings_dict, "HOST": "db.example.org", "PORT": "5433"})
    once = there.get_connection_params()
    assert (once["host"], once["hostaddr"]) == ("db.example.org,db.example.org", "10.0.0.7,10.0.0.8")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(10))
    monkeypatch.setattr(base.NAMES, "seconds", 0.5)
    assert is_waited_for_once(there.get_connection_params) and there.get_connection_params() == once
    for host in ("", "/run/postgresql", "10.0.0.7", "a,b", "never.seen"):
        assert "hostaddr" not in DatabaseWrapper({**database.settings_dict, "HOST": host}).get_connection_params()


def test_a_name_that_nobody_resolves_is_soon_refused(client, settings, monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(10) and [])
    monkeypatch.setattr(connection.NAMES, "seconds", 0.5)
    settings.WEBHOOK_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    client.force_login(User.objects.create_superuser("boss"))
    address, given = reverse("study-webhooks", args=[studies.study().pk]), {"url": "https://lab.example.org/"}
    assert is_waited_for_once(lambda: client.post(address, given))
    assert "takes too long" in client.post(address, given).text
    over.set()
