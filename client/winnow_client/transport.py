"""Requests to the API: repeated while the server cannot be reached, with the same idempotency key each time."""

import hashlib
import random
import socket
import ssl
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, BinaryIO

import httpx
from tqdm.auto import tqdm  # type: ignore[import-untyped]

from winnow_client.errors import ApiError, Unreachable, WinnowError, problems_of

API = "api/v1/"  # below the server's address
AGAIN = {429, 502, 503, 504}  # answers of servers and proxies that are busy or starting
BUSY = {429, 503}  # those that the server itself sends
ELSEWHERE = {"WRONG_OFFSET", "INCOMPLETE"}  # the client and the server disagree on an upload's received bytes
LONGEST_PAUSE = 15.0
PAGE = 1000
STOPPED: ContextVar[threading.Event | None] = ContextVar("STOPPED", default=None)  # set when nobody awaits it

JsonObject = dict[str, Any]


class NoAnswer(Exception):
    """An attempt has failed for a temporary reason. `wait`: seconds requested by the server. `status`: of the answer,
    or 0 if there was none. `no_host`: the host name does not resolve."""

    def __init__(self, why: object, wait: float = 0, status: int = 0, no_host: bool = False):
        super().__init__(why)
        self.wait, self.status, self.no_host = wait, status, no_host


class Attempts:
    """Pauses after failed attempts, until `patience` seconds have passed without any success. `at_once`: the first
    attempt is also the last if there is no such host."""

    def __init__(self, url: str, patience: float, at_once: bool = False):
        self.url, self.patience, self.at_once = url, patience, at_once
        self.succeeded()

    def succeeded(self) -> None:
        self.failures, self.until = 0, 0.0

    def pause(self, after: NoAnswer) -> None:
        """Wait before the next attempt. Raises Unreachable if there is no time for another."""
        now = time.monotonic()
        self.until = self.until or now + self.patience
        wait = max(after.wait, min(LONGEST_PAUSE, 0.25 * 2**self.failures) * random.uniform(0.5, 1))
        if after.status in BUSY and now + wait > self.until:
            later = f" It asks for a pause of {after.wait:.0f} s." if after.wait else ""
            raise Unreachable(f"{self.url} cannot answer now: {after}.{later}")
        if (self.at_once and after.no_host) or now + wait > self.until:
            raise Unreachable(f"{self.url} does not respond ({after}). Is Winnow running, and is the address right?")
        self.failures += 1
        sleep(wait)


