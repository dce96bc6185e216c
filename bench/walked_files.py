"""Pytest plugin of `bench.size --walks`: notes files of the product in which a function ran while given functions did.

`WALK_WITHIN` names these functions as `FILE:NAME`, separated by spaces; the files are written to `WALK_SEEN`.
It imports nothing of the project, so that it also runs in another version's folder.
"""

import os
import sys
import threading
from pathlib import Path

ROOT = f"{os.getcwd()}/"
PRODUCT = ("annotation/", "benchmarks/", "workers/", "config/")
WITHIN = set(os.environ.get("WALK_WITHIN", "").split())
seen: set[str] = set()
depth = threading.local()


def _count(frame, event, _):
    if event not in ("call", "return") or not frame.f_code.co_filename.startswith(ROOT):
        return
    path, name = frame.f_code.co_filename.removeprefix(ROOT), frame.f_code.co_name
    if f"{path}:{name}" in WITHIN:
        depth.now = getattr(depth, "now", 0) + (1 if event == "call" else -1)
    counts = path.startswith(PRODUCT) and path.endswith(".py") and name != "<module>"
    if counts and event == "call" and getattr(depth, "now", 0):
        seen.add(path)


def pytest_runtest_setup():
    threading.setprofile(_count)
    sys.setprofile(_count)


def pytest_unconfigure():
    sys.setprofile(None)
    Path(os.environ["WALK_SEEN"]).write_text("\n".join(sorted(seen)))
