"""A pytest plugin, loaded before Django: the suite runs on embedded servers of its own, in a temporary place.

With pytest-xdist the first process starts them, its workers use them, and pytest-django gives each its own database.
"""

import os
import shutil
import tempfile
from pathlib import Path

from config.services import Servers, database_url, redis_url

MEMORY, ROOM = "/dev/shm", 8 << 30  # bytes; a container's is often 64 MiB
_servers = None

if "PYTEST_XDIST_WORKER" not in os.environ:
    if Path(MEMORY).is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("TMPDIR", MEMORY)  # tests write many files, and none has to last
        tempfile.tempdir = None
    _folder = tempfile.TemporaryDirectory(prefix="winnow-tests-", ignore_cleanup_errors=True)
    _var = Path(_folder.name).resolve()
    _servers = Servers(_var, durable=False)
    _servers.start()
    os.environ.update(WINNOW_VAR=str(_var), DATABASE_URL=database_url(_var), REDIS_URL=redis_url(_var))
    os.environ["WINNOW_MODELS"] = tempfile.gettempdir()  # whatever small model a test makes can be named by its path
    # Threads of one small computation, torch's or numpy's, mostly wait for each other while others are at work.
    os.environ.update(OMP_THREAD_LIMIT="1", OPENBLAS_NUM_THREADS="1")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright keeps an event loop in the test's thread


def pytest_unconfigure():
    if _servers:
        _servers.stop()
        _folder.cleanup()
