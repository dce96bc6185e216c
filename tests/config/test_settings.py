"""Settings come from the environment alone; what is missing or wrong is said in a sentence."""

import os
import subprocess
import sys

import pytest

from tests.config.running import ROOT

PRODUCTION = {
    "WINNOW_PRODUCTION": "1",
    "SECRET_KEY": "".join(chr(65 + number * 7 % 58) for number in range(64)),
    "ALLOWED_HOSTS": "winnow.example.org",
    "DATABASE_URL": "postgresql://winnow:p@localhost/winnow",
    "REDIS_URL": "redis://localhost:6379/0",
}


def check(tmp_path, **environment: str) -> subprocess.CompletedProcess:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT, env={**kept, "WINNOW_VAR": str(tmp_path), **environment}, capture_output=True, text=True,
    )  # fmt: skip


def test_production_settings_pass_djangos_own_check(tmp_path):
    checked = check(tmp_path, **PRODUCTION)
    assert checked.returncode == 0, checked.stderr


def test_a_weak_key_does_not_pass(tmp_path):
    checked = check(tmp_path, **{**PRODUCTION, "SECRET_KEY": "short"})
    assert "security.W009" in checked.stderr
    assert checked.returncode == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", ""),
        ("SECRET_KEY", "replace-this"),
        ("ALLOWED_HOSTS", ""),
        ("DATABASE_URL", ""),
        ("REDIS_URL", ""),
    ],
)
def test_what_production_needs_is_asked_for_by_name(tmp_path, name, value):
    checked = check(tmp_path, **{**PRODUCTION, name: value})
    assert checked.returncode == 1
    assert checked.stderr.startswith(f"Set {name}: ")
    assert checked.stderr.count("\n") == 1


@pytest.mark.parametrize("url", ["sqlite:///x.db", "localhost", "gopher://x"])
def test_a_database_that_is_not_postgresql_is_refused(tmp_path, url):
    checked = check(tmp_path, DATABASE_URL=url)
    assert checked.returncode == 1
    assert checked.stderr.startswith("DATABASE_URL ")
    assert checked.stderr.count("\n") == 1


def test_the_key_is_made_once_and_is_its_owners_alone(tmp_path):
    check(tmp_path)
    key = (tmp_path / "secret_key").read_text()
    check(tmp_path)
    assert (tmp_path / "secret_key").read_text() == key and len(key) > 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0
