"""What operators ask a web server, and what it tells them by itself."""

import json
import logging
import os
import re

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.http import HttpResponse
from prometheus_client import values

from config import operations
from config.logs import Redacted, request_id

pytestmark = pytest.mark.django_db
ADDRESSES = sorted(operations.ANSWERS)


@pytest.fixture
def measured(settings, monkeypatch):
    operations.share_numbers()
    monkeypatch.setattr(values, "ValueClass", values.get_value_class())  # pytest's plugins have imported it already
    settings.METRICS_TOKEN, settings.ACCESS_LOG = "secret", True
    return operations.measured(lambda request: HttpResponse("ok"))


@pytest.mark.parametrize("path", ADDRESSES)
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_no_host_no_method_and_no_failure_makes_them_answer_in_html(client, settings, monkeypatch, path, method):
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["winnow.example"], True

    def broken():
        raise OperationalError

    monkeypatch.setattr(operations.connections["default"], "cursor", broken)
    answer = getattr(client, method)(path, headers={"host": "10.0.0.7:8000"})
    assert answer["Content-Type"].startswith("text/plain") and answer["Cache-Control"] == "no-store"
    expected = {"/healthz": 503, "/livez": 200, "/metrics": 404} if method == "get" else dict.fromkeys(ADDRESSES, 405)
    assert answer.status_code == expected[path]


def test_an_answer_has_the_requests_id_and_so_has_what_is_logged_meanwhile(client, settings, monkeypatch):
    logged = []
    record = logging.LogRecord("x", logging.ERROR, "", 1, "words", (), None)
    monkeypatch.setattr(operations, "redis_answers", lambda: logged.append(Redacted().format(record)))
    ids = []
    for proxies, given in ((0, "given-by-proxy"), (1, "given-by-proxy"), (1, "no id\n"), (1, "")):
        settings.TRUSTED_PROXIES = proxies
        ids.append(client.get("/healthz", headers={"x-request-id": given})["X-Request-Id"])
    assert ids[1] == "given-by-proxy" and len({*ids}) == 4
    assert [line.split(" ", 2)[2] for line in logged] == [f"{one} words" for one in ids] and not request_id.get()


def test_a_line_of_the_log_has_its_time_and_may_be_json():
    record = logging.LogRecord("x", logging.ERROR, "", 1, "of %s\nlines", ("two",), None)
    record.created = 1_772_438_400.123
    assert Redacted().format(record) == "2026-03-02T08:00:00.123Z ERROR of two\nlines"
    facts = {"time": "2026-03-02T08:00:00.123Z", "level": "ERROR", "request": "", "message": "of two\nlines"}
    line = Redacted(as_json=True).format(record)
    assert "\n" not in line and json.loads(line) == {**facts, "logger": "x", "process": os.getpid()}


def test_the_access_log_has_a_line_for_each_request_without_the_links_of_people(measured, rf, caplog):
    caplog.handler.setFormatter(Redacted())
    measured(rf.get("/judge/aB-3_x/"))
    request = rf.get("/studies/?q=cats")
    request.user = User.objects.create(username="m", is_staff=True)
    measured(request)
    measured(rf.get("/shared/aB-3_x/"))
    as_json = json.loads(Redacted(as_json=True).format(caplog.records[0]))
    line = {"method": "GET", "address": "/judge/…/", "status": 200, "ms": as_json["ms"], "who": "-"}
    assert line.items() <= as_json.items() and as_json["message"].startswith("GET /judge/…/ 200 ")
    lines = [re.sub(r"\d+ ms", "1 ms", line.split(" INFO ")[1]) for line in caplog.text.splitlines()]
    shared = "GET /shared/…/ 200 1 ms -"
    assert lines == ["GET /judge/…/ 200 1 ms -", f"GET /studies/?q=cats 200 1 ms user {request.user.pk}", shared]


def test_metrics_are_for_the_token_and_count_requests_jobs_and_judgments(client, measured, rf):
    for _ in range(3):
        measured(rf.put("/counted/"))
    assert client.get("/metrics", headers={"authorization": "Bearer guessed"}).status_code == 404
    told = client.get("/metrics", headers={"authorization": "Bearer secret"}).content.decode()
    assert 'winnow_request_seconds_count{method="PUT",status="2xx",view="none"} 3.0' in told
    assert "winnow_judgments_last_hour 0.0" in told and "winnow_oldest_waiting_job_seconds 0.0" in told
