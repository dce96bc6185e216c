#!/usr/bin/env python3
"""Winnow's command line: `python manage.py help` lists the commands.

If DATABASE_URL is not set and `make run` is not running, a command that needs the database starts the embedded servers
for as long as it takes.
"""

import contextlib
import os
import sys
import tempfile

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import ProgrammingError

UNDEFINED_TABLE = "42P01"  # PostgreSQL's code
SERVES_ITSELF = {"up"}  # its web server may use a pooler
COMPUTES_FROM_FILES = {
    "aggregate", "agreement", "audit", "construct", "decide", "evaluate", "protocol_schema", "verify_release",
}  # fmt: skip
NEEDS_NO_SERVER = COMPUTES_FROM_FILES | {
    "help", "version", "check", "collectstatic", "diffsettings", "makemigrations", "findstatic",
}  # fmt: skip


@contextlib.contextmanager
def temporary_var():
    """Give the command a `var` that is gone afterwards, since reading the settings makes a secret key and folders."""
    with tempfile.TemporaryDirectory(prefix="winnow-") as var:
        os.environ["WINNOW_VAR"] = var
        yield


def surroundings(arguments: list[str]):
    """Return a context manager with what must exist while this command runs: servers, a temporary `var`, or nothing."""
    command = next((word for word in arguments if not word.startswith("-")), "help")
    if command in COMPUTES_FROM_FILES:
        return temporary_var()
    asks_for_help = {"-h", "--help", "--version"} & set(arguments)
    if asks_for_help or command in SERVES_ITSELF | NEEDS_NO_SERVER:
        return contextlib.nullcontext()
    from django.conf import settings

    from config.lock import servers_for
    from config.services import Servers

    return servers_for(command, Servers(settings.VAR, postgres=settings.OWN_POSTGRES, valkey=settings.OWN_VALKEY))


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if not SERVES_ITSELF & set(sys.argv[1:2]):
        os.environ.pop("DATABASE_POOL_URL", None)  # a command works in one session: snapshots, cursors, locks
    from config.services import CannotStart

    try:
        with surroundings(sys.argv[1:]):
            execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, CannotStart) as reason:
        sys.exit(str(reason))
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", "") != UNDEFINED_TABLE:
            raise
        sys.exit("The database lacks tables of this Winnow: start it once with `make run`, or run manage.py migrate.")


if __name__ == "__main__":
    main()
