"""Measure how many judgments per second one machine takes, and whether any is lost or too many: gunicorn under full
load.

    python -m bench.throughput [--seconds 20] [--annotators 16] [--file prompt-fit]
    python -m bench.throughput --bare [--seconds 10] [--annotators 1 16 64]

Starts servers and gunicorn of its own on 127.0.0.1, with BiVLC's 7,512 items at overlap 2 (rows of images, no files:
no picture is fetched). Annotators answer without thinking, from separate processes, each over one connection, with the
judging page's requests. Then the database is checked.

`--bare` compares: rounds of Winnow alternate with rounds of a plain Django view that does the bare minimum
(`bench/bare.py`), behind the same command of gunicorn, on the same tables, with the same screens.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlencode
from uuid import uuid4

from bench import scratch

TASKS, OVERLAP, CANDIDATES, IMAGES = 7512, 2, 4, 64
HELD = 2  # screens that an annotator still holds at the end
PROCESSES = 2
ROUNDS = 3  # rounds of each, with --bare
HEADERS = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}


# The clients: no Django here


class Client:
    """One annotator with one connection, who records every acknowledged answer and how long it took."""

    def __init__(self, port: int, token: str):
        self.connection = HTTPConnection("127.0.0.1", port, timeout=30)
        self.path = f"/judge/{token}/"
        self.acknowledged: list[str] = []
        self.seconds: list[float] = []
        self.failed = 0

    def work(self, until: float) -> None:
        now = self.ask("GET", self.path)
        while now["held"] and time.monotonic() < until:
            lease, *rest = now["held"]
            key = str(uuid4())
            body = [("lease", lease), ("key", key), ("answer", "1"), ("active", "900"), ("elapsed", "1000")]
            begun = time.monotonic()
            now = self.ask("POST", f"{self.path}submit/", urlencode(body + [("have", one) for one in rest]))
            if now.get("receipt") == "saved":
                self.seconds.append(time.monotonic() - begun)
                self.acknowledged.append(key)
            else:
                self.failed += 1
                now = self.ask("GET", self.path)

    def ask(self, method: str, path: str, body: str | None = None) -> dict:
        self.connection.request(method, path, body, HEADERS)
        return json.loads(self.connection.getresponse().read())


def client_process(port: int, seconds: float, tokens: list[str]) -> None:
    clients = [Client(port, token) for token in tokens]
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=client.work, args=(until,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fields = ("acknowledged", "seconds", "failed")
    print(json.dumps([{field: getattr(client, field) for field in fields} for client in clients]))


# The server


ROLES = {"captions.negative": 1, "images.candidate": CANDIDATES}


def fill(file: str):
    """A study with its items' texts and images: of bivlc-choose, or of the library's protocol file of that name."""
    from annotation.designs.plan import StagePlan
    from annotation.protocol_files.publish import publish
    from annotation.protocols import library, schema
    from annotation.studies.lifecycle import create_study
    from benchmarks.models import Benchmark, Caption, Image, Item, ItemImage

    benchmark = Benchmark.objects.create(name="Throughput", source="measure")
    sized = {"format": "JPEG", "width": 512, "height": 512, "size": 1000}
    images = Image.objects.bulk_create([Image(sha256=f"{number:064x}", **sized) for number in range(IMAGES)])
    items = Item.objects.bulk_create([Item(benchmark=benchmark, key=str(n), position=n) for n in range(TASKS)])
    text = "A red vase is to the right of a green lamp, with a purple bird in the sky, number {}."
    roles, protocol = ROLES, "bivlc-choose"
    if file:
        counts = {role: schema.bounds(count) for role, count in library.shipped(file).roles.items()}
        roles = {role: min(most or CANDIDATES, max(least, CANDIDATES)) for role, (least, most) in counts.items()}
        protocol = str(publish(text=library.text_of(file), by="measure"))
    shown = [(item, *role.split("."), place) for item in items for role in roles for place in range(roles[role])]
    captions = [
        Caption(item=item, role=role, position=place, text=text.format(item.key))
        for item, kind, role, place in shown
        if kind != "images"
    ]
    uses = [
        ItemImage(item=item, image=images[(item.position + place) % IMAGES], role=role, position=place)
        for item, kind, role, place in shown
        if kind == "images"
    ]
    Caption.objects.bulk_create(captions, batch_size=5000)
    ItemImage.objects.bulk_create(uses, batch_size=5000)
    stage = StagePlan(protocol, settings={"overlap": OVERLAP})
    return create_study(name="Throughput", benchmark=benchmark, stages=[stage], by="measure")


def annotators(study, count: int) -> list[str]:
    from annotation.assignment.seats import accept_instructions, join

    people = [join(study=study, by="measure", simulated=True) for _ in range(count)]
    for person in people:
        accept_instructions(annotator=person, stage=person.stage, version=1)
    return [person.token for person in people]


WINNOW, BARE = "config.wsgi", "bench.bare"


@contextlib.contextmanager
def web_server(var, application: str = WINNOW) -> Iterator[int]:
    """Start the web server; return its port."""
    from config import supervisor

    listener = supervisor.listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    command = [application if part == WINNOW else str(part) for part in supervisor.web_command(listener)]
    with (var / "web.log").open("wb") as log:
        web = subprocess.Popen(command, pass_fds=[listener.fileno()], stdout=log, stderr=log)
    try:
        wait_for(port)
        yield port
    finally:
        web.terminate()
        web.wait(20)
        listener.close()


def wait_for(port: int) -> None:
    """Wait until the first answer; the listener queues whoever comes before gunicorn is up."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200


