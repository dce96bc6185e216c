"""A chat endpoint on this machine that misbehaves as told, and counts what it is asked."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ChatServer(ThreadingHTTPServer):
    """`faults`: by question, what happens to the first requests for it, in turn: a status, or the name of a method of
    the handler. `asked` and `answered` count requests and complete answers by question; `bodies` has all requests."""

    daemon_threads = True

    def __init__(self, reply: Callable[[str], str], faults: dict[str, list] | None, always: object, split: str):
        self.split = split
        self.reply, self.faults, self.always = reply, {**(faults or {})}, always
        self.asked, self.answered = Counter[str](), Counter[str]()
        self.bodies: list[dict] = []
        self.keys: set[str] = set()
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address) -> None:
        """A client that has left is nothing to print."""


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        question = re.split(self.server.split, body["messages"][-1]["content"])[-1]
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.keys.add(self.headers.get("authorization", ""))
            self.server.asked[question] += 1
            faults = self.server.faults.get(question)
            fault = faults.pop(0) if faults else self.server.always
        if isinstance(fault, int):
            self.send(json.dumps({"error": {"message": f"no, with the key {self.headers['authorization']}"}}), fault)
        elif fault:
            getattr(self, fault)(question)
        else:
            self.send(self.completion(question))
            self.server.answered[question] += 1

    def completion(self, question: str, finish: str = "stop") -> str:
        choice = {"message": {"role": "assistant", "content": self.server.reply(question)}, "finish_reason": finish}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        return json.dumps({"model": "tiny-1", "choices": [choice], "usage": usage})

    def send(self, text: str, status: int = 200, **headers: str) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in {"content-length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    # Faults

    def busy(self, question: str) -> None:
        self.send("{}", 429, retry_after="0.05")

    def busy_for_minutes(self, question: str) -> None:
        self.send("{}", 429, retry_after="600")

    def busy_for_hours(self, question: str) -> None:
        self.send("{}", 429, retry_after="7200")

    def slow(self, question: str) -> None:
        time.sleep(0.5)

    def dripping(self, question: str) -> None:
        """A header without end."""
        self.send_response(200)
        self.flush_headers()
        self.wfile.write(b"X: ")
        for _ in range(100):
            self.wfile.write(b"x")
            time.sleep(0.02)

    def nonsense(self, question: str) -> None:
        self.send("<html>Welcome</html>")

    def deep(self, question: str) -> None:
        self.send("[" * 100_000)

    def deep_inside(self, question: str) -> None:
        self.send('{"choices": [{"message": {"content": ' + "[" * 900 + "]" * 900 + "}}]}")

    def deep_error(self, question: str) -> None:
        self.send('{"error": ' + "[" * 100_000, 400)

    def no_choices(self, question: str) -> None:
        self.send('{"choices": []}')

    def half(self, question: str) -> None:
        """The connection breaks in the middle of the answer."""
        data = self.completion(question).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.close_connection = True

    def cut_off(self, question: str) -> None:
        self.send(self.completion(question, "length"))

    def elsewhere(self, question: str) -> None:
        self.send("", 302, location="http://127.0.0.1:9/v1/chat/completions")

    def no_temperature(self, question: str) -> None:
        self.send(json.dumps({"error": {"message": "Unsupported value", "param": "temperature"}}), 400)

    def other_limit(self, question: str) -> None:
        self.send(json.dumps({"error": {"message": "Unsupported parameter", "param": "max_tokens"}}), 400)

    def log_message(self, *args) -> None:
        pass


@contextmanager
def chat_server(
    reply: Callable[[str], str], faults: dict[str, list] | None = None, always=None, split: str = "Caption: "
) -> Iterator[ChatServer]:
    """`split`: the pattern after which a prompt has the question."""
    server = ChatServer(reply, faults, always, split)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
