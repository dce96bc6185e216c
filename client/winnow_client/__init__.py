"""Benchmarks, studies, judgments and releases of a Winnow server.

`connect(url, token)` gives a `Server`, and `connect_async` an `AsyncServer` with the same methods to await; their guide
is docs/guide/python-client.md. Every change has an idempotency key, shared by all attempts of a request: a repeated
request does not have a second effect.
"""

from importlib.metadata import PackageNotFoundError, version

from winnow_client.asynchronous import AsyncBenchmark, AsyncJob, AsyncRelease, AsyncServer, AsyncStudy, connect_async
from winnow_client.errors import ApiError, JobFailed, Problem, StillRunning, Unreachable, WinnowError
from winnow_client.jobs import Job, Progress
from winnow_client.material import WrongColumns
from winnow_client.server import Benchmark, Checked, Server, connect
from winnow_client.studies import Release, Study
from winnow_client.tables import Table

try:
    __version__ = version("winnow-client")
except PackageNotFoundError:  # a checkout
    __version__ = "0"

__all__ = [
    "ApiError", "AsyncBenchmark", "AsyncJob", "AsyncRelease", "AsyncServer", "AsyncStudy", "Benchmark", "Checked",
    "Job", "JobFailed", "Problem", "Progress", "Release", "Server", "StillRunning", "Study", "Table", "Unreachable",
    "WinnowError", "WrongColumns", "__version__", "connect", "connect_async",
]  # fmt: skip