def load(port: int, seconds: float, tokens: list[str]) -> list[dict]:
    me = [sys.executable, "-m", "bench.throughput", "--client", str(port), "--seconds", str(seconds)]
    shares = [tokens[number::PROCESSES] for number in range(min(PROCESSES, len(tokens)))]
    clients = [subprocess.Popen([*me, f"--tokens={','.join(share)}"], stdout=subprocess.PIPE) for share in shares]
    return [client for process in clients for client in json.loads(process.communicate()[0])]


def verdict(clients: list[dict]) -> dict[str, int]:
    """Return counts from the database, all three of which must be 0."""
    from django.db.models import Count, Q

    from annotation.models import Judgment, Task

    acknowledged = {key for client in clients for key in client["acknowledged"]}
    stored = {str(key) for key in Judgment.objects.values_list("key", flat=True)}
    given = Count("leases", filter=Q(leases__state__in=["held", "judged"]))
    return {
        "acknowledged judgments lost": len(acknowledged - stored),
        "tasks over overlap": Task.objects.annotate(given=given).filter(given__gt=OVERLAP).count(),
        "requests refused": sum(client["failed"] for client in clients),
    }


def report(clients: list[dict], seconds: float) -> str:
    times = sorted(1000 * took for client in clients for took in client["seconds"])
    part = statistics.quantiles(times, n=100)
    rate = (
        f"{len(times):,} judgments in {seconds:.0f} s by {len(clients)} annotators: {len(times) / seconds:.0f} a second"
    )
    return f"{rate}; p50 {part[49]:.1f} ms, p95 {part[94]:.1f} ms, p99 {part[98]:.1f} ms, longest {times[-1]:.1f} ms"


def measure(seconds: float, count: int, file: str) -> bool:
    with scratch.winnow() as var:
        from config import preparation

        preparation.collect_static()
        tokens = annotators(fill(file), count)
        with web_server(var) as port:
            clients = load(port, seconds, tokens)
        found = verdict(clients)
    print(report(clients, seconds))
    print(", ".join(f"{number} {what}" for what, number in found.items()))
    return not any(found.values())


def compare(seconds: float, counts: list[int]) -> bool:
    """Compare Winnow and the bare view in turn. Each round has its own annotators; all share the slots of one study."""
    global TASKS
    TASKS *= len(counts)
    with scratch.winnow() as var:
        from config import preparation

        preparation.collect_static()
        study, everyone = fill(""), []
        for count in counts:
            rates: dict[str, list[float]] = {WINNOW: [], BARE: []}
            for _ in range(ROUNDS):
                for application, found in rates.items():
                    tokens = annotators(study, count)
                    with web_server(var, application) as port:
                        clients = load(port, seconds, tokens)
                    everyone += clients
                    if sum(len(client["seconds"]) + HELD for client in everyone) >= TASKS * OVERLAP:
                        sys.exit("The annotators ran out of screens. Use fewer --seconds.")
                    found.append(sum(len(client["seconds"]) for client in clients) / seconds)
                    print(f"{application}, load {os.getloadavg()[0]:.1f}: {report(clients, seconds)}", flush=True)
            pairs = zip(rates[WINNOW], rates[BARE], strict=True)
            print(f"Winnow's share of the bare view's rate: {' '.join(f'{one / other:.2f}' for one, other in pairs)}")
        found = verdict(everyone)
    print(", ".join(f"{number} {what}" for what, number in found.items()))
    return not any(found.values())


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--annotators", type=int, nargs="+", default=[16])
    options.add_argument("--file", default="", help="a library protocol file whose answer is one pick")
    options.add_argument("--bare", action="store_true", help="compare with a plain Django view")
    options.add_argument("--client", type=int, help=argparse.SUPPRESS)
    options.add_argument("--tokens", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.client:
        client_process(given.client, given.seconds, given.tokens.split(","))
        return 0
    if given.bare:
        return 0 if compare(given.seconds, given.annotators) else 1
    return 0 if all(measure(given.seconds, count, given.file) for count in given.annotators) else 1


if __name__ == "__main__":
    sys.exit(main())
