"""A script that is killed again and again, and then runs to its end."""

import json
import os
import random
import signal
import subprocess
import sys

import pytest

from annotation.models import Release, Study
from benchmarks.models import Benchmark, Item
from config.client import BACKEND
from tests.builders import crowds
from tests.client.cups import cups

pytestmark = pytest.mark.django_db(transaction=True)
SCRIPT = """
import json, os, signal, sys
import httpx, winnow_client

url, token, folder, kill_at, before, freeze = json.loads(sys.argv[1])
handle, requests = httpx.HTTPTransport.handle_request, []

def handle_request(self, request):
    requests.append(request)
    if before and len(requests) == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    answer = handle(self, request)
    if len(requests) == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer

httpx.HTTPTransport.handle_request = handle_request
server = winnow_client.connect(url, token, progress=False)
benchmark = server.benchmark("Cups", folder + "/rows.jsonl", images=folder)
study = benchmark.study("Round 1", protocol="verify", stages={"verify": {"overlap": 1}})
if freeze:
    study.freeze("cups@1.0", forms=["jsonl"])
print(len(requests))
"""


def test_a_killed_script_makes_everything_once(site, eager_tasks, token, tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, cups(tmp_path))))

    def run(kill_at: int, before: bool, freeze: bool) -> int:
        given = json.dumps([site, token, str(tmp_path), kill_at, before, freeze])
        env = {**os.environ, "PYTHONPATH": str(BACKEND.parent)}
        done = subprocess.run([sys.executable, "-c", SCRIPT, given], env=env, capture_output=True, text=True)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return int(done.stdout or 0)

    chance = random.Random(41)
    for _ in range(10):
        run(chance.randint(1, 12), chance.random() < 0.5, freeze=False)
    assert run(0, before=False, freeze=False)
    crowds.work(Study.objects.get(), people=2, undone=0)
    for _ in range(10):
        run(chance.randint(6, 14), chance.random() < 0.5, freeze=True)
    assert run(0, before=False, freeze=True)
    assert [table.objects.count() for table in (Benchmark, Item, Study, Release)] == [1, 4, 1, 1]
    assert Release.objects.get().frozen_at
