"""Run by a test as a process of its own: captions are made, and it is killed (kill -9) when two answers are kept."""

import os
import signal
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from benchmarks.generation import captions  # noqa: E402
from benchmarks.jobs import jobs  # noqa: E402
from benchmarks.models import ModelAnswer  # noqa: E402

stepped = jobs.Progress.step


def step(progress, count: int = 1) -> None:
    if ModelAnswer.objects.count() == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    stepped(progress, count)


jobs.Progress.step = step
jobs.run(job_id=int(sys.argv[1]), by="test", work=captions.Generation.do)
sys.exit("generating should have died")
