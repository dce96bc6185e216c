"""Measure every page and list for managers at several sizes: time and queries, how they grow, and the worst.

    python -m bench.pages                                  (some minutes, about 5 GB of temporary disk)
    python -m bench.pages --judgments 10000 100000 --ms 500
    python -m bench.pages --judgments 100000 --factory     (each page also with PostgreSQL's factory settings)

One Winnow with many small studies gets a study of each size, and is asked through Django's client without a network:
the median of five, queries, and bytes. `small` is the page of a small study beside the largest. What the worker would
compute has been computed before. Exits with 1 if a page takes more than it may.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from statistics import median

import psutil

from bench import scratch, world

WORST = 20
FACTORY = {"random_page_cost": "4", "work_mem": "4MB", "effective_cache_size": "4GB"}  # without restarting PostgreSQL


@dataclass(frozen=True)
class Taken:
    """By one page: milliseconds, those of the CPU (also PostgreSQL's), queries and kB, of HTML or of another type."""

    ms: float
    cpu: float
    queries: int
    kb: float
    html: bool

    def __str__(self) -> str:
        return f"{self.ms:6.0f} ms {self.cpu:6.0f} cpu {self.queries:3} q {self.kb:6.0f} kB"


def work() -> None:
    """Do the work that the pages have requested."""
    from annotation.figures import cache
    from benchmarks.jobs import jobs
    from benchmarks.models import Job, JobState

    for job in Job.objects.filter(kind=cache.KIND, state=JobState.QUEUED):
        begun = time.process_time()
        done = jobs.run(job_id=job.pk, by="bench", work=cache.compute_figures)
        print(f"  worker: {done.params['kind']} {done.state}, CPU {time.process_time() - begun:.1f} s", flush=True)


@dataclass(frozen=True)
class Answer:
    ms: float
    cpu: float
    status: int
    bytes: int
    html: bool


def cpu(backend: int) -> float:
    """Return the milliseconds of this process and of its server in PostgreSQL, whose clock has steps of 10."""
    return 1000 * (time.process_time() + sum(psutil.Process(backend).cpu_times()[:2]))


def get(client, url: str) -> Answer:
    from django.db import connection

    connection.ensure_connection()
    backend = connection.connection.info.backend_pid
    begun, spent = time.perf_counter(), cpu(backend)
    answer = client.get(url)
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    ms = 1000 * (time.perf_counter() - begun)
    html = "html" in answer.headers.get("Content-Type", "")
    return Answer(ms, cpu(backend) - spent, answer.status_code, len(content), html)


def asked(client, url: str, times: int) -> Taken | None:
    """Measure a page; None if it does not exist, or only redirects."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        first = get(client, url)
    count = len(queries)  # the next request forgets them
    if first.status != 200:
        return None
    answers = [get(client, url) for _ in range(times)]
    ms, spent = (median(getattr(one, name) for one in answers) for name in ("ms", "cpu"))
    return Taken(ms, spent, count, first.bytes / 1000, first.html)


def set_up(statements: list[str]) -> None:
    """Change the connection's settings, and forget the plans that it has kept."""
    from django.db import connection

    with connection.cursor() as cursor:
        for statement in [*statements, "DISCARD PLANS"]:
            cursor.execute(statement)


def compare(client, pages: dict[str, str], times: int) -> None:
    """Print what each page takes with PostgreSQL's factory settings and with Winnow's, in turn, and the ratio."""
    ways = [[f"SET {name} = '{value}'" for name, value in FACTORY.items()], [f"RESET {name}" for name in FACTORY]]
    print(f"{'':48}{'factory, ms':>12}{'Winnow, ms':>12}{'ratio':>8}")
    for name, url in pages.items():
        took: list[list[float]] = [[], []]
        for way in [0, 1, 1, 0] * 2:
            set_up(ways[way])
            get(client, url)
            took[way] += [get(client, url).ms for _ in range(times)]
        factory, own = map(median, took)
        print(f"{name:48}{factory:12.1f}{own:12.1f}{factory / own:8.2f}", flush=True)


def measure(client, pages: dict[str, str], times: int) -> dict[str, Taken]:
    for url in pages.values():
        get(client, url)
    work()
    found = {name: asked(client, url, times) for name, url in pages.items()}
    if gone := [name for name, taken in found.items() if taken is None]:
        print(f"  not there: {' '.join(gone)}")
    return {name: taken for name, taken in found.items() if taken}


def show(found: dict[str, dict[str, Taken]], most: argparse.Namespace) -> int:
    """Print the pages that take longest, and all that take too much; how many these are."""
    *_, largest, _ = found.values()
    over = {
        name
        for of in found.values()
        for name, taken in of.items()
        if taken.ms > most.ms or taken.queries > most.queries or (taken.html and taken.kb > most.kb)
    }
    names = sorted(largest, key=lambda name: -max(of[name].ms for of in found.values() if name in of))
    print(f"{'':48}" + "".join(f"{size:>36}" for size in found))
    for place, name in enumerate(names):
        if place < WORST or name in over:
            cells = "".join(f"{of.get(name, '')!s:>36}" for of in found.values())
            print(f"{'!' if name in over else ' '} {name:46}{cells}")
    print(f"{len(names)} pages, {len(over)} over {most.ms} ms, {most.queries} queries or {most.kb} kB of HTML")
    return len(over)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgments", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="in each study")
    parser.add_argument("--studies", type=int, default=200, help="small ones, beside")
    parser.add_argument("--only", nargs="+", default=[""], help="pages whose names contain one of these")
    parser.add_argument("--times", type=int, default=5, help="number of requests, of which the median counts")
    parser.add_argument("--factory", action="store_true", help="compare PostgreSQL's factory settings, judge nothing")
    for name, default in {"ms": 300, "queries": 30, "kb": 150}.items():
        parser.add_argument(f"--{name}", type=int, default=default, help="limits for a page")
    options = parser.parse_args()
    with scratch.winnow(durable=False):
        from django.contrib.auth.models import User
        from django.test import Client, override_settings

        user, client, found = User.objects.create_superuser("bench"), Client(), {}
        client.force_login(user)
        small = world.small_studies(options.studies)
        with override_settings(ALLOWED_HOSTS=["*"]):
            for size in options.judgments:
                begun = time.monotonic()
                study = world.large_study(size)
                print(f"{size:,} judgments stored in {time.monotonic() - begun:.0f} s", flush=True)
                pages = chosen(world.addresses(study, user), options.only)
                found[f"{size:,}"] = measure(client, pages, options.times)
                if options.factory:
                    compare(client, pages, options.times)
            found["small"] = measure(client, chosen(world.addresses(small, user), options.only), options.times)
        sys.exit(bool(show(found, options)) and not options.factory)


def chosen(pages: dict[str, str], parts: list[str]) -> dict[str, str]:
    return {name: url for name, url in pages.items() if any(part in name for part in parts)}


if __name__ == "__main__":
    main()
