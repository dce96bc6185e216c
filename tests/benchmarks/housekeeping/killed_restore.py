"""Run by a test as a process of its own: a restore that is killed (kill -9) at one of several moments."""

import os
import signal
import sys
from pathlib import Path

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()

from benchmarks.housekeeping import (  # noqa: E402
    restore,
    tables,
)
from benchmarks.housekeeping.deferred_files import DeferredFiles  # noqa: E402

folder, moment = Path(sys.argv[1]), sys.argv[2]
load_table = tables._load_table


def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)


def die_in_mid_load(cursor, table, named, pieces):
    return die() if table == "benchmarks_item" else load_table(cursor, table, named, pieces)


MOMENTS = {
    "placed": (restore, "_load", die),  # the files are there, the database is the former one
    "loading": (tables, "_load_table", die_in_mid_load),
    "loaded": (restore.Event.objects, "create", die),  # the last thing in the transaction
    "following": (DeferredFiles, "_move_in", die),  # it is committed, and what must follow has not
}
setattr(*MOMENTS[moment])
restore.restore(folder=folder, replace=True, by="test")
sys.exit("the restore should have died")
