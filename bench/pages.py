"""Every page and list of a managers' Winnow at several sizes: what it takes, how it grows, and the worst.

    python -m bench.pages                                  (some minutes, about 5 GB of temporary disk)
    python -m bench.pages --judgments 10000 100000 --ms 500

One Winnow with many small studies gets a study of each size, and is asked through Django's client without a network:
the median of five, queries, and bytes. `small` is the page of a small study beside the largest. What the worker would
compute has been computed before. Exits with 1 if a page takes more than it may.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from statistics import median

from bench import scratch, world

TIMES, WORST = 5, 20


@dataclass(frozen=True)
class Taken:
    """By one page: milliseconds, queries and kB, of HTML or of another type."""

    ms: float
    queries: int
    kb: float
    html: bool

    def __str__(self) -> str:
        return f"{self.ms:7.0f} ms {self.queries:4} q {self.kb:7.0f} kB"


def work() -> None:
    """Do what the pages have asked the worker for."""
    from annotation.figures import cache
    from benchmarks.jobs import jobs
    from benchmarks.models import Job, JobState

    for job in Job.objects.filter(kind=cache.KIND, state=JobState.QUEUED):
        begun = time.process_time()
        done = jobs.run(job_id=job.pk, by="bench", work=cache.compute_figures)
        print(f"  worker: {done.params['kind']} {done.state}, CPU {time.process_time() - begun:.1f} s", flush=True)


def get(client, url: str) -> tuple[float, int, int, bool]:
    """Milliseconds, status, bytes, and whether it is HTML."""
    begun = time.perf_counter()
    answer = client.get(url)
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    taken = 1000 * (time.perf_counter() - begun)
    return taken, answer.status_code, len(content), "html" in answer.headers.get("Content-Type", "")


def asked(client, url: str) -> Taken | None:
    """None if the page is not there, or only leads elsewhere."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        _, status, size, html = get(client, url)
    count = len(queries)  # the next request forgets them
    if status != 200:
        return None
    return Taken(median(get(client, url)[0] for _ in range(TIMES)), count, size / 1000, html)


def measure(client, pages: dict[str, str]) -> dict[str, Taken]:
    for url in pages.values():
        get(client, url)
    work()
    found = {name: asked(client, url) for name, url in pages.items()}
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
    print(f"{'':48}" + "".join(f"{size:>28}" for size in found))
    for place, name in enumerate(names):
        if place < WORST or name in over:
            cells = "".join(f"{of.get(name, '')!s:>28}" for of in found.values())
            print(f"{'!' if name in over else ' '} {name:46}{cells}")
    print(f"{len(names)} pages, {len(over)} over {most.ms} ms, {most.queries} queries or {most.kb} kB of HTML")
    return len(over)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgments", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="of each study")
    parser.add_argument("--studies", type=int, default=200, help="small ones, beside")
    parser.add_argument("--only", default="", help="pages whose names contain this")
    for name, default in {"ms": 300, "queries": 30, "kb": 150}.items():
        parser.add_argument(f"--{name}", type=int, default=default, help="what a page may take")
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
                found[f"{size:,}"] = measure(client, chosen(world.addresses(study, user), options.only))
            found["small"] = measure(client, chosen(world.addresses(small, user), options.only))
        sys.exit(bool(show(found, options)))


def chosen(pages: dict[str, str], part: str) -> dict[str, str]:
    return {name: url for name, url in pages.items() if part in name}


if __name__ == "__main__":
    main()
