"""An upload in chunks to one web process: how long it takes, and the memory of that process.

python -m bench.uploads [--megabytes 1024]        (as much temporary disk; well below a minute)
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import time

import psutil

from bench.scratch import winnow

PORT = 8765
TOKEN = "a" * 32  # against forged requests: any, if cookie and header agree


def session() -> str:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.create_superuser("ana"))
    return client.cookies["sessionid"].value


def ask(web: http.client.HTTPConnection, headers: dict, method: str, url: str, body, **more: str) -> dict:
    web.request(method, url, body, {**headers, **more})
    answer = web.getresponse()
    told = answer.read()
    assert answer.status == 200, (answer.status, told[:200])
    return json.loads(told)


def connected() -> http.client.HTTPConnection:
    for _ in range(200):
        try:
            web = http.client.HTTPConnection("127.0.0.1", PORT)
            web.request("GET", "/healthz")
            web.getresponse().read()
            return web
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("The web process does not answer.")


def measure(web: http.client.HTTPConnection, process: psutil.Process, headers: dict, size: int) -> None:
    facts = {"field": "images", "name": "images.zip", "size": size, "modified": 1}
    state = ask(web, headers, "POST", "/uploads/", json.dumps(facts))
    chunk, memory, started = os.urandom(state["chunk"]), [], time.monotonic()
    while state["offset"] < size:
        body = chunk[: size - state["offset"]]
        state = ask(web, headers, "PATCH", state["url"], body, **{"Upload-Offset": str(state["offset"])})
        memory.append(process.memory_info().rss / 2**20)
    quarter = -(-len(memory) // 4)
    peaks = ", ".join(f"{max(memory[at : at + quarter]):.0f}" for at in range(0, len(memory), quarter))
    print(f"{size / 2**20:,.0f} MB in {time.monotonic() - started:.0f} s; peak memory of each quarter: {peaks} MB")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--megabytes", type=int, default=1024)
    size = options.parse_args().megabytes * 2**20
    with winnow(durable=False):
        headers = {"Cookie": f"sessionid={session()}; csrftoken={TOKEN}", "X-CSRFToken": TOKEN}
        shape = ["--workers", "1", "--threads", "8", "--worker-class", "config.buffering.Worker"]
        shape += ["--bind", f"127.0.0.1:{PORT}"]
        server = subprocess.Popen([sys.executable, "-m", "gunicorn", "config.wsgi", *shape], stderr=subprocess.DEVNULL)
        try:
            web = connected()
            measure(web, psutil.Process(server.pid).children()[0], headers, size)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
