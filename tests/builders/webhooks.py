"""Webhooks without the checks of the form, and a receiver that answers as it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from annotation.models import Delivery, Webhook
from tests.builders.studies import serial

NOBODY = "http://127.0.0.1:9/"  # the port of `discard`, where nobody listens


def webhook(study=None, url: str = "", types=(), **fields) -> Webhook:
    url = url or f"{NOBODY}{next(serial)}"
    return Webhook.objects.create(study=study, url=url, types=list(types), **fields)


def events(webhook: Webhook) -> list[tuple[str, dict]]:
    """What is in the outbox for it, in order, without the study."""
    rows = webhook.deliveries.order_by("pk").values_list("type", "data")
    return [(kind, {name: value for name, value in data.items() if name != "study"}) for kind, data in rows]


def waiting(webhook: Webhook, count: int) -> list[Delivery]:
    """Events for it that are numbered in their data from 0."""
    rows = [Delivery(webhook=webhook, type="judgment.made", data={"judgment": number}) for number in range(count)]
    return Delivery.objects.bulk_create(rows)


class Receiver:
    """`got` has (headers, body) of every request that was answered with 2xx, `asked` the number of all."""

    def __init__(self, answer):
        self.answer, self.got, self.asked, self.url = answer, [], 0, ""

    @property
    def judgments(self) -> list[int]:
        """The numbers of `waiting` events, as they came."""
        return [json.loads(body)["data"]["judgment"] for _, body in self.got]


@contextmanager
def receiver(answer=lambda number: 200, location: str = "") -> Iterator[Receiver]:
    """`answer(number)`: the status for the request of this number, from 0."""
    here = Receiver(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = here.answer(here.asked)
            here.asked += 1
            if 200 <= status < 300:
                here.got.append((dict(self.headers), body))
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    here.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
