"""The faults, and how to tell when all is well again.

A fault is struck, lasts a moment, and is relieved; a killed part is the supervisor's to start again, and a killed
supervisor its owner's: the next start follows at once.
"""

import contextlib
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random

import psutil
import psycopg
from celery import Celery

from bench.nemesis import neighbours, proxy, slow_clients
from bench.nemesis.neighbours import Storage, Uploads
from bench.nemesis.proxy import Proxy
from bench.nemesis.slow_clients import SlowClients
from bench.nemesis.small_disk import SmallDisk
from config.services import broker_url, database_url, redis_url
from tests.config.running import PARTS, Winnow, children

STEP = 2 * 3600  # seconds that the clock goes forward, longer than any lease
DEAD = {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD, psutil.STATUS_STOPPED}

# now() and its like as every hand-written statement and the ORM find them. What columns have as their default stays
# with PostgreSQL's own clock: that was bound when the tables were made.
CLOCK = """
CREATE SCHEMA nemesis;
CREATE TABLE nemesis.clock (step interval NOT NULL);
INSERT INTO nemesis.clock VALUES ('0');
CREATE FUNCTION nemesis.now() RETURNS timestamptz STABLE LANGUAGE sql
  AS 'SELECT pg_catalog.now() + step FROM nemesis.clock';
CREATE FUNCTION nemesis.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
  AS 'SELECT pg_catalog.statement_timestamp() + step FROM nemesis.clock';
CREATE FUNCTION nemesis.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
  AS 'SELECT pg_catalog.clock_timestamp() + step FROM nemesis.clock';
ALTER DATABASE winnow SET search_path = nemesis, pg_catalog, public;
"""
NO_CLOCK = "ALTER DATABASE winnow RESET search_path; DROP SCHEMA nemesis CASCADE"
OTHERS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = 'winnow' AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""


@dataclass
class Ground:
    """The target of faults. `disk` is None if nobody may mount one."""

    winnow: Winnow
    proxy: Proxy
    rng: Random
    held: tuple[float, float]  # seconds that a fault lasts which does not end by itself, from and to
    disk: SmallDisk | None = None
    storage: Storage | None = None
    uploads: Uploads | None = None
    parts: dict[str, int] = field(init=False)  # a word of its command line → how many children it has at least
    gave_up: list[str] = field(default_factory=list)  # what a supervisor said that ended by itself

    def __post_init__(self) -> None:
        self.broker = Celery(broker=broker_url(redis_url(self.winnow.var)), set_as_current=False)
        least = {"gunicorn": 2, "--queues celery": 1}
        self.parts = {word: least.get(word, 0) for word in PARTS if self.winnow.children(word)}
        with psycopg.connect(database_url(self.winnow.var), autocommit=True) as database:
            database.execute(CLOCK)
            database.execute(OTHERS)  # who was connected before looks at the other clock

    def clear(self) -> None:
        """Restore PostgreSQL's own clock."""
        with psycopg.connect(database_url(self.winnow.var), autocommit=True) as database:
            database.execute(OTHERS)  # a job that still runs holds the clock
            database.execute(NO_CLOCK)
            database.execute(OTHERS)

    def part(self, word: str) -> psutil.Process | None:
        return next(iter(self.winnow.children(word)), None)

    def child(self, word: str, of: str = "") -> psutil.Process | None:
        """Return one of that part's children with `of` on its command line, at random."""
        part = self.part(word)
        found = children(part.pid, of) if part else []
        return self.rng.choice(found) if found else None

    def set_clock(self, seconds: int) -> None:
        with contextlib.suppress(psycopg.Error), psycopg.connect(database_url(self.winnow.var)) as database:
            database.execute("UPDATE nemesis.clock SET step = make_interval(secs => %s)", [seconds])

    def start_again(self) -> None:
        """Do what its owner does if Winnow has ended."""
        self.winnow.process.wait()
        self.winnow.up()


class Fault:
    """One that is struck, and relieved after a while: `held`, from and to, if not as usual. `strike` returns False
    where there was nothing to strike."""

    def __init__(
        self, strike: Callable[[], object], relieve: Callable[[], object] = lambda: None, *, lasts=False,
        held: tuple[float, float] | None = None,
    ):  # fmt: skip
        self.strike, self.relieve, self.lasts, self.held = strike, relieve, lasts, held


def _signal(process: psutil.Process | None, signum: signal.Signals) -> bool:
    try:
        process.send_signal(signum)
    except (psutil.NoSuchProcess, AttributeError):
        return False
    return True


def _kill(find: Callable[[], psutil.Process | None]) -> Fault:
    def strike() -> bool:
        process = find()
        hit = _signal(process, signal.SIGKILL)
        while hit and _status(process) not in DEAD:
            time.sleep(0.001)
        return hit

    return Fault(strike)


def _status(process: psutil.Process) -> str:
    try:
        return process.status()
    except psutil.NoSuchProcess:
        return psutil.STATUS_DEAD


def _pause(find: Callable[[], psutil.Process | None], held: tuple[float, float] | None = None) -> Fault:
    paused: list[psutil.Process | None] = []

    def strike() -> bool:
        paused[:] = [find()]
        return _signal(paused[0], signal.SIGSTOP)

    return Fault(strike, lambda: _signal(paused[0], signal.SIGCONT), lasts=True, held=held)


