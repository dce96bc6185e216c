"""Web server and workers as children of one process, which restarts any that die and stops them all in order."""

import contextlib
import glob
import http.client
import importlib.util
import os
import secrets
import signal
import socket
import sys
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from config import processes
from config.services import CannotStart, Servers

BASE_DIR = Path(__file__).resolve().parent.parent
GRACE = 5  # seconds for requests and tasks in progress to end
MOST_DEATHS = 5  # restarts of one process within this period
WITHIN = 60  # seconds
QUIET = ["--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker", *QUIET]
PACKAGES = ("annotation", "benchmarks", "config", "workers")
NOT_FOR_MODELS = ("EMAIL_", "WINNOW_PROVIDERS", "WINNOW_LOCAL_LOGIN")  # beginnings of variables
LOOK_EVERY = 1  # seconds; checking all modules takes a few milliseconds


def listen(host: str, port: int) -> socket.socket:
    """Return a socket for gunicorn to inherit, so that the port stays ours over its restarts. Raises CannotStart."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        reason = f"cannot be used ({error.strerror})"
        raise CannotStart(f"Port {port} on {host} {reason}. Choose another one, such as PORT={port + 1}.") from None
    return listener


def web_command(listener: socket.socket) -> list:
    """Return the command for gunicorn with one process per core (at most 4, as more do not help on a laptop), 8 threads
    each, forked once loaded.
    """
    workers = max(2, min(processes.cores(), 4))
    shape = ["--worker-class", "config.buffering.Worker", "--workers", workers, "--threads", 8, "--keep-alive", 15]
    limits = ["--timeout", 120, "--graceful-timeout", GRACE, "--max-requests", 20_000, "--max-requests-jitter", 2_000]
    where = ["--bind", f"fd://{listener.fileno()}", "--preload", "--no-control-socket", "--log-level", "warning"]
    return [sys.executable, "-m", "gunicorn", "config.wsgi", *shape, *limits, *where]


def modules() -> dict[Path, int]:
    """Return every Python module of Winnow with the time of its last change, in nanoseconds."""
    found = {}
    for package in PACKAGES:
        for name in glob.iglob(f"{package}/**/*.py", root_dir=BASE_DIR, recursive=True):  # rglob includes hidden ones
            with contextlib.suppress(FileNotFoundError):  # an editor or git replaces files; the next check finds it
                found[BASE_DIR / name] = (BASE_DIR / name).stat().st_mtime_ns
    return found


class Supervisor:
    """Owns the servers, the web server and the workers from `start` to `stop`.

    With `reload`, it restarts the web server and the workers when a Python module changes. One that fails to start
    then waits for the next change.
    """

    def __init__(self, var: Path, servers: Servers, listener: socket.socket, *, reload: bool = False):
        self.var = var
        self.reload = reload
        self.modules = modules() if reload else {}
        self.looked_at = time.monotonic()
        self.servers = servers
        self.listener = listener
        self.children: dict[str, processes.Child] = {}
        self.deaths: dict[str, deque] = {}
        self.stopping = False
        self.starters = {"web": self._start_web, "worker": self._start_worker}
        if all(importlib.util.find_spec(name) for name in ("torch", "open_clip")):  # from requirements/models.txt
            self.starters["models"] = self._start_models

    def start(self) -> None:
        """Start the web server, then the workers once it has served a page, so that they do not compete for cores."""
        self._start_web()
        web = self.children["web"]
        if not processes.wait_for(self._answers, seconds=60, alive=lambda: web.poll() is None):
            raise CannotStart(f"The web server did not answer. See {self.var / 'log' / 'web.log'}.")
        for name, start in self.starters.items():
            if name != "web":
                start()
        processes.release_file_pages()

    def _answers(self) -> bool:
        """Return whether the web server answers, with any response."""
        host, port = self.listener.getsockname()[:2]
        asked = http.client.HTTPConnection({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port, timeout=5)
        try:
            asked.request("GET", "/healthz")
            return bool(asked.getresponse().status)
        except (OSError, http.client.HTTPException):
            return False
        finally:
            asked.close()

    def _start_web(self) -> None:
        """Start the web server. It ends by SIGTERM; its workers notice within a second."""
        self._start("web", web_command(self.listener), signal.SIGTERM, shown="gunicorn config.wsgi")

    def _start_worker(self) -> None:
        """Start a worker, to be killed without grace: without Valkey a graceful stop may never finish."""
        command = [*CELERY, "--queues", "celery", "--concurrency", max(1, min(processes.cores(), 4) // 2)]
        self._start("worker", command, signal.SIGKILL, shown="celery --queues celery")

    def _start_models(self) -> None:
        """Start the worker for models, which runs jobs one after the other, each in a process that then ends and frees
        its memory, at lower priority than judging. It is separate so that an hour of scoring does not delay an import.

        It runs published third-party code, so it is not a fork of this process, which knows every secret, and does not
        get any: it does not sign anything, log anybody in or send mail.
        """
        env = {name: "" for name in os.environ if name.startswith(NOT_FOR_MODELS)}
        env |= {"WINNOW_VAR": str(self.var), "SECRET_KEY": secrets.token_urlsafe(50)}
        shape = ["--hostname", "models@%h", "--concurrency", 1, "--max-tasks-per-child", 1]
        command = ["nice", "-n", 10, *CELERY, "--queues", "models", *shape]
        self.children["models"] = processes.spawn(
            "models", command, var=self.var, dies_by=signal.SIGKILL, cwd=BASE_DIR, env=env
        )

    def _start(self, name: str, command: list, dies_by: signal.Signals, *, shown: str) -> None:
        """Start a fork of this process, which has imported everything, or with `reload` a new process."""
        env, serves = {"WINNOW_VAR": str(self.var)}, name == "web"
        if self.reload:
            pass_fds = [self.listener.fileno()] if serves else []
            self.children[name] = processes.spawn(
                name, command, var=self.var, dies_by=dies_by, cwd=BASE_DIR, env=env, pass_fds=pass_fds
            )
            return

        def work() -> None:
            if not serves:
                self.listener.close()
            processes.run_module(command, var=self.var, shown=shown, cwd=BASE_DIR, env=env)

        with processes.open_log(name, self.var) as log:
            self.children[name] = processes.fork(work, dies_by=dies_by, log=log)

    def run(self, until) -> None:
        """Watch the children until `stopping` is set or `until()` is true. Raises CannotStart when one keeps dying."""
        while not self.stopping and not until():
            if self.reload:
                self._restart_on_change()
            self.revive()
            time.sleep(0.2)

    def _restart_on_change(self) -> None:
        if time.monotonic() - self.looked_at < LOOK_EVERY:
            return
        self.looked_at, before, self.modules = time.monotonic(), self.modules, modules()
        changed = {path for path, _ in before.items() ^ self.modules.items()}
        if not changed:
            return
        print(f"Restarting: {', '.join(sorted(path.name for path in changed))} changed.", file=sys.stderr, flush=True)
        self._stop_children()
        for start in self.starters.values():
            start()

    def revive(self) -> None:
        for name in self.servers.revive():
            self._count_death(name)
        for name, child in list(self.children.items()):
            if child.poll() is None:
                continue
            if self.reload and (child.returncode or 0) > 0:  # an error in the code; signals give a negative status
                del self.children[name]
                advice = f"var/log/{name}.log shows why; it starts again when a module changes"
                print(f"The {name} process failed; {advice}.", file=sys.stderr, flush=True)
                continue
            self._count_death(name)
            self.starters[name]()

    def _count_death(self, name: str) -> None:
        times = self.deaths.setdefault(name, deque(maxlen=MOST_DEATHS))
        times.append(time.monotonic())
        if len(times) == MOST_DEATHS and times[-1] - times[0] < WITHIN:
            raise CannotStart(f"The {name} process keeps ending. See {self.var / 'log' / f'{name}.log'}.")
        advice = f"see var/log/{name}.log"
        print(f"The {name} process ended and was restarted; {advice}.", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Stop the web server first, so that nobody gets answers from a half-stopped Winnow; then the workers; then the
        servers.
        """
        self.listener.close()
        self._stop_children()
        self.servers.stop()

    def _stop_children(self) -> None:
        """Stop the workers together: each takes a second or more to notice."""
        if web := self.children.pop("web", None):
            processes.stop(web, (signal.SIGTERM, GRACE + 2))
        ends = {
            "models": [(signal.SIGQUIT, GRACE)],  # its vectors are kept; its job resumes at the next start
            "worker": [(signal.SIGTERM, GRACE), (signal.SIGQUIT, GRACE)],
        }
        ending = [(self.children.pop(name), *signals) for name, signals in ends.items() if name in self.children]
        with ThreadPoolExecutor() as together:
            list(together.map(lambda one: processes.stop(*one), ending))


def parent_gone():
    """Return whether the `make` that started us was killed, so that nobody would stop us."""
    if "MAKELEVEL" not in os.environ:
        return lambda: False
    parent = os.getppid()
    return lambda: os.getppid() != parent