@dataclass
class Transport:
    """The API at `url` (without /api/v1/) for the owner of the token. `http`: a client of the caller's own."""

    url: str
    token: str = field(repr=False)
    patience: float = 120
    progress: bool = True
    verify: ssl.SSLContext | str | bool = True
    proxy: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    http: httpx.Client | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.url = self.url.rstrip("/").removesuffix(f"/{API.rstrip('/')}")  # the address may be copied from the API's
        self._base = httpx.URL(f"{self.url}/{API}")
        self._headers = {**self.headers, "Authorization": f"Bearer {self.token}", "Accept-Encoding": "identity"}
        timeout = httpx.Timeout(60, connect=10)
        verify = ssl.create_default_context(cafile=self.verify) if isinstance(self.verify, str) else self.verify
        self._http = self.http or httpx.Client(verify=verify, proxy=self.proxy, timeout=timeout)

    def __getstate__(self) -> JsonObject:
        """Return the state without connections: the copy opens its own."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")} | {"http": None}

    def __setstate__(self, state: JsonObject) -> None:
        vars(self).update(state)
        self.__post_init__()

    def close(self) -> None:
        if self.http is None:
            self._http.close()

    def get(self, path: str, **filters: Any) -> JsonObject:
        return self._send("GET", path, params=_params(path, filters))

    def rows(self, path: str, **filters: Any) -> Iterator[JsonObject]:
        """Yield the rows of every page of a list."""
        params = _params(path, {"limit": PAGE, **filters})
        while True:
            page = self._send("GET", path, params=params)
            yield from page["results"]
            if not page["next"]:
                return
            params = httpx.URL(page["next"]).params  # but not its host, for which the token is not meant

    def post(self, path: str, body: Mapping[str, Any] | None = None, key: str | None = None) -> JsonObject:
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return self._send("POST", path, json=dict(body or {}), headers=headers)

    def check(self) -> str:
        """Return the server's version. Raises Unreachable if nothing answers at the address, and ApiError for a wrong
        token."""
        return str(self._send("GET", "", at_once=True).get("version", ""))

    def upload(self, path: Path) -> str:
        """Send the file in chunks; return the id of the upload. Chunks of the same file that have arrived are not sent
        again, even by another process."""
        name, size = path.name, path.stat().st_size
        found = self.post("uploads/", {"name": name, "size": size, "modified": _number_of(path)})
        address = f"uploads/{found['id']}/"
        attempts = Attempts(self.url, self.patience)
        with path.open("rb") as file, self.bar(f"Uploading {name}", size) as bar:
            bar.update(found["received"])
            while (received := found["received"]) < size:
                try:
                    found = self._send_chunk(address, file, found)
                except NoAnswer as failure:
                    attempts.pause(failure)
                    found = self.get(address)
                if found["received"] > received:
                    attempts.succeeded()
                bar.update(found["received"] - received)
        return str(found["id"])

    def _send_chunk(self, address: str, file: BinaryIO, upload: JsonObject) -> JsonObject:
        file.seek(upload["received"])
        headers = {"Upload-Offset": str(upload["received"]), "Content-Type": "application/octet-stream"}
        try:
            return self._attempt("PATCH", address, content=file.read(upload["chunk"]), headers=headers)
        except ApiError as error:
            if error.code in ELSEWHERE:
                raise NoAnswer(error.detail, status=error.status) from None
            raise

    def download(self, path: str, target: Path, size: int) -> None:
        """Fetch a file of this size; after a broken connection, fetch the rest of it."""
        attempts, version = Attempts(self.url, self.patience), ""
        with target.open("wb") as file, self.bar(f"Fetching {target.stem}", size) as bar:
            while (start := file.tell()) < size:
                headers = self._headers | ({"Range": f"bytes={start}-", "If-Range": version} if start else {})
                try:
                    address = self._base.join(path)
                    with self._http.stream("GET", address, headers=headers, follow_redirects=True) as answer:
                        if not answer.is_success:
                            answer.read()
                            raise self._refusal(answer)
                        if answer.status_code == 200:
                            file.seek(0)
                            file.truncate()
                        version = answer.headers.get("ETag", "")
                        for piece in answer.iter_bytes():
                            go_on()
                            file.write(piece)
                            attempts.succeeded()
                            bar.update(file.tell() - bar.n)
                except (httpx.TransportError, NoAnswer) as failure:
                    attempts.pause(_no_answer(failure))

    def bar(self, label: str, total: int | None, bytes: bool = True) -> Any:
        units = {"unit": "B", "unit_scale": True} if bytes else {}
        return tqdm(desc=label, total=total, disable=not self.progress, leave=False, **units)

    def _send(self, method: str, path: str, at_once: bool = False, **request: Any) -> JsonObject:
        attempts = Attempts(self.url, self.patience, at_once)
        while True:
            try:
                return self._attempt(method, path, **request)
            except NoAnswer as failure:
                attempts.pause(failure)

    def _attempt(self, method: str, path: str, headers: Mapping[str, str] = {}, **request: Any) -> JsonObject:
        """Make one attempt. Raises NoAnswer if another attempt may succeed."""
        go_on()
        try:
            answer = self._http.request(method, self._base.join(path), headers={**self._headers, **headers}, **request)
        except httpx.TransportError as error:
            raise _no_answer(error) from None
        if not answer.is_success:
            raise self._refusal(answer)
        try:
            content: JsonObject = answer.json()
        except (ValueError, RecursionError):
            raise self._no_api(answer) from None
        return content

    def _refusal(self, answer: httpx.Response) -> Exception:
        status = answer.status_code
        try:
            said = answer.json()
            refusal: WinnowError = ApiError(status, said["code"], said["detail"], problems_of(said["errors"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            refusal = self._no_api(answer)
        if status not in AGAIN:
            return refusal
        why = f"HTTP {status}" + (f", {refusal.code}: {refusal.detail}" if isinstance(refusal, ApiError) else "")
        return NoAnswer(why.removesuffix("."), _seconds(answer.headers.get("Retry-After", "")), status)

    def _no_api(self, answer: httpx.Response) -> WinnowError:
        if answer.is_redirect:
            return WinnowError(f"{self.url} redirects to {answer.headers.get('Location')}. Connect to that address.")
        return WinnowError(f"{answer.url} answers with HTTP {answer.status_code}, but not as Winnow's API does.")


def sleep(seconds: float) -> None:
    """Sleep; ends early, with Unreachable, if the asynchronous call that waits for this is cancelled."""
    stopped = STOPPED.get()
    if stopped is None:
        time.sleep(seconds)
    else:
        stopped.wait(seconds)
        go_on()


def go_on() -> None:
    if (stopped := STOPPED.get()) is not None and stopped.is_set():
        raise Unreachable("This call was cancelled.")


def _seconds(retry_after: str) -> float:
    """Parse a number of seconds, or a date."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0


def _number_of(path: Path) -> int:
    """Return 52 bits of the content's hash: unlike by times, different files are never confused."""
    with path.open("rb") as file:
        return int(hashlib.file_digest(file, "sha256").hexdigest()[:13], 16)


def _params(path: str, filters: Mapping[str, Any]) -> httpx.QueryParams:
    """Return the path's own query, which httpx would drop, with filters as the API reads them, except None."""
    there = {name: _param(value) for name, value in filters.items() if value is not None}
    return httpx.URL(path).params.merge(there)


def _param(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _no_answer(error: Exception) -> NoAnswer:
    if isinstance(error, NoAnswer):
        return error
    causes = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)  # type: ignore[arg-type]
    no_host = any(isinstance(cause, socket.gaierror) for cause in causes)
    return NoAnswer(str(error) or type(error).__name__, no_host=no_host)
