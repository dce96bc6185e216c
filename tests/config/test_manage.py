"""manage.py: what a command says if the database is not ready for it, and which commands need none."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.core.management import get_commands, load_command_class
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


def test_a_command_that_computes_from_a_file_starts_no_server_and_leaves_nothing_behind(tmp_path):
    ratings, var, home = tmp_path / "ratings.csv", tmp_path / "var", tmp_path / "tmp"
    ratings.write_text("item,annotator,label\n1,a,x\n1,b,x\n2,a,y\n2,b,x\n")
    home.mkdir()
    ours = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [sys.executable, Path(manage.__file__), "agreement", "--ratings", ratings],
        env=ours | {"WINNOW_VAR": str(var), "TMPDIR": str(home)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "percent agreement: 0.500000" in done.stdout, done.stderr
    assert not var.exists()
    assert not list(home.iterdir())


@pytest.mark.parametrize("name", sorted(manage.COMPUTES_FROM_FILES))
def test_a_command_that_computes_from_files_checks_no_settings(name):
    """Django's checks import every page: a second for nothing."""
    assert not load_command_class(get_commands()[name], name).requires_system_checks
