"""Winnow behind PgBouncer in transaction mode: whether everything works there, and what it costs to prepare nothing.

    python -m bench.pooler [--rounds 3] [--seconds 10] [--annotators 16] [--items 60]

Needs `pgbouncer` (Debian: apt-get install pgbouncer). Starts servers of its own in a temporary place, with a pooler of
few connections, so that transactions change theirs all the time. First, behind it: an import, judging over HTTP while
jobs export and release, a backup; the release must verify, and no server session may keep a lock or a statement.
Then judging at full load, in turn: directly, directly without prepared statements, through the pooler.
"""

import argparse
import contextlib
import os
import pwd
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg

from bench import scratch, throughput

PROGRAM = "/usr/sbin/pgbouncer"
CONNECTIONS = 4  # of the pooler to PostgreSQL
STUDY = "Demo: drawn scenes"
DIRECTLY, UNPREPARED, POOLED = "directly", "directly, nothing prepared", "through PgBouncer, nothing prepared"
SETTINGS = """
[databases]
winnow = host={sockets} dbname=winnow user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 500
logfile = {folder}/pgbouncer.log
ignore_startup_parameters = extra_float_digits
"""
LEFT = """
SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') AS locks,
       (SELECT count(*) FROM pg_stat_activity
        WHERE datname = 'winnow' AND pid <> pg_backend_pid() AND state LIKE 'idle in%') AS unfinished
"""


@contextlib.contextmanager
def pooler(direct: str) -> Iterator[str]:
    """The address of a PgBouncer before that database."""
    from config.processes import let_through, wait_for

    sockets = Path(direct.rpartition("host=")[2])
    folder = sockets / "pooler"
    folder.mkdir()
    let_through(folder)
    (folder / "ini").write_text(SETTINGS.format(folder=folder, sockets=sockets, connections=CONNECTIONS))
    user = []
    if os.geteuid() == 0:  # it refuses to run as root, as PostgreSQL does
        shutil.chown(folder, "pgserver")
        user = ["--user", "pgserver"]
        assert pwd.getpwnam("pgserver")
    running = subprocess.Popen([PROGRAM, "--quiet", *user, str(folder / "ini")])
    try:
        assert wait_for((folder / ".s.PGSQL.6432").exists, seconds=20, alive=lambda: running.poll() is None)
        yield f"postgresql://postgres@/winnow?host={folder}&port=6432"
    finally:
        running.terminate()
        running.wait(20)


@contextlib.contextmanager
def web_server(var: Path, pool: str) -> Iterator[int]:
    """Its port. `pool`: the pooler's address; "" without one."""
    before = os.environ.pop("DATABASE_POOL_URL", "")
    if pool:
        os.environ["DATABASE_POOL_URL"] = pool
    with throughput.web_server(var) as port:
        os.environ["DATABASE_POOL_URL"] = before
        yield port


def everything(var: Path, pool: str, items: int) -> bool:
    """An import, judging, exports, releases and a backup behind the pooler; whether nothing was wrong."""
    import zipfile

    from django.core.management import call_command

    from annotation.exports import job as export_job
    from annotation.models import Release, Study
    from annotation.releases import lifecycle
    from annotation.releases.plan import Plan
    from annotation.releases.verification.verifying import verify
    from benchmarks.jobs import jobs
    from benchmarks.models import Job, JobState

    call_command("create_demo", items=items, verbosity=0)
    study, judging = Study.objects.get(name=STUDY), threading.Event()

    def run_jobs() -> None:
        from django.db import connections

        while not judging.wait(0.2):
            order = export_job.queue_export(study=study, by="measure")
            jobs.run(job_id=order.pk, by="measure", work=export_job.run_export)
        connections.close_all()

    with web_server(var, pool) as port:
        others = [threading.Thread(target=run_jobs) for _ in range(2)]
        for thread in others:
            thread.start()
        call_command("simulate", STUDY, annotators=8, url=f"http://127.0.0.1:{port}")
        judging.set()
        for thread in others:
            thread.join()
        release = lifecycle.freeze(study=study, plan=Plan("pooled", "1.0", forms=["jsonl"]), by="measure")
        jobs.run(job_id=release.job_id, by="measure", work=lifecycle.run_release)
        call_command("backup", var / "backup", verbosity=0)
    release = Release.objects.get()
    zipfile.ZipFile(var / "media" / release.file).extractall(var / "release")
    unfinished = Job.objects.exclude(state=JobState.DONE)
    print(f"jobs done: {Job.objects.count() - len(unfinished)}; not done: {[str(job.problems) for job in unfinished]}")
    good = verify(var / "release" / release.folder).good
    with psycopg.connect(os.environ["DATABASE_URL"]) as direct:
        locks, idle = direct.execute(LEFT).fetchone()
    print(f"the release verifies: {good}; advisory locks left: {locks}; transactions left: {idle}")
    return good and not unfinished and not locks and not idle


def cpu_of_postgres(var: Path) -> float:
    """Seconds that its sessions have used so far, ended ones included."""
    server = psutil.Process(int((var / "postgres" / "postmaster.pid").read_text().split()[0]))
    ended, spent = server.cpu_times(), 0.0
    for session in server.children():
        with contextlib.suppress(psutil.NoSuchProcess):
            spent += sum(session.cpu_times()[:2])
    return spent + ended.children_user + ended.children_system


def costs(var: Path, pool: str, rounds: int, seconds: float, count: int) -> bool:
    """Judging at full load in each way, alternating."""
    ways = {DIRECTLY: "", UNPREPARED: os.environ["DATABASE_URL"], POOLED: pool}
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ways}
    good, throughput.TASKS = True, throughput.TASKS * rounds
    study = throughput.fill("")
    for number in range(rounds):
        tokens = throughput.annotators(study, count * len(ways))
        for place, (way, address) in enumerate(ways.items()):
            before = cpu_of_postgres(var)
            with web_server(var, address) as port:
                clients = throughput.load(port, seconds, tokens[place :: len(ways)])
            good = good and not any(client["failed"] for client in clients)
            times = sorted(1000 * took for client in clients for took in client["seconds"])
            spent = 1000 * (cpu_of_postgres(var) - before) / len(times)
            found[way].append((len(times) / seconds, statistics.median(times), spent))
            print(f"round {number + 1}, load {os.getloadavg()[0]:.1f}, {told(way, *found[way][-1])}", flush=True)
    for way, measured in found.items():
        print(f"median of {rounds}: {told(way, *map(statistics.median, zip(*measured, strict=True)))}")
    return good


def told(way: str, rate: float, wait: float, spent: float) -> str:
    return f"{way}: {rate:.0f} judgments a second, p50 {wait:.1f} ms, PostgreSQL {spent:.2f} ms of CPU for each"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--annotators", type=int, default=16)
    options.add_argument("--items", type=int, default=60)
    given = options.parse_args()
    if not Path(PROGRAM).exists():
        print(f"{PROGRAM} is missing: apt-get install pgbouncer. Nothing was measured.")
        return 1
    with scratch.winnow(pooler=pooler) as var:
        from config import preparation

        preparation.collect_static()
        pool, began = os.environ["DATABASE_POOL_URL"], time.monotonic()
        good = everything(var, pool, given.items)
        print(f"everything behind the pooler: {time.monotonic() - began:.0f} s", flush=True)
        return 0 if costs(var, pool, given.rounds, given.seconds, given.annotators) and good else 1


if __name__ == "__main__":
    sys.exit(main())
