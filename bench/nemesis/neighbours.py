"""Winnow's neighbours besides its database, which can hang: an object storage, and a name server that knows its name.
Meanwhile viewers load images from it, and uploads come that are larger than the room on the disk.
"""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from bench.nemesis.small_disk import bind
from tests.builders import object_storage
from tests.config.running import free_port

HANGS = (5, 8)  # seconds for which one does, from and to: longer than any deadline
NAME = "storage.nemesis"
VIEWERS, LOOKS_EVERY = 12, 0.3  # seconds
UPLOADS, CHUNK = 4, 4 * 2**20
A, ANSWER, NO_SUCH_NAME = 1, 0x8180, 0x8183


class Storage:
    """moto's S3 server as a process, which is stopped where it is to hang. `names`: who knows its name, if anybody."""

    def __init__(self, folder: Path):
        self.port = free_port()
        with (folder / "storage.log").open("wb") as log:
            command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
            own = {**os.environ, "S3_IGNORE_SUBDOMAIN_BUCKETNAME": "1"}  # NAME is no bucket
            self.process = subprocess.Popen(command, env=own, stdout=log, stderr=log)
        self._wait_until_it_answers()
        self.bucket = object_storage.new_bucket(f"http://127.0.0.1:{self.port}")
        self.names: Names | None = None
        try:
            self.names = Names(folder)
        except OSError as error:
            print(f"Names will be resolved: this system lets nobody answer for them ({error}).")

    @property
    def environment(self) -> dict[str, str]:
        url = f"http://{NAME if self.names else '127.0.0.1'}:{self.port}"
        return object_storage.environment(object_storage.storages(url, self.bucket))

    def _wait_until_it_answers(self) -> None:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.1)
        raise RuntimeError("The object storage did not start.")

    def hang(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.names:
            self.names.close()


class Names:
    """The name server of this process and its children: knows NAME. Raises OSError where the system does not let us."""

    def __init__(self, folder: Path):
        self.hangs = False
        self.server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        address = f"127.{os.getpid() % 250 + 1}.{os.getpid() // 250 % 250}.53"
        self.server.bind((address, 53))
        (own := folder / "resolv.conf").write_text(f"nameserver {address}\n")
        bind(own, Path("/etc/resolv.conf"))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                asked, who = self.server.recvfrom(512)
                if not self.hangs:
                    self.server.sendto(answer(asked), who)

    def close(self) -> None:
        self.server.close()


def answer(asked: bytes) -> bytes:
    """Answer a DNS query: 127.0.0.1 for NAME."""
    end = asked.index(b"\0", 12) + 5
    question, kind = asked[12:end], struct.unpack("!H", asked[end - 4 : end - 2])[0]
    known = question.startswith(b"".join(bytes([len(part)]) + part.encode() for part in NAME.split(".")) + b"\0")
    records = struct.pack("!HHHIH4B", 0xC00C, A, 1, 0, 4, 127, 0, 0, 1) if known and kind == A else b""
    head = struct.pack("!HHHHH", ANSWER if known else NO_SUCH_NAME, 1, bool(records), 0, 0)
    return asked[:2] + head + question + records


class Viewers:
    """Browsers that load images, one after the other. `seen`: statuses."""

    def __init__(self, port: int, images: Sequence[str], seed: int):
        self.stop, self.seen, self.rng = threading.Event(), Counter(), Random(seed)
        self.pool = ThreadPoolExecutor(VIEWERS)
        for _ in range(VIEWERS):
            self.pool.submit(self._look, f"http://127.0.0.1:{port}", images)

    def _look(self, url: str, images: Sequence[str]) -> None:
        while not self.stop.wait(LOOKS_EVERY):
            try:
                with urllib.request.urlopen(url + self.rng.choice(images), timeout=30) as image:
                    self.seen[image.status] += 1
            except urllib.error.HTTPError as error:
                self.seen[error.code] += 1
            except OSError as error:
                self.seen[type(error).__name__] += 1

    def close(self) -> None:
        self.stop.set()
        self.pool.shutdown()


class Uploads:
    """A manager's simultaneous uploads, each larger than half of the free space."""

    def __init__(self, url: str, token: str, var: Path):
        self.url, self.var = f"{url}/api/v1/uploads/", var
        self.headers = {"Authorization": f"Bearer {token}"}
        self.stop, self.threads, self.seen = threading.Event(), [], Counter()
        self.least = sys.maxsize  # bytes that were free

    def begin(self) -> None:
        from benchmarks.jobs.room import RESERVE  # known without Django

        self.stop.clear()
        size = max(CHUNK, int(0.6 * (self._free() - RESERVE)))
        self.threads = [threading.Thread(target=self._upload, args=(number, size)) for number in range(UPLOADS)]
        for thread in self.threads:
            thread.start()

    def _upload(self, number: int, size: int) -> None:
        try:
            made = self._ask("POST", self.url, json.dumps({"name": f"{number}.zip", "size": size}).encode(), {})
            where, at = f"{self.url}{made['id']}/", 0
            while at < size and not self.stop.is_set():
                at = self._ask("PATCH", where, bytes(min(CHUNK, size - at)), {"Upload-Offset": str(at)})["received"]
                self.least = min(self.least, self._free())
            self._ask("DELETE", where, b"", {})
            self.seen["taken"] += 1
        except urllib.error.HTTPError as error:
            self.seen[f"{error.code} {json.load(error)['code']}"] += 1
        except (OSError, ValueError) as error:
            self.seen[type(error).__name__] += 1

    def _ask(self, method: str, url: str, body: bytes, headers: dict[str, str]) -> dict:
        kind = "application/octet-stream" if method == "PATCH" else "application/json"
        own = {**self.headers, "Content-Type": kind, "Idempotency-Key": str(uuid.uuid4()), **headers}
        with urllib.request.urlopen(urllib.request.Request(url, body, own, method=method), timeout=30) as answer:
            return json.loads(answer.read() or b"{}")

    def _free(self) -> int:
        found = os.statvfs(self.var)
        return found.f_bavail * found.f_frsize

    def end(self) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()
