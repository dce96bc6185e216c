"""kill -9 of the web process between COMMIT and its answer: the browser's retry finds the one judgment."""

import http.client
import os
import signal
import socket
import sys
import time
import uuid
from urllib.parse import urlencode

import pytest
from django.db import connections
from django.urls import reverse
from gunicorn.app import wsgiapp

from annotation.assignment import leases
from annotation.models import Judgment
from config import processes
from tests.builders import studies

pytestmark = pytest.mark.django_db(transaction=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def server():
    """A gunicorn master on the test database, as a fork of this process; it starts a new worker for one that dies."""
    port = free_port()
    connections.close_all()

    def serve() -> None:
        connections.close_all()
        sys.argv = ["gunicorn", "tests.annotation.judging.dying_wsgi", "--bind", f"127.0.0.1:{port}", "--preload"]
        wsgiapp.run()

    with open(os.devnull, "wb") as log:
        process = processes.fork(serve, dies_by=signal.SIGTERM, log=log)
    yield port
    processes.stop(process, (signal.SIGTERM, 20))


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