def kinds(ground: Ground) -> dict[str, Fault]:
    """Return every fault that this machine allows, by its name in the table."""
    of_session = "winnow [local]"
    places: dict[str, Callable[[], psutil.Process | None]] = {
        "a web process": lambda: ground.child("gunicorn"),
        "gunicorn's master": lambda: ground.part("gunicorn"),
        "the postmaster": lambda: ground.part("postgres"),
        "a PostgreSQL session": lambda: ground.child("postgres", of_session),
        "Valkey": lambda: ground.part("valkey-server"),
        "the worker": lambda: ground.part("--queues celery"),
        "the worker's child": lambda: ground.child("--queues celery"),
        "the supervisor": lambda: psutil.Process(ground.winnow.process.pid),
    }
    found = {f"kill -9 {name}": _kill(find) for name, find in places.items()}
    found |= {f"pause {name}": _pause(find) for name, find in places.items()}
    if "--queues models" in ground.parts:
        found["kill -9 the models' worker"] = _kill(lambda: ground.part("--queues models"))

    def trouble(kind: str, at_once: bool) -> Fault:
        def strike() -> None:
            ground.proxy.trouble = kind
            if at_once:
                ground.proxy.break_all()

        return Fault(strike, lambda: setattr(ground.proxy, "trouble", ""), lasts=True)

    found["connections reset"] = trouble(proxy.RESET, at_once=True)
    found["answers cut short"] = trouble(proxy.CUT, at_once=False)
    found["connections delayed"] = trouble(proxy.DELAY, at_once=False)
    found["clock steps forward"] = Fault(lambda: ground.set_clock(STEP))
    found["clock steps back"] = Fault(lambda: ground.set_clock(0))
    for kind in slow_clients.SENT:
        clients = SlowClients(ground.winnow.port, kind)
        found[kind] = Fault(clients.begin, clients.end, lasts=True)
    if ground.disk:
        found["disk full"] = Fault(ground.disk.fill, ground.disk.free, lasts=True)
    return found | hanging(ground)


def hanging(ground: Ground) -> dict[str, Fault]:
    """Return faults in which neighbours hang and uploads never end: no answer may be slow meanwhile."""
    found = {"Valkey hangs": _pause(lambda: ground.part("valkey-server"), neighbours.HANGS)}
    if ground.storage:
        found["the object storage hangs"] = Fault(
            ground.storage.hang, ground.storage.go_on, lasts=True, held=neighbours.HANGS
        )
        if names := ground.storage.names:
            hang = partial(setattr, names, "hangs")
            found["names do not resolve"] = Fault(
                lambda: hang(True), lambda: hang(False), lasts=True, held=neighbours.HANGS
            )
    elif ground.disk and ground.uploads:
        found["uploads fill the disk"] = Fault(
            ground.uploads.begin, ground.uploads.end, lasts=True, held=neighbours.HANGS
        )
    return found


def is_well(ground: Ground) -> bool:
    """Return whether every part is there and responds. Starts Winnow again if it has ended."""
    if ground.winnow.process.poll() is not None:
        if ground.winnow.process.returncode != -signal.SIGKILL:
            ground.gave_up.append(ground.winnow.var.with_suffix(".said").read_text().strip().splitlines()[-1])
        ground.start_again()
    try:
        if psutil.Process(ground.winnow.process.pid).status() in DEAD:
            return False
        for word, least in ground.parts.items():
            part = ground.part(word)
            if part is None or part.status() in DEAD:
                return False
            children = [child for child in part.children() if child.status() not in DEAD]
            if len(children) < least or len(children) < len(part.children()):
                return False
    except psutil.NoSuchProcess:
        return False
    return ground.winnow.is_healthy() and _workers_answer(ground)


def _workers_answer(ground: Ground) -> bool:
    count = sum("--queues" in word for word in ground.parts)
    try:
        with ground.broker.connection_for_write() as connection:
            asked = ground.broker.control.inspect(connection=connection, timeout=1, limit=count)
            return len(asked.ping() or {}) == count
    except Exception:  # whatever the client makes of a broker that is away
        return False


@dataclass(frozen=True)
class Struck:
    """Faults that were struck together, from when to when all was well; `recovery` is counted from their end."""

    names: list[str]
    begun: float
    well: float
    recovery: float
    recovered: bool


def strike(ground: Ground, faults: dict[str, Fault], names: list[str], patience: float) -> Struck:
    """Strike all of them at once, then wait at most `patience` seconds until all is well."""
    begun = time.monotonic()
    hit = [name for name in names if faults[name].strike() is not False]
    if lasting := [faults[name].held or ground.held for name in hit if faults[name].lasts]:
        time.sleep(ground.rng.uniform(*max(lasting)))
    for name in hit:
        faults[name].relieve()
    ended = time.monotonic()
    while not (recovered := is_well(ground)) and time.monotonic() - ended < patience:
        time.sleep(0.1)
    well = time.monotonic()
    return Struck(hit, begun, well, well - ended, recovered)
