"""Any chat endpoint with OpenAI's protocol (`POST …/chat/completions`).

The key goes only into the request's header, not into errors, logs or stored data. Redirects are not followed, because
they could send the key elsewhere.
"""

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

import httpx

from workers import outside_json
from workers.deadlines import Network
from workers.models.chat import Answer, ChatName, Keep, Question, Step, Unanswered, endpoint_identity, estimated_tokens
from workers.models.refusals import CannotScore

TRIES = 6  # per question
FIRST_WAIT = 1.0  # seconds after the first failure, doubled after each further failure
LONGEST_WAIT = 60.0
LONGEST_RETRY_AFTER = 900.0  # an endpoint that requests a longer pause ends the job
LARGEST = 4 * 2**20  # bytes of an answer
GIVE_UP = 5  # unanswered questions in a row: each with a fault, or before there has been any answer
IDLE = 1.0  # seconds between checks for cancellation while waiting for answers
AGAIN = {408, 409, 425, 429}  # these and all from 500 are worth another try
KEPT = "Answers received so far are kept: start again to ask only for the rest."


class _Again(Exception):
    """The attempt is worth repeating. `after`: the seconds that the endpoint asks us to wait. `answered`: it did
    respond, but not with an answer."""

    def __init__(self, why: str, after: float | None = None, answered: bool = False):
        self.why, self.after, self.answered = why, after, answered
        super().__init__(why)


class _Down(Unanswered):
    """As far as we know, the endpoint is at fault rather than the question."""


