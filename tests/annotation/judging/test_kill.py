"""kill -9 of the web process between COMMIT and its answer: the browser's retry finds the one judgment."""

import http.client
import os
import socket
import subprocess
import sys
import time
import uuid
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.urls import reverse

from annotation.assignment import leases
from annotation.models import Judgment
from tests.builders import studies

pytestmark = pytest.mark.django_db(transaction=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def server():
    """A gunicorn master on the test database; it starts a new worker for one that dies."""
    port, name = free_port(), connection.settings_dict["NAME"]
    database = os.environ["DATABASE_URL"].replace("/winnow?", f"/{name}?")
    command = [sys.executable, "-m", "gunicorn", "tests.annotation.judging.dying_wsgi", "--bind", f"127.0.0.1:{port}"]
    command.append("--preload")  # the master imports the application once for both workers
    process = subprocess.Popen(command, env={**os.environ, "DATABASE_URL": database}, stderr=subprocess.DEVNULL)
    yield port
    process.terminate()
    process.wait(20)


def post(port: int, path: str, fields: dict, **headers: str) -> int:
    """The status; waits for the server to come (back) up."""
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    for _ in range(200):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            connection.request("POST", path, urlencode(fields), {**kind, **headers})
        except ConnectionRefusedError:
            time.sleep(0.1)
            continue
        return connection.getresponse().status
    raise AssertionError("the server did not come up")


def test_a_retry_after_kill_9_is_the_same_judgment(server):
    stage = studies.stage(items=3)
    ann = studies.annotator(stage.study)
    lease = leases.hold(annotator=ann, stage=stage, wanted=1)[0]
    path = reverse("judge-submit", args=[ann.token])
    fields = {"lease": lease.token, "key": uuid.uuid4(), "answer": "2"}
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        post(server, path, fields, **{"X-Die": "1"})
    assert Judgment.objects.count() == 1
    assert post(server, path, fields) == 200
    assert Judgment.objects.get().answer == lease.shown[1]
