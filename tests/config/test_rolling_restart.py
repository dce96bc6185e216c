"""Web servers behind one address are restarted one after another while people judge: nobody notices."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import psutil
import pytest
from django.db import connection

from annotation.assignment.seats import accept_instructions, join
from annotation.models import Study
from bench.nemesis.account import account
from bench.nemesis.annotators import Annotator
from config import draining
from tests.builders import studies
from tests.config.balancer import Balancer
from tests.config.running import Servers, free_port

ANNOTATORS = 4
SHAPE = ["--worker-class", "config.buffering.Worker", "--workers", "1", "--threads", "4", "--keep-alive", "15"]
SHAPE += ["--no-control-socket", "--log-level", "warning"]


class WebServers:
    """One for each port. `drain`: seconds."""

    def __init__(self, folder: Path, drain: int):
        own = {"DATABASE_URL": database_url(), "WINNOW_VAR": str(folder), "WINNOW_DRAIN": str(drain)}
        self.servers = Servers(folder / "web.log", own)
        self.processes: dict[int, psutil.Process] = {}

    def start(self, port: int) -> None:
        where = ["--config", "python:config.draining", "--bind", f"127.0.0.1:{port}"]
        self.processes[port] = self.servers.start("gunicorn", "config.wsgi", *where, *SHAPE)

    def stop(self, port: int) -> None:
        self.processes[port].terminate()
        self.processes[port].wait(60)


def database_url() -> str:
    return os.environ["DATABASE_URL"].replace("/winnow?", f"/{connection.settings_dict['NAME']}?")


def seated(items: int) -> list[Annotator]:
    """People with a study of so many items. They do not know the server's port yet."""
    study = studies.study(benchmark=studies.benchmark(items), overlap=2)
    found, pace = [], Random(1).uniform
    for number in range(ANNOTATORS):
        one = join(study=study, by="test", simulated=True)
        accept_instructions(annotator=one, stage=one.stage, version=1)
        found.append(Annotator(0, one.token, f"{number}", lambda: pace(0.05, 0.2)))
    return found


@contextmanager
def working(people: list[Annotator], port: int) -> Iterator[None]:
    stop = threading.Event()
    threads = [threading.Thread(target=one.work, args=(stop,)) for one in people]
    for one, thread in zip(people, threads, strict=True):
        one.port = one.connection.port = port
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def roll(people: list[Annotator], folder: Path, web_servers: int, rounds: int, drain: int = 1) -> list[str]:
    """Restart each web server in turn while people judge; returns the errors that anybody got."""
    servers, ports = WebServers(folder, drain), [free_port() for _ in range(web_servers)]
    balancer = Balancer(ports)
    try:
        for port in ports:
            servers.start(port)
        for port in ports:
            balancer.wait_until(port, True)
        with working(people, balancer.port):
            for port in ports * rounds:
                servers.stop(port)
                balancer.wait_until(port, False)
                servers.start(port)
                balancer.wait_until(port, True)
    finally:
        balancer.close()
        servers.servers.close()
    assert min(balancer.served.values()) > 10
    return [*balancer.errors, *(failure.what for one in people for failure in one.diary.failures)]


def wrong_with(people: list[Annotator]) -> list[str]:
    """What they gave, against the database: examples of answers lost, altered, doubled or beyond the overlap."""
    diaries = {one.home.split("/")[2]: one.diary for one in people}
    found = account(diaries, url=database_url(), study=Study.objects.get().pk, export="")
    assert found.acknowledged > 50
    return found.examples


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("web_servers", "rounds", "items"),
    [(2, 1, 200), pytest.param(3, 10, 4000, marks=pytest.mark.nightly)],
    ids=["once", "ten times"],
)
def test_a_rolling_restart_loses_no_answer_and_shows_no_error(tmp_path, web_servers, rounds, items):
    people = seated(items)
    assert roll(people, tmp_path, web_servers, rounds) == []
    assert wrong_with(people) == []


@pytest.mark.django_db
def test_a_web_server_that_drains_is_not_healthy_but_serves(client, monkeypatch):
    monkeypatch.setattr(draining, "is_on", lambda: True)
    assert client.get("/healthz").status_code == 503
    assert client.get("/livez").content == b"ok\n"
    assert client.get("/login/").status_code == 200


def test_a_second_signal_ends_the_wait(monkeypatch):
    stopped: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda signum, frame: stopped.append(signum))
    monkeypatch.setattr(draining, "_shared", None)
    try:
        draining.drain_first(60)
        signal.raise_signal(signal.SIGTERM)
        assert draining.is_on() and not stopped
        signal.raise_signal(signal.SIGTERM)
        assert stopped == [signal.SIGTERM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, before)
