"""Delivery: in order, signed, again until received, once it is stored, and nowhere but where it is allowed."""

import base64
import ipaddress
import json
import random
import socket
import threading
import time
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from standardwebhooks import Webhook as StandardWebhook
from standardwebhooks import WebhookVerificationError

from annotation import tasks
from annotation.models import Delivery, Webhook
from annotation.webhooks import connection, endpoints, send, signing
from tests.builders import studies
from tests.builders.webhooks import receiver, waiting, webhook
from workers.celery import app

pytestmark = pytest.mark.django_db
LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]


@pytest.fixture(autouse=True)
def loopback_allowed(settings):
    settings.WEBHOOK_NETWORKS = LOOPBACK


def hook(url: str, **fields) -> Webhook:
    return webhook(studies.study(), url, **fields)


def keep_sending(webhook: Webhook) -> None:
    """As the worker does, without the pauses."""
    while send.WAITING.filter(webhook=webhook).exists():
        Webhook.objects.filter(pk=webhook.pk).update(retry_at=Now())
        send.send_waiting(webhook.pk)


def states(webhook: Webhook) -> list[str]:
    return list(webhook.deliveries.order_by("pk").values_list("state", flat=True))


# Order and tries


@pytest.mark.parametrize("count", [30, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_nothing_is_lost_or_out_of_order_at_a_receiver_that_fails_often(count):
    failing = random.Random(7)
    with receiver(lambda number: 500 if failing.random() < 0.3 else 200) as there:
        one = hook(there.url)
        waiting(one, count)
        keep_sending(one)
    assert there.judgments == list(range(count))
    assert there.asked > count * 1.3
    assert set(states(one)) == {"delivered"}


def test_a_failing_event_holds_back_those_after_it_but_no_other_webhook():
    with receiver(lambda number: 503) as down, receiver() as up:
        failing, other = hook(down.url), hook(up.url)
        waiting(failing, 2), waiting(other, 2)
        assert [send.send_waiting(one.pk) for one in (failing, other)] == [0, 2]
        assert send.send_waiting(failing.pk) == 0  # until its pause is over
    assert down.asked == 1
    first = failing.deliveries.earliest("pk")
    assert (first.tries, first.problem) == (1, "The receiver answered 503.")
    failing.refresh_from_db()
    assert timedelta(seconds=3) < failing.retry_at - first.tried_at < timedelta(seconds=7)


def test_pauses_double_up_to_hours_and_differ():
    pauses = [send.pause_after(tries).total_seconds() for tries in range(1, send.TRIES)]
    assert all(0.8 <= pause / min(5 * 2**n, 4 * 3600) <= 1.2 for n, pause in enumerate(pauses))
    assert 18 * 3600 < sum(pauses) < 30 * 3600
    assert len({send.pause_after(9) for _ in range(9)}) > 1


@pytest.mark.parametrize("status, tries", [(500, send.TRIES - 1), (410, 0)])
def test_after_the_last_try_the_webhook_waits_for_a_manager(status, tries):
    """Later events wait too; resumed, the event goes first, or is skipped."""
    with receiver(lambda number: status if number == 0 else 200) as there:
        one = hook(there.url)
        waiting(one, 3)
        one.deliveries.update(tries=tries)
        keep_sending_once = send.send_waiting(one.pk)
        one.refresh_from_db()
        assert (keep_sending_once, states(one)) == (0, ["failed", "waiting", "waiting"])
        assert one.paused_at and send.next_delivery(one.pk) is None
        endpoints.resume(webhook=one, by="test", skip=status == 410)
        keep_sending(one)
    assert there.judgments == ([1, 2] if status == 410 else [0, 1, 2])
    assert states(one)[0] == ("skipped" if status == 410 else "delivered")


def test_a_worker_killed_between_sending_and_storing_sends_the_same_again(monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    with receiver() as there:
        one = hook(there.url)
        waiting(one, 1)
        with monkeypatch.context() as dying:
            dying.setattr(send, "_mark", killed)
            with pytest.raises(Killed):
                send.send_waiting(one.pk)
        assert send.send_waiting(one.pk) == 1
    (first, body), (second, same) = there.got
    assert (first["webhook-id"], body) == (second["webhook-id"], same)


def test_two_workers_never_send_for_one_webhook_at_once(transactional_db):
    begun, go_on = threading.Event(), threading.Event()

    def slow(number: int) -> int:
        begun.set()
        go_on.wait(10)
        return 200

    with receiver(slow) as there:
        one = hook(there.url)
        waiting(one, 2)
        (sender := send.Sender()).turn()
        begun.wait(10)
        assert send.send_waiting(one.pk) == 0
        go_on.set()
        sender.wait()
    assert there.judgments == [0, 1]


@pytest.mark.parametrize("many, known", [(5, False), (20, True)])
def test_slow_receivers_delay_no_other(many, known, transactional_db, raw_receiver, monkeypatch):
    """As many as half the threads not even the first time; once they are known, however many they are."""
    for name, value in {(connection, "SECONDS"): 1, (send, "THREADS"): 10, (send, "FOR_SLOW"): 6}.items():
        monkeypatch.setattr(*name, value)
    sender, silent = send.Sender(), raw_receiver(lambda there: time.sleep(2))
    slow = [hook(silent) for _ in range(many)]
    sender._slow.update(one.pk for one in slow if known)
    for one in slow:
        waiting(one, 1)
    sender.turn()
    with receiver() as there:
        waiting(other := hook(there.url), 1)
        begun = time.monotonic()
        sender.turn()
        while states(other) != ["delivered"] and time.monotonic() - begun < 5:
            time.sleep(0.02)
        assert time.monotonic() - begun < 0.8
        sender.wait()
    assert sender._slow <= {one.pk for one in slow}


@pytest.mark.parametrize("clock_was_ahead", [True, False])
def test_no_webhook_waits_until_a_clock_that_was_ahead_is_caught_up_with(clock_was_ahead):
    with receiver(lambda number: 503 if number == 0 else 200) as there:
        one = hook(there.url)
        waiting(one, 2)
        assert send.send_waiting(one.pk) == 0 and send.due() == []
        if clock_was_ahead:
            later = timedelta(hours=2)
            one.deliveries.filter(tries=1).update(tried_at=F("tried_at") + later)
            Webhook.objects.update(retry_at=F("retry_at") + later)
        assert send.due() == [one.pk] * clock_was_ahead
        assert send.send_waiting(one.pk) == 2 * clock_was_ahead


@pytest.mark.parametrize(("queue", "sends"), [("celery", True), ("models", False)])
def test_a_worker_for_models_alone_sends_nothing(monkeypatch, queue, sends):
    """It has no key to sign with."""
    began = []
    monkeypatch.setattr(tasks.rounds, "start", lambda act, every, what: began.append(what))
    monkeypatch.setattr(app.amqp.queues, "_consume_from", None)
    app.amqp.queues.select(queue)
    tasks.start_rounds()
    assert ("send events to webhooks" in began) == sends


def test_sent_again_goes_before_what_waits():
    with receiver() as there:
        one = hook(there.url)
        rows = waiting(one, 3)
        keep_sending(one)
        waiting(one, 1)
        assert endpoints.send_again(webhook=one, by="test", delivery=rows[1].pk) == 1
        keep_sending(one)
        assert there.judgments == [0, 1, 2, 1, 0]
        hour = timezone.now() - timedelta(hours=1)
        Delivery.objects.filter(pk=rows[0].pk).update(created_at=hour)
        assert endpoints.send_again(webhook=one, by="test", since=hour + timedelta(minutes=1)) == 3
        keep_sending(one)
    ids = [headers["webhook-id"] for headers, _ in there.got]
    assert there.judgments[5:] == [1, 2, 0] and len(set(ids)) == 4


def test_old_events_are_removed():
    one = hook("http://127.0.0.1:9/")
    rows = waiting(one, 4)
    for row, state, days in zip(rows, ["delivered", "delivered", "waiting", "failed"], [29, 31, 89, 91], strict=True):
        Delivery.objects.filter(pk=row.pk).update(state=state, created_at=timezone.now() - timedelta(days=days))
    assert send.forget_old() == 2
    assert set(one.deliveries.values_list("pk", flat=True)) == {rows[0].pk, rows[2].pk}


# Signatures


def test_the_real_library_verifies_what_was_sent():
    study = studies.study()
    with receiver() as there:
        one, secret = endpoints.add(owner=study, url=there.url, types=[], by="test")
        delivery = endpoints.send_test(webhook=one, by="test")
        send.send_waiting(one.pk)
        newer = endpoints.new_secret(webhook=one, by="test")
        waiting(one, 1)
        keep_sending(one)
        Webhook.objects.update(old_until=timezone.now())
        waiting(one, 1)
        keep_sending(one)
    (first, body), both, last = there.got
    assert StandardWebhook(secret).verify(body, first) == json.loads(body)
    assert json.loads(body)["type"] == "webhook.test" and json.loads(body)["data"] == {"study": study.pk}
    delivery.refresh_from_db()
    assert first["webhook-id"] == f"msg_{delivery.key.hex}"
    for valid in (secret, newer):  # for a day, either
        StandardWebhook(valid).verify(both[1], both[0])
    StandardWebhook(newer).verify(last[1], last[0])
    for headers, sent, wrong in [(*last, secret), (first, body + b" ", secret)]:
        with pytest.raises(WebhookVerificationError):
            StandardWebhook(wrong).verify(sent, headers)


def test_the_database_holds_nothing_that_signs(settings):
    one, secret = endpoints.add(owner=studies.study(), url="http://127.0.0.1:9/", types=[], by="test")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    stored = str(Webhook.objects.values())
    assert len(key) == 32 and secret not in stored and key.hex() not in stored
    settings.SECRET_KEY = "another"
    assert signing.secret_of(one.nonce) != secret


# Where to


PRIVATE = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fec0::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1",
    "2002:a00:1::", "::7f00:1", "2001::1",
    "192.0.0.8", "192.0.0.9", "192.88.99.1", "198.18.0.1", "203.0.113.1", "240.0.0.1", "3fff::1", "5f00::1",
    "64:ff9b:1::1", "100:0:0:1::1", "2001:1::1", "2001:20::1", "2001:db8::1", "64:ff9b::c000:8", "2002:c000:8::",
    "::ffff:192.88.99.1",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_no_private_address_is_connected_to(address, settings):
    settings.WEBHOOK_NETWORKS = []
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(connection.Unreachable, match="not a public address"):
        connection.check(f"https://{host}/")


PUBLIC = ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_need_encryption(address):
    host = f"[{address}]" if ":" in address else address
    connection.check(f"https://{host}/path?token=1")
    with pytest.raises(connection.Unreachable, match="https"):
        connection.check(f"http://{host}/")


@pytest.mark.parametrize("url, encrypted", [("HTTPS://lab.example:9/", True), ("HTTP://lab.example:9/", False)])
def test_a_scheme_in_capitals_is_the_same(url, encrypted, monkeypatch):
    asked = []
    monkeypatch.setattr(connection, "addresses_of", lambda *_, encrypted: asked.append(encrypted) or ["127.0.0.1"])
    with connection.Connection() as receiver, pytest.raises(connection.Unreachable):
        receiver.post(url, {}, b"")
    assert asked == [encrypted]


@pytest.mark.parametrize(
    "url, problem",
    [
        ("", "full address"), ("ftp://127.0.0.1/", "full address"), ("https://", "full address"),
        ("https://127.0.0.1:x/", "full address"), ("https://127.0.0.1/a b", "full address"),
        ("https://me:pw@127.0.0.1/", "user name"), ("https://127.0.0.1/#a", "fragment"),
        ("https://no-such-host.invalid/", "not found"),
    ],
)  # fmt: skip
def test_other_addresses_are_refused(url, problem):
    with pytest.raises(endpoints.CannotChange, match=problem):
        endpoints.add(owner=studies.study(), url=url, types=[], by="test")
    assert not Webhook.objects.exists()


def test_a_name_that_resolves_differently_later_leads_nowhere(settings, monkeypatch):
    """The address that is connected to is checked, not the one that the form saw."""
    with receiver() as there:
        port = int(there.url.rstrip("/").rsplit(":", 1)[1])
        one = hook(f"https://rebinding.example:{port}/")
        waiting(one, 1)
        seen = iter(["93.184.216.34", "127.0.0.1"])

        def resolve(host, port, **_):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(seen), port))]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        settings.WEBHOOK_NETWORKS = []
        connection.check(one.url)
        assert send.send_waiting(one.pk) == 0
    assert there.asked == 0
    assert "not a public address" in one.deliveries.get().problem


