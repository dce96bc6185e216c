"""Run by a test as a process of its own: drawing that is killed (kill -9) when some images are kept."""

import os
import signal
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from benchmarks.generation import images  # noqa: E402
from benchmarks.jobs import jobs  # noqa: E402

left = [3]


def step(self, count: int = 1) -> None:
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)


jobs.Progress.step = step
jobs.run(job_id=int(sys.argv[1]), by="test", work=images.Drawing.do)
sys.exit("drawing should have died")
