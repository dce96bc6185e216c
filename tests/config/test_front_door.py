"""The addresses of the project package, and what holds for every answer: who keeps it, and how errors are told."""

import logging
import os
import re
import signal
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files import File
from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient
from django.test import Client
from django.urls import reverse

from config import processes, views
from config.logs import Redacted
from config.static import Storage
from tests.builders import pictures, studies
from tests.config.running import ROOT
from workers.images import check_and_render

pytestmark = pytest.mark.django_db


def test_the_front_door_leads_a_stranger_to_the_login(client):
    assert client.get("/").url == reverse("login")


def test_the_front_door_leads_staff_to_the_studies(client):
    client.force_login(User.objects.create(username="m", is_staff=True))
    assert client.get("/").url == reverse("study-list")


def test_health_says_which_server_does_not_answer(client, settings):
    settings.REDIS_URL = "unix:///nowhere.sock"
    answer = client.get("/healthz")
    assert answer.status_code == 200  # people can judge without it
    assert answer.content.decode() == "database: ok\nredis: does not answer\n"


@pytest.mark.parametrize(
    "path", ["/studies/", "/benchmarks/", "/api/v1/studies/", "/api/v1/nothing/", "/login/", "/healthz"]
)
def test_no_browser_and_no_proxy_keeps_what_staff_sees(client, path):
    client.force_login(User.objects.create_superuser("m"))
    assert "no-store" in client.get(path)["Cache-Control"]


def test_what_may_be_kept_is_kept(client):
    image = studies.image()
    pictures.put(image, check_and_render(pictures.draw(1)))
    assert "no-store" not in client.get(reverse("image", args=[image.opaque]))["Cache-Control"]


@pytest.mark.parametrize(
    ("path", "status"),
    [("/api/v1/nothing/", 404), ("/api/v1/studies/99999999999999999999/", 404), ("/api/v1/studies/%00/", 400),
     ("/api/v1/studies/?state=%00", 400), ("/api/v1/studies/?offset=x", 400), ("/api/v1/benchmarks/?state=x", 400),
     ("/api", 404), (f"/api/v1/studies/?{'&'.join(f'a{n}=1' for n in range(1001))}", 400)],
)  # fmt: skip
def test_the_api_tells_errors_as_json(client, path, status):
    client.force_login(User.objects.create_superuser("m"))
    answer = client.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json") and answer.json()


@pytest.mark.parametrize("method", ["get", "post", "patch", "delete"])
def test_an_address_of_the_api_without_a_version_leads_to_today_s(method):
    answer = getattr(Client(enforce_csrf_checks=True), method)("/api/studies/1/move/?a=%C3%A9&b")
    assert (answer.status_code, answer["Location"]) == (308, "/api/v1/studies/1/move/?a=%C3%A9&b")


def test_the_api_tells_as_json_that_a_host_is_not_ours(client, settings):
    settings.ALLOWED_HOSTS = ["winnow.example"]
    answer = client.get("/api/v1/studies/")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "address")
    assert client.get("/login/")["Content-Type"].startswith("text/html")


def test_a_fault_of_the_api_is_told_as_json(rf):
    answer = views.server_error(rf.get("/api/v1/studies/"))
    assert answer.status_code == 500 and b"unexpected error" in answer.content


def test_a_static_file_that_is_not_collected_yet_is_no_fault(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    (tmp_path / "staticfiles.json").write_text('{"version": "1.1", "paths": {}, "hash": ""}')
    found = Storage(location=tmp_path, base_url="/static/")
    settings.DEBUG = False
    assert found.url("css/base.css") == "/static/css/base.css"


def test_collected_scripts_import_each_other_under_hashed_names(settings, tmp_path):
    """So a browser keeps them all, and never runs one of an earlier version beside newer ones."""
    settings.DEBUG = False
    found = Storage(location=tmp_path, base_url="/static/")
    scripts = {str(path.relative_to(ROOT / "static")) for path in (ROOT / "static/js").rglob("*.js")}
    for name in scripts:
        found.save(name, File((ROOT / "static" / name).open("rb")))
    done = list(found.post_process({name: (found, name) for name in scripts}))
    assert {name for name, _, _ in done} >= scripts and not [
        error for *_, error in done if isinstance(error, Exception)
    ]
    imported = [
        (tmp_path / found.stored_name(name)).parent / other
        for name in scripts
        for other in re.findall(r'(?:from|import) ?"(\.[^"]+)"', (tmp_path / found.stored_name(name)).read_text())
    ]
    assert len(imported) > 40
    assert all(re.search(r"\.[0-9a-f]{12}\.js$", path.name) and path.exists() for path in imported), imported


@pytest.mark.parametrize(
    "words",
    [
        "Internal Server Error: /judge/aB-3_x%C3~1/",
        "/join/aB-3_x%C3~1/?PROLIFIC_PID=aB-3_x%C3~1&STUDY_ID=aB-3_x%C3~1&SESSION_ID=aB-3_x%C3~1",
        "/join/aB-3_x%C3~1/?prolific_pid=aB-3_x%C3~1&Study_id=aB-3_x%C3~1",
        "Key (token)=(aB-3_x%C3~1) exists.",
        "Key (study_id, prolific_pid)=(7, aB-3_x%C3~1) already exists.",
        "DETAIL:  Failing row contains (aB-3_x%C3~1).\n\nThe above exception",
    ],
)
def test_the_log_tells_no_annotators_link_or_id(words):
    record = logging.LogRecord("django.request", logging.ERROR, "", 1, words, (), None)
    assert Redacted().format(record).partition(" ERROR ")[2] == words.replace("aB-3_x%C3~1", "…")


def test_the_log_tells_nothing_of_a_row_of_several_lines():
    words = "DETAIL:  Failing row contains (7, Grace\nHopper (5f1e), null).\nCONTEXT: x"
    record = logging.LogRecord("django.request", logging.ERROR, "", 1, words, (), None)
    logged = Redacted().format(record).partition(" ERROR ")[2]
    assert logged == "DETAIL:  Failing row contains (…).\nCONTEXT: x"


def test_a_log_is_its_owners_alone(tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "old.log").touch(mode=0o644)
    for name in ("old", "new"):
        processes.spawn(name, ["true"], var=tmp_path, dies_by=signal.SIGTERM).wait()
        assert (tmp_path / "log" / f"{name}.log").stat().st_mode & 0o777 == 0o600


def test_dbshell_finds_the_embedded_server():
    args, _ = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    assert args[args.index("-h") + 1] == str(Path(os.environ["DATABASE_URL"].partition("host=")[2]))