class Endpoint:
    """An endpoint's model (workers.models.chat.ChatModel)."""

    def __init__(self, name: ChatName, key: str = "", transport: httpx.BaseTransport | None = None):
        self.name, self._key = name, key
        self.address = name.address.rstrip("/")
        self.identity = endpoint_identity(name)
        self.facts: dict[str, Any] = {"model": name.model, "endpoint": self.address}
        self._left_out: set[str] = set()  # settings that this endpoint does not accept
        self._limit = "max_tokens"
        self._stopped = threading.Event()
        self._resume_at = 0.0  # on the monotonic clock: no requests before this time
        headers = {"authorization": f"Bearer {key}"} if key else {}
        timeout = httpx.Timeout(name.timeout, connect=min(10.0, name.timeout))
        self._client = httpx.Client(headers=headers, timeout=timeout, transport=transport, follow_redirects=False)
        self._network = Network()
        for way in (self._client._transport, *self._client._mounts.values()):  # httpx does not have an option for it
            if isinstance(way, httpx.HTTPTransport):
                way._pool._network_backend = self._network

    # Concurrent questions

    def ask(self, questions: Iterable[Question], keep: Keep, step: Step) -> None:
        """See ChatModel.ask. At most `parallel` answers are not yet kept at any time."""
        rest, underway = iter(questions), dict[Future, Question]()
        refused = down = 0
        answered = False
        with ThreadPoolExecutor(self.name.parallel, thread_name_prefix="endpoint") as pool:
            try:
                while self._submit(pool, rest, underway):
                    done = wait(underway, IDLE, return_when=FIRST_COMPLETED).done
                    for future in done:
                        found = future.result()
                        keep(underway.pop(future), found)
                        answered = answered or isinstance(found, Answer)
                        down = down + 1 if isinstance(found, _Down) else 0
                        refused = refused + 1 if not answered else 0
                        self._give_up(found, down, refused)
                        step(1)
                    if not done:
                        step(0)
            finally:
                self._stopped.set()  # no further tries; requests in flight may still be answered
                _keep_rest(underway, keep)
                self._stopped.clear()

    def _give_up(self, found: Answer | Unanswered, down: int, refused: int) -> None:
        """Raise CannotScore if the last questions suggest that the others would also go unanswered."""
        if isinstance(found, _Down) and down >= GIVE_UP:
            advice = f"{self.address} did not answer {down} questions in a row ({found.reason}). {KEPT}"
            raise CannotScore("ENDPOINT_UNAVAILABLE", advice)
        if isinstance(found, Unanswered) and refused >= GIVE_UP:
            advice = f"{self.address} answered none of the first {refused} questions: {found.reason}."
            raise CannotScore("ENDPOINT_REFUSES", advice)

    def _submit(self, pool: ThreadPoolExecutor, rest: Iterator[Question], underway: dict[Future, Question]) -> bool:
        while len(underway) < self.name.parallel and (question := next(rest, None)):
            underway[pool.submit(self.answer, question)] = question
        return bool(underway)

    # One question

    def answer(self, question: Question) -> Answer | Unanswered:
        """Answer a question. Raises CannotScore if the endpoint stays busy, or refuses key, model or address."""
        again = _Again("stopped")
        for attempt in range(TRIES):
            if self._pauses():
                break
            try:
                return self._answer(question)
            except _Again as reason:
                again = reason
            except httpx.RequestError as error:
                again = _Again(_transport(error))
            self._wait_after(again, attempt)
        if again.answered:
            return Unanswered(again.why)
        return _Down(f"no answer after {TRIES} attempts: {again.why}")

    def _pauses(self) -> bool:
        """Wait while the endpoint has requested a pause, which applies to every question. True: do not ask at all."""
        while (left := self._resume_at - time.monotonic()) > 0 and not self._stopped.wait(left):
            pass
        return self._stopped.is_set()

    def _wait_after(self, again: _Again, attempt: int) -> None:
        if again.after is not None:
            if again.after > LONGEST_RETRY_AFTER:
                advice = f"{self.address} asks for a pause of {again.after:,.0f} s ({again.why}). {KEPT}"
                raise CannotScore("ENDPOINT_BUSY", advice)
            self._resume_at = max(self._resume_at, time.monotonic() + again.after)
        else:
            self._stopped.wait(min(FIRST_WAIT * 2**attempt, LONGEST_WAIT))

    def _answer(self, question: Question) -> Answer | Unanswered:
        payload = self._payload(question)
        status, headers, body = self._post(payload)
        if status in AGAIN or status >= 500:
            raise _Again(f"status {status}", _retry_after(headers.get("retry-after", "")))
        if status == 200:
            return self._read(question, body)
        message, parameter = _error(body)
        if status == 400 and self._adapt(parameter, payload):
            return self._answer(question)
        said = f"status {status}" + f", “{self._clean(message)}”" * bool(message)
        if status in (400, 413, 422):
            return Unanswered(f"the endpoint refuses the question ({said})")
        advice = {
            401: "refuses the key. Set the key of this endpoint as WINNOW_LLM_KEY where the worker runs",
            403: "refuses the key. Set the key of this endpoint as WINNOW_LLM_KEY where the worker runs",
            404: f"does not know this address or model. Check both: the model is “{self.name.model}”",
        }.get(status, "refuses to answer")
        raise CannotScore("ENDPOINT_REFUSES", f"{self.address} {advice} ({said}). {KEPT}")

    def _post(self, payload: dict[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        """Return status, headers and body. The timeout is for the whole answer, not just each piece of it."""
        self._network.allow(self.name.timeout)
        body = bytearray()
        with self._client.stream("POST", f"{self.address}/chat/completions", json=payload) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > LARGEST:
                    raise _Again("its answer is too long", answered=True)
            return response.status_code, response.headers, bytes(body)

    def _payload(self, question: Question) -> dict[str, Any]:
        wanted = question.settings
        more = {"temperature": wanted.temperature, "seed": wanted.seed, self._limit: wanted.max_tokens}
        more = {name: value for name, value in more.items() if name not in self._left_out}
        return {"model": self.name.model, "messages": list(question.messages), **more}

    def _adapt(self, parameter: str, sent: dict[str, Any]) -> bool:
        """Return whether the endpoint refuses a setting that was sent and that we can omit or replace. Another question
        may have found that out while this one was in flight."""
        if parameter not in sent:
            return False
        if parameter == "max_tokens":
            self._limit = "max_completion_tokens"  # newer OpenAI models accept only this name
            return True
        if parameter in ("temperature", "seed"):
            self._left_out.add(parameter)
            return True
        return False

    def _read(self, question: Question, body: bytes) -> Answer:
        try:
            said = _reply(body)
            choice = said["choices"][0]
            usage: dict[str, Any] = said.get("usage") or {}
            message = choice["message"]
            text = message.get("content") or ""
            if isinstance(text, list):  # parts
                text = "".join(part.get("text", "") for part in text)
            refused = bool(message.get("refusal")) and not text
            finish = "refusal" if refused else str(choice.get("finish_reason") or "stop")[:20]
            prompt, completion = usage.get("prompt_tokens", -1), usage.get("completion_tokens", -1)
            facts = {name: str(said[name])[:200] for name in ("model", "system_fingerprint") if said.get(name)}
            text = str(text)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise _Again("its answers are not in the form of chat completions", answered=True) from error
        if not all(isinstance(count, int) and 0 <= count < 2**31 for count in (prompt, completion)):
            prompt = sum(estimated_tokens(one["content"]) for one in question.messages)
            completion = estimated_tokens(text)
            facts["tokens"] = "estimated"
        if self._left_out:
            facts["not_taken"] = ", ".join(sorted(self._left_out))
        return Answer(text, finish, prompt, completion, facts)

    def _clean(self, text: str) -> str:
        text = " ".join(text.split())
        return (text.replace(self._key, "…") if self._key else text)[:200]


def _keep_rest(underway: dict[Future, Question], keep: Keep) -> None:
    """Wait for questions in flight, which may have been paid for, and keep them. Empty unless `ask` is stopping."""
    for future in underway:
        future.cancel()
    for future, question in underway.items():
        if not future.cancelled() and future.exception() is None and isinstance(future.result(), Answer):
            keep(question, future.result())


def _retry_after(value: str) -> float | None:
    """Return the seconds, given as a number or a date; None if the header has neither."""
    with suppress(ValueError):
        seconds = float(value)
        return max(0.0, seconds) if isfinite(seconds) else None
    with suppress(ValueError, OverflowError):
        when = parsedate_to_datetime(value)
        return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())
    return None


def _reply(body: bytes) -> Any:
    """Parse JSON whose texts can be stored: no NUL, no half of a surrogate pair. Raises ValueError."""
    return _storable(outside_json.read(body))


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "").encode(errors="replace").decode()
    if isinstance(value, list):
        return [_storable(inner) for inner in value]
    if isinstance(value, dict):
        return {_storable(name): _storable(inner) for name, inner in value.items()}
    return value


def _error(body: bytes) -> tuple[str, str]:
    """Return an error's message, and the parameter that it names."""
    try:
        error = _reply(body)["error"]
        return str(error.get("message") or ""), str(error.get("param") or "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return "", ""


def _transport(error: httpx.RequestError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "it takes too long"
    if isinstance(error, httpx.ConnectError):
        return "no connection"
    if isinstance(error, httpx.DecodingError):
        return "its answer cannot be decompressed"
    return "the connection broke off"