def test_redirects_are_not_followed():
    with receiver() as private, receiver(lambda number: 302, location=private.url) as there:
        one = hook(there.url)
        waiting(one, 1)
        send.send_waiting(one.pk)
    assert (there.asked, private.asked) == (1, 0)
    assert one.deliveries.get().problem == "The receiver answered 302. Redirects are not followed."


@pytest.fixture
def raw_receiver():
    """`raw_receiver(write)`: the address of a server that answers each connection with `write(socket)`."""
    servers = []

    def make(write) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def serve():
            while True:
                try:
                    there, _ = server.accept()
                except OSError:
                    return
                try:
                    there.recv(65536)
                    write(there)
                except OSError:
                    pass
                there.close()

        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/"

    yield make
    for server in servers:
        server.close()


def drip(there: socket.socket) -> None:
    for _ in range(100):
        there.sendall(b"H")
        time.sleep(0.02)


def endless(there: socket.socket) -> None:
    there.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
    for _ in range(2000):
        there.sendall(b"x" * 65536)


def nonsense(there: socket.socket) -> None:
    there.sendall(b"<html>\r\n\r\n")


def reset(there: socket.socket) -> None:
    pass


@pytest.mark.parametrize(
    "write, problem",
    [(drip, "did not answer within"), (endless, ""), (nonsense, "connection failed"), (reset, "connection failed")],
)
def test_what_a_receiver_answers_is_bounded_in_time_and_size(write, problem, raw_receiver, monkeypatch):
    monkeypatch.setattr(connection, "SECONDS", 0.3)
    one = hook(raw_receiver(write))
    waiting(one, 1)
    before = time.monotonic()
    send.send_waiting(one.pk)
    assert time.monotonic() - before < 2
    found = one.deliveries.get()
    assert problem in found.problem and (found.state == "delivered") == (not problem)


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    with receiver() as there, receiver() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        one = hook(there.url)
        waiting(one, 1)
        assert send.send_waiting(one.pk) == 1
    assert (there.asked, proxy.asked) == (1, 0)
