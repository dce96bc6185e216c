"""The asynchronous client: the same methods, to await. Made by client/generate.py: change that, not this."""

import ssl
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, Unpack, overload

import httpx

from winnow_client import jobs, server, studies
from winnow_client.jobs import Made, Progress
from winnow_client.material import Folder, Rows
from winnow_client.schema import (
    AnnotatorData,
    AnnotatorFilters,
    BenchmarkData,
    FlagData,
    FlagFilters,
    ImportOptions,
    ItemData,
    ItemFilters,
    JudgmentData,
    JudgmentFilters,
    PredictionOptions,
    ReleaseOptions,
    SettingsOptions,
    StageData,
    StudyData,
    StudyOptions,
    TaskData,
    TaskFilters,
)
from winnow_client.server import Checked, Existing
from winnow_client.tables import Table
from winnow_client.threads import Asynchronous, in_thread

if TYPE_CHECKING:
    import datasets

# fmt: off
# mypy: disable-error-code="no-any-return,import-untyped"


class AsyncJob(Asynchronous[jobs.Job[Made]], Generic[Made]):
    """`Job`, to await."""

    id: int
    name: str
    url: str
    async def progress(self) -> Progress:
        return await self._run(self.of.progress)

    async def cancel(self) -> None:
        return await self._run(self.of.cancel)

    async def result(self, timeout: float | None=None) -> Made:
        return await self._run(self.of.result, timeout)



async def connect_async(url: str, token: str, *, patience: float=120, progress: bool=True, verify: ssl.SSLContext | str
    | bool=True, proxy: str | None=None, headers: Mapping[str, str] | None=None, http: httpx.Client |
    None=None) -> "AsyncServer":
    """Connect to a server, at the address where you open it in the browser.

    `patience`: how many seconds to retry a request while the server does not answer or is busy. `progress`: show
    progress bars. `verify` (a certificate's file, or False), `proxy` and `headers` as in httpx; or pass your own client
    as `http`. Raises Unreachable if nothing answers for that long, or immediately if there is no such host, and
    ApiError if the token is wrong.
    """
    return AsyncServer(await in_thread(server.connect, url, token, patience=patience, progress=progress, verify=verify,
        proxy=proxy, headers=headers, http=http))


class AsyncServer(Asynchronous[server.Server]):
    """`Server`, to await."""

    url: str
    version: str
    async def close(self) -> None:
        return await self._run(self.of.close)

    async def get(self, path: str, **filters: object) -> dict[str, object]:
        return await self._run(self.of.get, path, **filters)

    async def post(self, path: str, body: Mapping[str, object] | None=None, key: str | None=None) -> dict[str, object]:
        return await self._run(self.of.post, path, body, key)

    async def rows(self, path: str, **filters: object) -> list[dict[str, object]]:
        return await self._run(self.of.rows, path, **filters)

    @overload
    async def benchmark(self, name: str) -> "AsyncBenchmark": ...
    @overload
    async def benchmark(self, name: str, rows: Rows, *, images: Folder | None=None, meta: Collection[str]=(), existing:
        Existing='skip', wait: Literal[True]=True, timeout: float | None=None, **options:
        Unpack[ImportOptions]) -> "AsyncBenchmark": ...
    @overload
    async def benchmark(self, name: str, rows: Rows, *, images: Folder | None=None, meta: Collection[str]=(), existing:
        Existing='skip', wait: Literal[False], timeout: float | None=None, **options:
        Unpack[ImportOptions]) -> "AsyncJob[AsyncBenchmark]": ...
    async def benchmark(self, name: str, rows: Rows | None=None, *, images: Folder | None=None, meta:
        Collection[str]=(), existing: Existing='skip', wait: bool=True, timeout: float | None=None, **options:
        Unpack[ImportOptions]) -> "AsyncBenchmark | AsyncJob[AsyncBenchmark]":
        return await self._run(self.of.benchmark, name, rows, images=images, meta=meta, existing=existing, wait=wait,
            timeout=timeout, **options)

    async def check(self, name: str, rows: Rows, *, images: Folder | None=None, meta: Collection[str]=(), existing:
        Literal['skip', 'refuse']='skip', timeout: float | None=None, **options: Unpack[ImportOptions]) -> Checked:
        return await self._run(self.of.check, name, rows, images=images, meta=meta, existing=existing, timeout=timeout,
            **options)

    async def benchmarks(self) -> Table[BenchmarkData]:
        return await self._run(self.of.benchmarks)

    async def study(self, name: str | int) -> "AsyncStudy":
        return await self._run(self.of.study, name)

    async def studies(self) -> Table[StudyData]:
        return await self._run(self.of.studies)

    async def job(self, id: int) -> "AsyncJob[dict[str, object]]":
        return await self._run(self.of.job, id)

    async def publish_protocol(self, text: str) -> str:
        return await self._run(self.of.publish_protocol, text)



