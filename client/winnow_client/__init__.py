"""Benchmarks, studies, judgments and releases of a Winnow server.

`connect(url, token)` gives a `Server`; its guide is docs/guide/python-client.md. Every change has an idempotency key,
which all attempts of a request share: a repeated request has no second effect.
"""

from winnow_client.errors import ApiError, JobFailed, Problem, Unreachable, WinnowError
from winnow_client.server import Benchmark, Server, connect
from winnow_client.studies import Release, Study

__all__ = [
    "ApiError", "Benchmark", "JobFailed", "Problem", "Release", "Server", "Study", "Unreachable", "WinnowError",
    "connect",
]  # fmt: skip
