"""An object storage for tests: moto's S3 server in a thread of the test's process, with faults on demand."""

import contextlib
import functools
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from unittest import mock

KEY, SECRET = "winnow", "winnow-secret"
ERROR = "<Error><Code>{}</Code><Message>as the test wants it</Message></Error>"
names = (f"winnow-{os.getpid()}-{number}" for number in itertools.count())


class Server:
    """`url`: its address. `fault`: called with method and path of each request; what it returns, unless None, is the
    answer as (status, body)."""

    def __init__(self):
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        self.app, self.fault = DomainDispatcherApplication(create_backend_app), None
        self.asked: list[tuple[str, str]] = []
        server = make_server("127.0.0.1", 0, self.answer, threaded=True, request_handler=_handler())
        self.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def answer(self, environ: dict, start_response: Callable) -> Iterable[bytes]:
        what = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.asked.append(what)
        found = self.fault(*what) if self.fault else None
        if found is None:
            return self.app(environ, start_response)
        with contextlib.suppress(ValueError):
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        status, body = found
        start_response(f"{status} ", [("Content-Length", str(len(body))), ("Content-Type", "application/xml")])
        return [body.encode()]

    @contextlib.contextmanager
    def failing(self, fault: Callable[[str, str], tuple[int, str] | None]) -> Iterator[None]:
        """Inside, boto3 tries again at once: it would pause for a second and a half on the mean."""
        from botocore.retries.standard import ExponentialBackoff

        self.fault = fault
        try:
            with mock.patch.object(ExponentialBackoff, "delay_amount", return_value=0):
                yield
        finally:
            self.fault = None


def _handler():
    from werkzeug.serving import WSGIRequestHandler

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_request(self, *more) -> None:
            pass

    return Quiet


@functools.cache
def server() -> Server:
    """One for the process."""
    from benchmarks.storage.bucket import Bucket

    Bucket._create_session = lambda bucket: session(bucket.access_key, bucket.secret_key)
    return Server()


@functools.cache
def session(key: str, secret: str):
    """One for all tests: a new one reads the descriptions of all of S3 anew, a fifth of a second."""
    import boto3

    return boto3.Session(aws_access_key_id=key, aws_secret_access_key=secret)


@functools.cache
def client(url: str):
    return session(KEY, SECRET).client("s3", endpoint_url=url, region_name="us-east-1")


def new_bucket(url: str) -> str:
    name = next(names)
    client(url).create_bucket(Bucket=name)
    return name


def storages(url: str, bucket: str, **options) -> dict:
    """The setting STORAGES with files in that bucket."""
    given = {"endpoint_url": url, "bucket_name": bucket, "region_name": "us-east-1", "access_key": KEY}
    options = given | {"secret_key": SECRET} | options
    return {
        "default": {"BACKEND": "benchmarks.storage.bucket.Bucket", "OPTIONS": options},
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


def environment(storages: dict) -> dict[str, str]:
    """What another process needs for the same setting; nothing for a folder."""
    given = storages["default"].get("OPTIONS", {})
    named = {"URL": "endpoint_url", "BUCKET": "bucket_name", "ACCESS_KEY": "access_key", "SECRET_KEY": "secret_key"}
    return {f"WINNOW_S3_{name}": given[option] for name, option in named.items() if option in given}


def error(code: str) -> str:
    return ERROR.format(code)


def broken_after(count: int, method: str) -> Callable[[str, str], tuple[int, str] | None]:
    """A fault: from the count-th request of that method on, status 500."""
    left = itertools.count(1)
    return lambda asked, path: (500, error("InternalError")) if asked == method and next(left) >= count else None


def slow(seconds: float) -> Callable[[str, str], None]:
    return lambda method, path: time.sleep(seconds)
