"""A Winnow of the test's own: `manage.py up` as a process, on a `var` and a port of its own. Or its servers alone."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import psutil

from config.processes import leftovers

ROOT = Path(__file__).resolve().parents[2]
READY = "Ctrl-C stops it."
PARTS = ["gunicorn", "--queues celery", "--queues models", "valkey-server", "postgres"]  # words of command lines


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children(parent: int, word: str) -> list[psutil.Process]:
    """Its living children with this word on their command line."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for process in psutil.Process(parent).children():
            with suppress(psutil.NoSuchProcess):  # it ends meanwhile
                if process.status() != psutil.STATUS_ZOMBIE and word in " ".join(process.cmdline()):
                    found.append(process)
    return found


class Servers:
    """Web servers and workers, as forks of one process (tests/config/servers.py) with this environment."""

    def __init__(self, log: Path, environment: dict[str, str]):
        with log.open("wb") as out:
            self.starter = subprocess.Popen(
                [sys.executable, "-m", "tests.config.servers"], cwd=ROOT, env={**os.environ, **environment},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out, text=True, start_new_session=True,
            )  # fmt: skip
        assert self.starter.stdout.readline() == "True\n", "it imports the views at its first request, for seconds"

    def start(self, *command: str, var: Path | None = None) -> psutil.Process:
        """`gunicorn …` or `celery …`, on that folder."""
        print(json.dumps([command, var and str(var)]), file=self.starter.stdin, flush=True)
        return psutil.Process(int(self.starter.stdout.readline()))

    def close(self) -> None:
        self.starter.communicate()


class Winnow:
    def __init__(self, var: Path, **more: str):
        """`more`: variables of the environment."""
        self.var, self.more = var, more
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.process: subprocess.Popen | None = None
        self.said = ""  # on its latest start
        self.first_said = ""

    @property
    def environment(self) -> dict[str, str]:
        given = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        return {**given, "WINNOW_VAR": str(self.var), "PORT": str(self.port), **self.more}

    def command(self, *words: str, **environment: str) -> subprocess.CompletedProcess:
        """`manage.py …`, to its end."""
        return subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT, env={**self.environment, **environment}, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    def up(self) -> None:
        """Running and ready; nothing where it already is."""
        if self.process and self.process.poll() is None:
            return
        said = self.var.with_suffix(".said")
        with said.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"], cwd=ROOT, env=self.environment, stdout=out, stderr=out
            )
        self.wait(lambda: READY in said.read_text() or self.process.poll() is not None, 300)
        self.said = said.read_text()
        self.first_said = self.first_said or self.said
        assert self.process.poll() is None, self.said

    def down(self, signum: signal.Signals = signal.SIGINT) -> int | None:
        if self.process is None:
            return None
        self.process.send_signal(signum)
        return self.process.wait(120)

    def children(self, word: str) -> list[psutil.Process]:
        return children(self.process.pid, word)

    def wait(self, until, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < deadline, f"not within {seconds} s"
            time.sleep(0.05)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read().decode()

    def is_healthy(self) -> bool:
        """Whether the web server answers that it reaches its database and Redis."""
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=2) as answer:
                return b"does not answer" not in answer.read()
        except (OSError, http.client.HTTPException):
            return False

    def wait_until_nothing_is_left(self) -> None:
        self.wait(lambda: not leftovers(self.var), 60)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", self.port))
