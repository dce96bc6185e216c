"""Starts gunicorn as in the image on each port that it reads, and prints its process. What it imports, it imports once,
and says at first whether the views are among it.

python -m tests.config.web_servers
"""

import os
import signal
import sys

from gunicorn.app import wsgiapp

import config.wsgi  # noqa: F401

SHAPE = ["--worker-class", "gthread", "--workers", "1", "--threads", "4", "--keep-alive", "15"]
QUIET = ["--no-control-socket", "--log-level", "warning"]


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what ends is gone at once
    print("annotation.dashboard.views" in sys.modules, flush=True)
    for port in sys.stdin:
        if process := os.fork():
            print(process, flush=True)
            continue
        os.close(0)
        where = ["--config", "python:config.draining", "--bind", f"127.0.0.1:{int(port)}"]
        sys.argv = ["gunicorn", "config.wsgi", *where, *SHAPE, *QUIET]
        wsgiapp.run()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
