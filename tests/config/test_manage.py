"""manage.py: what a command says if the database is not ready for it."""

import sys

import psycopg
import pytest
from django.db import ProgrammingError

import manage


@pytest.mark.parametrize(
    ("cause", "ends"), [(psycopg.errors.UndefinedTable(), SystemExit), (psycopg.errors.SyntaxError(), ProgrammingError)]
)
def test_without_tables_it_says_how_to_make_them(monkeypatch, cause, ends):
    def fail(arguments):
        raise ProgrammingError("relation does not exist") from cause

    monkeypatch.setattr(manage, "execute_from_command_line", fail)
    monkeypatch.setattr(sys, "argv", ["manage.py", "check"])  # which needs no server
    with pytest.raises(ends, match="make run" if ends is SystemExit else "relation"):
        manage.main()
