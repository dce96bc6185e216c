"""Starts gunicorn and celery: each command line that it reads as JSON in a fork that prints to standard error, on a
folder of its own where the line names one. What they import, it imports once, and says at first whether the views are
among it; then it prints each process.

python -m tests.config.servers
"""

import json
import os
import signal
import sys
from pathlib import Path

from celery.__main__ import main as celery
from django.conf import settings
from gunicorn.app import wsgiapp

import config.wsgi  # noqa: F401
from config import celery_app


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what ends is gone at once
    celery_app.loader.import_default_modules()
    print("annotation.dashboard.views" in sys.modules, flush=True)
    for line in sys.stdin:
        if process := os.fork():
            print(process, flush=True)
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(0)
        os.dup2(2, 1)
        command, var = json.loads(line)
        if var:
            settings.VAR = settings.FILE_UPLOAD_TEMP_DIR = Path(var)
            settings.MEDIA_ROOT = settings.VAR / "media"
        sys.argv = command
        {"gunicorn": wsgiapp.run, "celery": celery}[command[0]]()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
