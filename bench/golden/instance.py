"""A scratch Winnow whose chance and clock repeat: its servers, its web process, its times rewritten in the end."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from config.services import Servers, database_url, redis_url

FIRST_TIME = "2020-01-06T09:00:00Z"
STEP = "10 seconds"  # between two judgments

# random() of a session that finds the schema `golden` first: the same numbers in every run.
DICE = """
CREATE SCHEMA golden;
CREATE SEQUENCE golden.dice;
CREATE FUNCTION golden.random() RETURNS double precision LANGUAGE sql VOLATILE AS
$$ SELECT (hashint8extended(nextval('golden.dice'), 7) & 9007199254740991)::double precision / 9007199254740992 $$;
ALTER DATABASE winnow SET search_path = public, golden, pg_catalog;
"""


@dataclass(frozen=True)
class Instance:
    """`folder` is for files of the run; `url` is where the web process answers."""

    folder: Path
    url: str


@contextlib.contextmanager
def instance(on_migrated) -> Iterator[Instance]:
    """A migrated Winnow that is served on a free port. `on_migrated` is called before anything is added to the
    database.
    """
    with tempfile.TemporaryDirectory(prefix="winnow-golden-", ignore_cleanup_errors=True) as name:
        var = Path(name).resolve() / "var"
        var.mkdir()
        servers = Servers(var, durable=False)
        servers.start()
        os.environ |= {"WINNOW_VAR": str(var), "DATABASE_URL": database_url(var), "REDIS_URL": redis_url(var)}
        os.environ |= {"SECRET_KEY": "golden " * 8, "COLUMNS": "120", "DJANGO_SETTINGS_MODULE": "config.settings"}
        try:
            import django

            django.setup()
            _prepare(on_migrated)
            with _web(var) as url:
                yield Instance(var.parent, url)
        finally:
            from django.db import connections

            connections.close_all()
            servers.stop()


def _prepare(on_migrated) -> None:
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    on_migrated()
    with connection.cursor() as cursor:
        cursor.execute(DICE)
        cursor.execute("ALTER SYSTEM SET autovacuum = off")  # so that plans do not change in between
        cursor.execute("SELECT pg_reload_conf()")
    connection.close()


@contextlib.contextmanager
def _web(var: Path) -> Iterator[str]:
    """One process that answers one request after the other."""
    listener = socket.create_server(("127.0.0.1", 0))
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--worker-class", "sync", "--workers", "1"]
    command += ["--timeout", "300", "--bind", f"fd://{listener.fileno()}", "--log-level", "warning"]
    with (var.parent / "web.log").open("wb") as log:
        web = subprocess.Popen(command, pass_fds=[listener.fileno()], stdout=log, stderr=log)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        _wait_for(f"{url}/healthz", web)
        yield url
    finally:
        web.terminate()
        web.wait(20)
        listener.close()


def _wait_for(url: str, web: subprocess.Popen) -> None:
    for _ in range(600):
        if web.poll() is not None:
            raise RuntimeError("The web process ended before it answered.")
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=60) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    raise RuntimeError("The web process does not answer.")


def rewrite_times() -> None:
    """Every time in the database becomes FIRST_TIME plus STEP for each judgment given until then."""
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # judgments refuse to be changed otherwise
        cursor.execute("CREATE TEMPORARY TABLE beat ON COMMIT DROP AS SELECT created_at AS at FROM annotation_judgment")
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables "
            "USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE' "
            "AND is_generated = 'NEVER' AND data_type = 'timestamp with time zone' AND table_name NOT LIKE 'django%%'"
        )
        for table, column in cursor.fetchall():
            cursor.execute(
                f'UPDATE "{table}" one SET "{column}" = %s::timestamptz + %s::interval * '
                f'(SELECT count(*) FROM beat WHERE beat.at <= one."{column}") WHERE "{column}" IS NOT NULL',
                [FIRST_TIME, STEP],
            )
