"""`make run`'s one process: what it prints, what it refuses, and what a kill -9 of anything leaves behind."""

import os
import re
import signal
from contextlib import suppress

import psutil
import pytest

from config.processes import leftovers
from tests.config.running import Winnow

pytestmark = pytest.mark.xdist_group("up")


@pytest.fixture(scope="module")
def winnow(tmp_path_factory):
    winnow = Winnow(tmp_path_factory.mktemp("up") / "var")
    winnow.up()
    yield winnow
    if winnow.process.poll() is None:
        winnow.down()


@pytest.fixture
def running(winnow):
    winnow.up()
    return winnow


def children(winnow: Winnow, word: str) -> list[psutil.Process]:
    """The supervisor's own that are alive with this word on their command line; one that ends meanwhile is none."""
    found = []
    for process in psutil.Process(winnow.process.pid).children():
        with suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE and word in " ".join(process.cmdline()):
                found.append(process)
    return found


def count_users(winnow: Winnow) -> int:
    code = "from django.contrib.auth.models import User; print('users:', User.objects.count())"
    return int(re.search(r"users: (\d+)", winnow.command("shell", "-c", code).stdout)[1])


def test_the_first_start_prints_links_that_answer(running):
    invite = re.search(r"http://localhost:\d+(/join/\S+/)", running.first_said)[1]
    assert "<title>" in running.get("/")
    assert "<title>" in running.get("/login/")
    assert "<title>" in running.get(invite)
    assert str(running.var) in running.first_said


def test_the_printed_password_is_the_admins_and_is_nowhere_else(running):
    password = re.search(r"one-time password (\S+)", running.first_said)[1]
    code = f"from django.contrib.auth import authenticate; print(authenticate(username='admin', password='{password}'))"
    assert "admin" in running.command("shell", "-c", code).stdout
    assert not any(password in log.read_text(errors="replace") for log in (running.var / "log").iterdir())


def test_the_health_check_asks_both_servers(running):
    assert running.get("/healthz") == "database: ok\nredis: ok\n"


def test_a_second_start_says_where_winnow_runs(running):
    second = running.command("up")
    assert second.returncode == 1
    assert second.stderr.strip().count("\n") == 0
    assert f"already runs at {running.url}" in second.stderr


def test_a_taken_port_is_said_in_a_sentence(running, tmp_path):
    other = running.command("up", WINNOW_VAR=str(tmp_path / "other"))
    assert other.returncode == 1
    assert other.stderr.strip().startswith(f"Port {running.port} on 127.0.0.1 cannot be used")


def test_a_port_that_is_no_number_is_said_in_a_sentence(running, tmp_path):
    other = running.command("up", WINNOW_VAR=str(tmp_path / "other"), PORT="web")
    assert (other.returncode, other.stderr) == (1, "PORT must be a number from 1 to 65535, not 'web'.\n")


@pytest.mark.parametrize("word", ["gunicorn", "--queues celery", "--queues scoring", "valkey-server", "postgres"])
def test_a_killed_child_is_started_again(running, word):
    before = children(running, word)[0]
    before.kill()
    running.wait(lambda: any(process.pid != before.pid for process in children(running, word)), 10)
    running.wait(lambda: answers(running), 15)


def answers(winnow: Winnow) -> bool:
    try:
        return winnow.get("/healthz").count("ok") == 2
    except OSError:
        return False


def test_kill_9_leaves_no_process_and_loses_no_row(running):
    code = "from django.contrib.auth.models import User; User.objects.create(username='kept')"
    assert running.command("shell", "-c", code).returncode == 0
    users = count_users(running)
    running.down(signal.SIGKILL)
    running.wait_until_nothing_is_left()
    running.up()
    assert count_users(running) == users
    assert "one-time password" not in running.said


def test_ctrl_c_stops_everything(running):
    assert running.down(signal.SIGINT) == 0
    assert leftovers(running.var) == []
    running.wait_until_nothing_is_left()


def test_a_command_starts_the_servers_it_needs_past_a_stale_pid_file(winnow):
    """The number in PostgreSQL's pid file may belong to somebody else by now: here, to this test."""
    if winnow.process.poll() is None:
        winnow.down()
    stale = winnow.var / "postgres" / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{winnow.var / 'postgres'}\n1700000000\n5432\n\n\n       0         0\nready   \n")
    assert count_users(winnow) >= 1
    assert leftovers(winnow.var) == []
