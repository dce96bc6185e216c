"""Requests to the API: repeated while the server cannot be reached, with the same idempotency key each time."""

import hashlib
import random
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import httpx
from tqdm import tqdm

from winnow_client.errors import ApiError, JobFailed, Unreachable, WinnowError, problems_of

AGAIN = {429, 502, 503, 504}  # answers of servers and proxies that are busy or starting
ELSEWHERE = {"WRONG_OFFSET", "INCOMPLETE"}  # other bytes of an upload have arrived than the client thinks
LONGEST_PAUSE = 15.0
PAGE = 1000
FINISHED = {"done", "failed", "cancelled"}


class NoAnswer(Exception):
    """An attempt has failed for a reason that may pass. `wait`: seconds that the server asks for."""

    def __init__(self, why: object, wait: float = 0):
        super().__init__(why)
        self.wait = wait


class Attempts:
    """Pauses after failed attempts, until `patience` seconds have passed without any success."""

    def __init__(self, url: str, patience: float):
        self.url, self.patience = url, patience
        self.succeeded()

    def succeeded(self) -> None:
        self.failures, self.until = 0, 0.0

    def pause(self, after: NoAnswer) -> None:
        """Raises Unreachable if there is no time for another attempt."""
        now = time.monotonic()
        self.until = self.until or now + self.patience
        wait = max(after.wait, min(LONGEST_PAUSE, 0.25 * 2**self.failures) * random.uniform(0.5, 1))
        if now + wait > self.until:
            raise Unreachable(f"{self.url} does not answer ({after}). Is Winnow running, and is the address right?")
        self.failures += 1
        time.sleep(wait)


class Transport:
    """The API at `url` (without /api/v1/) for the owner of the token."""

    def __init__(self, url: str, token: str, patience: float, progress: bool):
        self.url, self.patience, self.progress = url.rstrip("/"), patience, progress
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1/",
            headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"},
            timeout=httpx.Timeout(60, connect=10),
        )

    def get(self, path: str, **filters: Any) -> dict[str, Any]:
        return self._send("GET", path, params=_params(filters))

    def rows(self, path: str, **filters: Any) -> Iterator[dict[str, Any]]:
        """Of every page of a list."""
        params = httpx.QueryParams(_params({"limit": PAGE, **filters}))
        while True:
            page = self._send("GET", path, params=params)
            yield from page["results"]
            if not page["next"]:
                return
            params = httpx.URL(page["next"]).params  # and not its host, which the token is not for

    def post(self, path: str, body: Mapping[str, Any] | None = None, key: str | None = None) -> dict[str, Any]:
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return self._send("POST", path, json=dict(body or {}), headers=headers)

    def upload(self, path: Path) -> str:
        """Send the file in chunks; returns the id of the upload. What has arrived of the same file is not sent again,
        even by another process."""
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

    def _send_chunk(self, address: str, file: BinaryIO, upload: Mapping[str, Any]) -> dict[str, Any]:
        file.seek(upload["received"])
        headers = {"Upload-Offset": str(upload["received"]), "Content-Type": "application/octet-stream"}
        try:
            return self._attempt("PATCH", address, content=file.read(upload["chunk"]), headers=headers)
        except ApiError as error:
            if error.code in ELSEWHERE:
                raise NoAnswer(error.detail) from None
            raise

    def download(self, path: str, target: Path, size: int) -> None:
        """Fetch a file of this size; after a broken connection, the rest of it."""
        attempts, version = Attempts(self.url, self.patience), ""
        with target.open("wb") as file, self.bar(f"Fetching {target.stem}", size) as bar:
            while (start := file.tell()) < size:
                headers = {"Range": f"bytes={start}-", "If-Range": version} if start else {}
                try:
                    with self._http.stream("GET", path, headers=headers, follow_redirects=True) as answer:
                        if not answer.is_success:
                            answer.read()
                            raise self._refusal(answer)
                        if answer.status_code == 200:
                            file.seek(0)
                            file.truncate()
                        version = answer.headers.get("ETag", "")
                        for piece in answer.iter_bytes():
                            file.write(piece)
                            attempts.succeeded()
                            bar.update(file.tell() - bar.n)
                except (httpx.TransportError, NoAnswer) as failure:
                    attempts.pause(_no_answer(failure))

    def follow(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Wait for a job; returns its report. Raises JobFailed."""
        pause = 0.1
        with self.bar(str(job["title"]), None, bytes=False) as bar:
            while job["state"] not in FINISHED:
                time.sleep(pause)
                pause = min(3.0, 1.5 * pause)
                job = self.get(f"jobs/{job['id']}/")
                bar.total, bar.n = job["total"], job["done"]
                bar.set_postfix_str(job["phase"])
        if job["state"] != "done":
            said = f"“{job['title']}” was cancelled." if job["state"] == "cancelled" else f"“{job['title']}” failed."
            problems = problems_of(job["problems"])
            raise JobFailed(said, problems[0].code if problems else "", problems, job["problem_count"])
        report: dict[str, Any] = job["report"]
        return report

    def bar(self, label: str, total: int | None, bytes: bool = True) -> Any:
        units = {"unit": "B", "unit_scale": True} if bytes else {}
        return tqdm(desc=label, total=total, disable=not self.progress, leave=False, **units)

    def _send(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        attempts = Attempts(self.url, self.patience)
        while True:
            try:
                return self._attempt(method, path, **request)
            except NoAnswer as failure:
                attempts.pause(failure)

    def _attempt(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        """Raises NoAnswer if another attempt may succeed."""
        try:
            answer = self._http.request(method, path, **request)
        except httpx.TransportError as error:
            raise _no_answer(error) from None
        if not answer.is_success:
            raise self._refusal(answer)
        try:
            content: dict[str, Any] = answer.json()
        except (ValueError, RecursionError):
            raise self._no_api(answer) from None
        return content

    def _refusal(self, answer: httpx.Response) -> Exception:
        if answer.status_code in AGAIN:
            wait = answer.headers.get("Retry-After", "")
            return NoAnswer(f"HTTP {answer.status_code}", float(wait) if wait.isdigit() else 0)
        try:
            said = answer.json()
            return ApiError(answer.status_code, said["code"], said["detail"], problems_of(said["errors"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            return self._no_api(answer)

    def _no_api(self, answer: httpx.Response) -> WinnowError:
        if answer.is_redirect:
            return WinnowError(f"{self.url} redirects to {answer.headers.get('Location')}. Connect to that address.")
        return WinnowError(f"{answer.url} answers with HTTP {answer.status_code}, but not as Winnow's API does.")


def _number_of(path: Path) -> int:
    """Of the content, 52 bits of its hash: files that differ are never taken for one another, unlike by their times."""
    with path.open("rb") as file:
        return int(hashlib.file_digest(file, "sha256").hexdigest()[:13], 16)


def _params(filters: Mapping[str, Any]) -> dict[str, str]:
    """As the API reads them: without those that are None."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in filters.items()
        if value is not None
    }


def _no_answer(error: Exception) -> NoAnswer:
    return error if isinstance(error, NoAnswer) else NoAnswer(str(error) or type(error).__name__)
