"""Run by a test as a process of its own: an import that is killed (kill -9) before its commit."""

import os
import signal
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from benchmarks.imports import run as run_import  # noqa: E402
from benchmarks.imports import store as imports_store  # noqa: E402
from benchmarks.jobs import jobs  # noqa: E402

job_id, moment = int(sys.argv[1]), sys.argv[2]


def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)


if moment == "moved":
    jobs.finish_job = die  # the last thing in the transaction
else:
    imports_store.store_images = die  # everything is staged, nothing has moved
jobs.run(job_id=job_id, by="test", work=run_import.import_files)
sys.exit("the import should have died")
