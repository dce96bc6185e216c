"""Endpoints for operators and monitoring, whatever the host name: a web server's health, its metrics for Prometheus,
and for each request an id and a line in the log.

The three URLs are answered before the host is checked or HTTPS required, and never in HTML.
"""

import atexit
import logging
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from config import draining
from config.cache import redis_answers
from config.logs import request_id
from workers.neighbours import Neighbour, Unresponsive

Respond = Callable[[HttpRequest], HttpResponse]
TEXT = "text/plain; charset=utf-8"
GIVEN_ID = re.compile(r"[\w-]{8,64}", re.ASCII)
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)  # seconds
# Rows that show whether work gets done, counted when Prometheus asks: name, help, label, statement
COUNTED = (
    ("winnow_jobs", "Jobs by state", "state", "SELECT state, count(*) FROM benchmarks_job GROUP BY state"),
    (
        "winnow_oldest_waiting_job_seconds", "Age of the job that has waited longest", "",
        "SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0) FROM benchmarks_job WHERE state = 'queued'",
    ),
    (
        "winnow_judgments_last_hour", "Judgments stored within the last hour", "",
        "SELECT count(*) FROM annotation_judgment WHERE created_at > now() - interval '1 hour'",
    ),
)  # fmt: skip
DATABASE = Neighbour("PostgreSQL", seconds=2, at_once=2)  # only for /healthz; everything else waits for the database
access = logging.getLogger("winnow.access")


def identified(get_response: Respond) -> Respond:
    """Give each request an id, the proxy's if there is one, in the answer and in every line of the log."""

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "") if settings.TRUSTED_PROXIES else ""
        one = given if GIVEN_ID.fullmatch(given) else uuid.uuid4().hex
        kept = request_id.set(one)
        try:
            response = get_response(request)
        finally:
            request_id.reset(kept)
        response.headers["X-Request-Id"] = one
        return response

    return middleware


def measured(get_response: Respond) -> Respond:
    """Count and time requests, and write the access log. Does nothing unless one of the two is enabled."""
    if not (settings.METRICS_TOKEN or settings.ACCESS_LOG):
        raise MiddlewareNotUsed
    seconds = _histogram() if settings.METRICS_TOKEN else None

    def middleware(request: HttpRequest) -> HttpResponse:
        begun = time.perf_counter()
        response = get_response(request)
        took = time.perf_counter() - begun
        if seconds:
            view = request.resolver_match.view_name if request.resolver_match else ""
            seconds.labels(request.method, view or "none", f"{response.status_code // 100}xx").observe(took)
        if settings.ACCESS_LOG:
            status, ms = response.status_code, round(took * 1000)
            line = {"method": request.method, "address": request.get_full_path(), "status": status, "ms": ms}
            access.info("%(method)s %(address)s %(status)d %(ms)d ms %(who)s", {**line, "who": _who(request)})
        return response

    return middleware


def _who(request: HttpRequest) -> str:
    """Identify staff by number. Annotators have no login, and their addresses are masked (logs.py)."""
    user = getattr(request, "user", None)
    return f"user {user.pk}" if user and user.is_authenticated else "-"


def answered(get_response: Respond) -> Respond:
    """Answer the operators' three URLs."""

    def middleware(request: HttpRequest) -> HttpResponse:
        answer = ANSWERS.get(request.path_info)
        if answer is None:
            return get_response(request)
        response = answer(request) if request.method in ("GET", "HEAD") else _text("Use only GET or HEAD.\n", 405)
        response.headers["Cache-Control"] = "no-store"
        return response

    return middleware


def _text(lines: str, status: int = 200) -> HttpResponse:
    return HttpResponse(lines, status=status, content_type=TEXT)


def alive(request: HttpRequest) -> HttpResponse:
    """Answer 200 if the process answers at all, whatever it can reach."""
    return _text("ok\n")


def health(request: HttpRequest) -> HttpResponse:
    """Answer 200 if this process reaches its database, otherwise 503, with a line for the database and one for Redis,
    which judging does not need: a balancer must not remove every server. Also 503 while draining before a stop."""
    if draining.is_on():
        return _text("web server: is stopping\n", 503)
    state = {"database": database_answers(), "redis": redis_answers()}
    lines = [f"{name}: {'ok' if good else 'does not answer'}\n" for name, good in state.items()]
    return _text("".join(lines), 200 if state["database"] else 503)


def database_answers() -> bool:
    """Ask over this thread's connection: a new one might be refused while open ones still serve people."""
    here = connections[DEFAULT_DB_ALIAS]
    here.inc_thread_sharing()
    try:
        DATABASE.ask(lambda: here.cursor().execute("SELECT 1"))
    except Unresponsive:
        del connections[DEFAULT_DB_ALIAS]  # the waiting thread owns it now
        return False
    except (DatabaseError, OSError):
        return False
    finally:
        here.dec_thread_sharing()
    return True


def metrics(request: HttpRequest) -> HttpResponse:
    """Return metrics of all of this server's web processes, given the token; 404 if none is configured."""
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest, multiprocess

    token = settings.METRICS_TOKEN
    if not token or not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        return _text("This address does not exist.\n", 404)
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    registry.register(Counted())
    try:
        return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
    except DatabaseError:
        return _text("database: does not answer\n", 503)


class Counted:
    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        with connection.cursor() as cursor:
            for name, words, label, statement in COUNTED:
                family = GaugeMetricFamily(name, words, labels=[label] if label else [])
                cursor.execute(statement)
                for *labels, value in cursor.fetchall():
                    family.add_metric(labels, float(value))
                yield family


def share_numbers() -> None:
    """Make the folder for the metrics of a web server's processes: gunicorn's first process does so for all."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        folder, owner = tempfile.mkdtemp(prefix="winnow-numbers-"), os.getpid()
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        atexit.register(_remove, folder, owner)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # and not a fork of it
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _histogram() -> Any:
    """Make a histogram kept in a folder with a file per process, so that any process can answer for all."""
    share_numbers()  # before the import, which checks for the folder
    from prometheus_client import Histogram

    labels = ["method", "view", "status"]
    return Histogram("winnow_request_seconds", "Time until a response begins", labels, buckets=BUCKETS)


ANSWERS: dict[str, Respond] = {"/healthz": health, "/livez": alive, "/metrics": metrics}
