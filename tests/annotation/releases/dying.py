"""Run as a process of its own: the worker at an export or a release, killed (kill -9) at a moment.

    python dying.py export|release JOB MOMENT

A moment is a word, or the number of a step: a file opened, made, moved or removed, or a statement. Where it lives to
the end, as at step 0, it prints how many steps there were.
"""

import os
import signal
import sys
from collections.abc import Callable

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from django.core.files import File  # noqa: E402
from django.db import connection  # noqa: E402

from annotation import tasks  # noqa: E402
from annotation.exports import export as exports_export  # noqa: E402
from annotation.exports import job as export_job  # noqa: E402
from annotation.releases import build  # noqa: E402
from annotation.releases import lifecycle as release_lifecycle  # noqa: E402

RUN = {"export": tasks.run_export, "release": tasks.run_release}


def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)


def half(file: File, size=None):
    """Part of what is to be stored, then nothing more."""
    yield file.read(1000)
    die()


class Steps:
    """Dies at that step; counts those before."""

    def __init__(self, at: int):
        self.at, self.count = at, 0

    def audit(self, event: str, args: tuple) -> None:
        if event in {"open", "os.mkdir", "os.rename", "os.remove"}:
            self.step()

    def statement(self, execute: Callable, *args):
        self.step()
        return execute(*args)

    def step(self) -> None:
        self.count += 1
        if self.count == self.at:
            die()


def run(kind: str, job: int, moment: str) -> int:
    """How many steps there were."""
    steps = Steps(int(moment) if moment.isdigit() else 0)
    if moment == "writing":
        exports_export.item_table.write_source = die  # the items are written, the folder has not its name
    elif moment == "building":
        build.redaction.write_tables = die
    elif moment == "packing":
        export_job.shutil.copyfileobj = die
    elif moment == "storing":
        File.chunks = half
    elif moment == "finishing":
        export_job.jobs.finish_job = release_lifecycle.jobs.finish_job = die
    sys.addaudithook(steps.audit)
    with connection.execute_wrapper(steps.statement):
        RUN[kind](job)
    return steps.count


if __name__ == "__main__":
    print(run(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
