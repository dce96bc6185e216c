"""Measure an idle Winnow: the memory of every process of `manage.py up`, and the seconds that it takes to start.

    python -m bench.idle            (in a virtual environment of requirements/web.txt alone; about a minute)

Starts its own Winnow with the demo study, looks at the front page and the login, waits, and prints each process's
proportional set size (PSS: memory that processes share is divided among them). Then kills it and starts it again.
"""

import argparse
import signal
import tempfile
import time
from pathlib import Path

import psutil

from tests.config.running import Winnow

MIB = 2**20


def name_of(process: psutil.Process) -> str:
    line = " ".join(process.cmdline())
    for word, name in {"gunicorn": "web", "celery": "worker", "valkey": "valkey", "postgres": "postgres"}.items():
        if word in line:
            return name
    return "supervisor"


def memory(pid: int) -> dict[str, list[float]]:
    """Return the MiB of each process, by kind, the largest first."""
    root, found = psutil.Process(pid), {}
    for process in [root, *root.children(recursive=True)]:
        found.setdefault(name_of(process), []).append(process.memory_full_info().pss / MIB)
    return {name: sorted(sizes, reverse=True) for name, sizes in sorted(found.items())}


def show(found: dict[str, list[float]]) -> None:
    for name, sizes in found.items():
        print(f"{name:>12} {sum(sizes):6.0f} MiB  ({', '.join(f'{size:.0f}' for size in sizes)})")
    print(f"{'all':>12} {sum(map(sum, found.values())):6.0f} MiB", flush=True)


def start(winnow: Winnow) -> float:
    began = time.monotonic()
    winnow.up()
    return time.monotonic() - began


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--wait", type=float, default=15, help="seconds to be idle before the memory is read")
    wait = options.parse_args().wait
    with tempfile.TemporaryDirectory(prefix="winnow-idle-", ignore_cleanup_errors=True) as folder:
        winnow = Winnow(Path(folder).resolve() / "var")
        print(f"first start: {start(winnow):.1f} s", flush=True)
        try:
            for page in ("/", "/login/"):
                winnow.get(page)
            time.sleep(wait)
            show(memory(winnow.process.pid))
            winnow.down(signal.SIGKILL)
            print(f"start after kill -9: {start(winnow):.1f} s", flush=True)
        finally:
            winnow.down()


if __name__ == "__main__":
    main()