class AsyncBenchmark(Asynchronous[server.Benchmark]):
    """`Benchmark`, to await."""

    id: int
    name: str
    url: str
    async def paired(self, first: int, second: int) -> list[dict[str, object]]:
        return await self._run(self.of.paired, first, second)

    async def study(self, name: str='', *, existing: Literal['skip', 'refuse']='skip', key: str | None=None, **settings:
        Unpack[StudyOptions]) -> "AsyncStudy":
        return await self._run(self.of.study, name, existing=existing, key=key, **settings)

    async def items(self, **filters: Unpack[ItemFilters]) -> Table[ItemData]:
        return await self._run(self.of.items, **filters)

    @overload
    async def add_predictions(self, model: str, files: Iterable[Folder], *, source: str, wait: Literal[True]=True,
        timeout: float | None=None, **options: Unpack[PredictionOptions]) -> int: ...
    @overload
    async def add_predictions(self, model: str, files: Iterable[Folder], *, source: str, wait: Literal[False], timeout:
        float | None=None, **options: Unpack[PredictionOptions]) -> "AsyncJob[int]": ...
    async def add_predictions(self, model: str, files: Iterable[Folder], *, source: str, wait: bool=True, timeout: float
        | None=None, **options: Unpack[PredictionOptions]) -> "int | AsyncJob[int]":
        return await self._run(self.of.add_predictions, model, files, source=source, wait=wait, timeout=timeout,
            **options)



class AsyncStudy(Asynchronous[studies.Study]):
    """`Study`, to await."""

    id: int
    name: str
    url: str
    @property
    async def link(self) -> str:
        return await self._run(getattr, self.of, "link")

    @property
    async def state(self) -> str:
        return await self._run(getattr, self.of, "state")

    async def progress(self) -> Table[StageData]:
        return await self._run(self.of.progress)

    async def judgments(self, **filters: Unpack[JudgmentFilters]) -> Table[JudgmentData]:
        return await self._run(self.of.judgments, **filters)

    async def tasks(self, **filters: Unpack[TaskFilters]) -> Table[TaskData]:
        return await self._run(self.of.tasks, **filters)

    async def annotators(self, **filters: Unpack[AnnotatorFilters]) -> Table[AnnotatorData]:
        return await self._run(self.of.annotators, **filters)

    async def flags(self, **filters: Unpack[FlagFilters]) -> Table[FlagData]:
        return await self._run(self.of.flags, **filters)

    async def figures(self, stage: int | str=1) -> dict[str, object]:
        return await self._run(self.of.figures, stage)

    async def agreement(self, stage: int | str=1, *, view: str='answer') -> dict[str, object]:
        return await self._run(self.of.agreement, stage, view=view)

    async def results(self) -> dict[str, object]:
        return await self._run(self.of.results)

    async def change(self, **settings: Unpack[SettingsOptions]) -> dict[str, object]:
        return await self._run(self.of.change, **settings)

    async def open(self) -> None:
        return await self._run(self.of.open)

    async def pause(self) -> None:
        return await self._run(self.of.pause)

    async def close(self) -> None:
        return await self._run(self.of.close)

    async def open_stage(self, stage: int | str) -> None:
        return await self._run(self.of.open_stage, stage)

    async def close_stage(self, stage: int | str, *, leave_open: bool=False) -> dict[str, int]:
        return await self._run(self.of.close_stage, stage, leave_open=leave_open)

    @overload
    async def export(self, path: Folder, *, wait: Literal[True]=True, timeout: float | None=None) -> Path: ...
    @overload
    async def export(self, path: Folder, *, wait: Literal[False], timeout: float | None=None) -> "AsyncJob[Path]": ...
    async def export(self, path: Folder, *, wait: bool=True, timeout: float | None=None) -> "Path | AsyncJob[Path]":
        return await self._run(self.of.export, path, wait=wait, timeout=timeout)

    async def release(self, name: str, *, timeout: float | None=None) -> "AsyncRelease":
        return await self._run(self.of.release, name, timeout=timeout)

    @overload
    async def freeze(self, name: str, *, existing: Literal['skip', 'refuse']='skip', wait: Literal[True]=True, timeout:
        float | None=None, key: str | None=None, **plan: Unpack[ReleaseOptions]) -> "AsyncRelease": ...
    @overload
    async def freeze(self, name: str, *, existing: Literal['skip', 'refuse']='skip', wait: Literal[False], timeout:
        float | None=None, key: str | None=None, **plan: Unpack[ReleaseOptions]) -> "AsyncJob[AsyncRelease]": ...
    async def freeze(self, name: str, *, existing: Literal['skip', 'refuse']='skip', wait: bool=True, timeout: float |
        None=None, key: str | None=None, **plan: Unpack[ReleaseOptions]) -> "AsyncRelease | AsyncJob[AsyncRelease]":
        return await self._run(self.of.freeze, name, existing=existing, wait=wait, timeout=timeout, key=key, **plan)



class AsyncRelease(Asynchronous[studies.Release]):
    """`Release`, to await."""

    id: int
    name: str
    url: str
    version: str
    summary: dict[str, object]
    sha256: str
    async def download(self, path: Folder) -> Path:
        return await self._run(self.of.download, path)

    async def folder(self) -> Path:
        return await self._run(self.of.folder)

    @overload
    async def load(self, split: None=None) -> 'datasets.DatasetDict': ...
    @overload
    async def load(self, split: str) -> 'datasets.Dataset': ...
    async def load(self, split: str | None=None) -> 'datasets.Dataset | datasets.DatasetDict':
        return await self._run(self.of.load, split)
