"""A server and its benchmarks."""

import ssl
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, Unpack, overload

import httpx

from winnow_client.errors import ApiError
from winnow_client.handles import Handle
from winnow_client.jobs import Job, Made
from winnow_client.material import Folder, Material, Rows, mapped, records, write_archive, write_rows
from winnow_client.schema import (
    BenchmarkData,
    ImportOptions,
    ItemData,
    ItemFilters,
    PredictionOptions,
    StudyData,
    StudyOptions,
)  # fmt: skip
from winnow_client.studies import Study
from winnow_client.tables import Table
from winnow_client.transport import JsonObject, Transport

Existing = Literal["skip", "update", "refuse"]
MOST_CORRECTIONS = 2000


def connect(
    url: str, token: str, *, patience: float = 120, progress: bool = True, verify: ssl.SSLContext | str | bool = True,
    proxy: str | None = None, headers: Mapping[str, str] | None = None, http: httpx.Client | None = None,
) -> "Server":  # fmt: skip
    """Connect to a server, at the address where you open it in the browser.

    `patience`: how many seconds to retry a request while the server does not answer or is busy. `progress`: show
    progress bars. `verify` (a certificate's file, or False), `proxy` and `headers` as in httpx; or pass your own client
    as `http`. Raises Unreachable if nothing answers for that long, or immediately if there is no such host, and
    ApiError if the token is wrong.
    """
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"Use an address that begins with http:// or https://, not {url!r}.")
    if not token or not token.isascii() or not token.isprintable():
        raise ValueError("This is not a token. Create one on your account page.")
    transport = Transport(url, token, patience, progress, verify, proxy, headers or {}, http)
    return Server(transport, transport.check())


@dataclass(frozen=True)
class Checked:
    """A preview of an import. `columns`: what each column becomes, empty for a known format; `new`: whether
    the benchmark does not exist yet; `report`: the whole report, with notes and small pictures."""

    items: int
    columns: dict[str, str]
    new: bool
    report: dict[str, object] = field(repr=False)


class Server:
    """Made by `connect`; `with` closes its connections. `get`, `post` and `rows` make requests without a method here
    (docs/reference/api.md). `version` is Winnow's."""

    version: str

    def __init__(self, transport: Transport, version: str):
        self._transport = transport
        self.url, self.version = transport.url, version

    def __repr__(self) -> str:
        return f"<Winnow at {self.url}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Server) and self._transport == other._transport

    def __hash__(self) -> int:
        return hash(self.url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, except those of your own `http`."""
        self._transport.close()

    def get(self, path: str, **filters: object) -> dict[str, object]:
        """Return an answer of the API: `get("studies/1/")`."""
        return self._transport.get(path, **filters)

    def post(self, path: str, body: Mapping[str, object] | None = None, key: str | None = None) -> dict[str, object]:
        """Change something through the API. With your own `key`, sending it again does not change anything more."""
        return self._transport.post(path, body, key)

    def rows(self, path: str, **filters: object) -> list[dict[str, object]]:
        """Return all pages of a list of the API."""
        return list(self._transport.rows(path, **filters))

    @overload
    def benchmark(self, name: str) -> "Benchmark": ...
    @overload
    def benchmark(
        self, name: str, rows: Rows, *, images: Folder | None = None, meta: Collection[str] = (),
        existing: Existing = "skip", wait: Literal[True] = True, timeout: float | None = None,
        **options: Unpack[ImportOptions],
    ) -> "Benchmark": ...  # fmt: skip
    @overload
    def benchmark(
        self, name: str, rows: Rows, *, images: Folder | None = None, meta: Collection[str] = (),
        existing: Existing = "skip", wait: Literal[False], timeout: float | None = None,
        **options: Unpack[ImportOptions],
    ) -> Job["Benchmark"]: ...  # fmt: skip
    def benchmark(
        self, name: str, rows: Rows | None = None, *, images: Folder | None = None, meta: Collection[str] = (),
        existing: Existing = "skip", wait: bool = True, timeout: float | None = None, **options: Unpack[ImportOptions],
    ) -> "Benchmark | Job[Benchmark]":  # fmt: skip
        """Return the benchmark of this name; with `rows`, after importing them into it, all or none.

        `rows`: dicts, or a table of pandas, polars, datasets or Arrow, or a file; with a `mapping` or `format`, as on
        the import page. An image is a path (in the folder or zip `images`), bytes, or an image of PIL, numpy or
        datasets. `meta`: columns with further information, whatever their names. `existing`: existing items are skipped
        if identical, their captions and images are corrected ("update"), or they are refused. Raises JobFailed with the
        problems of each row, and FileNotFoundError for a missing image.
        """
        if rows is None:
            found = _named(self._transport.rows("benchmarks/", name=name), name, "benchmark")
            return Benchmark(self._transport, found["id"], name)
        made, _ = self._import(partial(_benchmark, self._transport, name), name, rows, images, meta, existing, options)
        return made.result(timeout) if wait else made

    def check(
        self, name: str, rows: Rows, *, images: Folder | None = None, meta: Collection[str] = (),
        existing: Literal["skip", "refuse"] = "skip", timeout: float | None = None, **options: Unpack[ImportOptions],
    ) -> Checked:  # fmt: skip
        """Check everything that `benchmark` would do, without storing anything. Raises what `benchmark` raises."""
        job, columns = self._import(dict, name, rows, images, meta, existing, options, check_only=True)
        report = job.result(timeout)
        return Checked(report["items"], columns or mapped(report), report["new"], report)

    def _import(
        self, made: Callable[[JsonObject], Made], name: str, rows: Rows, images: Folder | None, meta: Collection[str],
        existing: Existing, options: ImportOptions, check_only: bool = False,
    ) -> tuple[Job[Made], dict[str, str]]:  # fmt: skip
        """Return the job, and what each column becomes as far as the client reads them."""
        body: JsonObject = {"name": name, **options, "skip_stored": existing != "refuse", "check_only": check_only}
        columns: dict[str, str] = {}
        with tempfile.TemporaryDirectory() as place:
            space = Path(place)
            if {"mapping", "format"} & options.keys():
                data, pictures = _own_files(rows, images, space)
                body = {"format": "own", **body}
            else:
                material = Material(rows, images or ".", space, meta)
                data, columns, pictures = material.write_items(space), material.columns, material.images
                if existing != "refuse" and not options.get("new_candidates"):
                    pictures = self._missing(name, material, existing == "update")
            body["data"] = [self._transport.upload(data)]
            if pictures:
                archive = pictures.get("") or write_archive(pictures, space / "images.zip")
                body["images"] = [self._transport.upload(archive)]
            job = self._transport.post("imports/", body)
            return Job(self._transport, job, made, data.name if data.parent == space else ""), columns

    def _missing(self, name: str, material: Material, update: bool) -> dict[str, Path]:
        """Return the images that the server needs, by name; those of an item that has them are not sent again. With
        `update`, first correct the items that differ."""
        found = next((one for one in self._transport.rows("benchmarks/", name=name) if one["name"] == name), None)
        if found is None:
            return material.images
        benchmark = Benchmark(self._transport, found["id"], name)
        stored = {item["key"]: item for item in self._transport.rows(f"benchmarks/{benchmark.id}/items/")}
        if update:
            benchmark._correct(material, stored)
        kept = {key: {one["sha256"] for one in item["images"]} for key, item in stored.items()}
        needed = set()
        for item in material.items:
            named = {image["file"] for image in item.get("images", ()) if "file" in image}
            if item["id"] not in stored or not (update or {material.sha256(one) for one in named} <= kept[item["id"]]):
                needed |= named
        return {name: path for name, path in material.images.items() if name in needed}

    def benchmarks(self) -> Table[BenchmarkData]:
        """Return all benchmarks, with their counts."""
        return Table(self._transport.rows("benchmarks/"), BenchmarkData)

    def study(self, name: str | int) -> Study:
        """Return the study with this name or id."""
        found = self._transport.get(f"studies/{name}/") if isinstance(name, int) else None
        found = found or _named(self._transport.rows("studies/", name=name), str(name), "study")
        return Study(self._transport, found["id"], found["name"])

    def studies(self) -> Table[StudyData]:
        """Return the studies that you are a member of."""
        return Table(self._transport.rows("studies/"), StudyData)

    def job(self, id: int) -> Job[dict[str, object]]:
        """Return the worker's job with this number, whose result is its report."""
        return Job(self._transport, self._transport.get(f"jobs/{id}/"), dict)

    def publish_protocol(self, text: str) -> str:
        """Publish a protocol file; return its name and version, for `protocol` of a study: `prompt-fit@2`."""
        return str(self._transport.post("protocols/", {"text": text})["version"])


class Benchmark(Handle):
    """Items with captions and images."""

    def paired(self, first: int, second: int) -> list[dict[str, object]]:
        """Compare two runs, by their ids, on the items that both answered: each measure with the difference and its
        interval, over all items and by type and subtype."""
        found = self._transport.get(f"benchmarks/{self.id}/paired/", first=first, second=second)
        rows: list[dict[str, object]] = found["rows"]
        return rows

    def study(
        self, name: str = "", *, existing: Literal["skip", "refuse"] = "skip", key: str | None = None,
        **settings: Unpack[StudyOptions],
    ) -> Study:  # fmt: skip
        """Return a study on this benchmark, named after it by default: a new one, or the same if you call this again.

        `settings` has one of `preset`, `protocol` and `template`, and perhaps `pay_per_hour`, `stages` …
        (docs/reference/api.md). Raises ApiError if a study of this name has other settings, naming each; with
        `existing="refuse"`, if it exists at all.
        """
        body = {"name": name or self.name, "benchmark": self.id, "skip_stored": existing == "skip", **settings}
        found = self._transport.post("studies/", body, key=key)
        return Study(self._transport, found["id"], found["name"])

    def items(self, **filters: Unpack[ItemFilters]) -> Table[ItemData]:
        """Return the items, with captions and images."""
        return Table(self._transport.rows(f"benchmarks/{self.id}/items/", **filters), ItemData)

    @overload
    def add_predictions(
        self, model: str, files: Iterable[Folder], *, source: str, wait: Literal[True] = True,
        timeout: float | None = None, **options: Unpack[PredictionOptions],
    ) -> int: ...  # fmt: skip
    @overload
    def add_predictions(
        self, model: str, files: Iterable[Folder], *, source: str, wait: Literal[False],
        timeout: float | None = None, **options: Unpack[PredictionOptions],
    ) -> Job[int]: ...  # fmt: skip
    def add_predictions(
        self, model: str, files: Iterable[Folder], *, source: str, wait: bool = True, timeout: float | None = None,
        **options: Unpack[PredictionOptions],
    ) -> int | Job[int]:  # fmt: skip
        """Import a model's answers from files, all or none; return the id of the run. `source`: their origin. The same
        answers from the same model give the same run.

        Raises JobFailed with the problems of each row.
        """
        ids = [self._transport.upload(Path(path)) for path in files]
        body = {"model": model, "source": source, "files": ids, "skip_stored": True, **options}
        job = self._transport.post(f"benchmarks/{self.id}/predictions/", body)
        made = Job(self._transport, job, _run)
        return made.result(timeout) if wait else made

    def _correct(self, material: Material, stored: Mapping[str, JsonObject]) -> None:
        """Correct the captions and images of stored items that differ from the material's."""
        rows, pictures = material.differences(stored)
        for start in range(0, len(rows), MOST_CORRECTIONS):
            some = rows[start : start + MOST_CORRECTIONS]
            body: JsonObject = {"corrections": some}
            if used := {row["file"]: pictures[row["file"]] for row in some if "file" in row}:
                body["images"] = [self._transport.upload(write_archive(used, material.space / "corrections.zip"))]
            Job(self._transport, self._transport.post(f"benchmarks/{self.id}/corrections/", body), dict).result()


def _benchmark(transport: Transport, name: str, report: JsonObject) -> Benchmark:
    return Benchmark(transport, report["benchmark"], name)


def _run(report: JsonObject) -> int:
    return int(report["run"])


def _own_files(rows: Rows, images: Folder | None, space: Path) -> tuple[Path, dict[str, Path]]:
    """Return a table unchanged, and its images; an archive is named ""."""
    data = Path(rows) if isinstance(rows, str | Path) else write_rows(records(rows), space / "rows.jsonl")
    folder = Path(images) if images is not None else None
    if folder is None or not folder.is_dir():
        return data, {} if folder is None else {"": folder}
    return data, {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}


def _named(rows: Iterable[JsonObject], name: str, kind: str) -> JsonObject:
    found = next((row for row in rows if row["name"] == name), None)
    if found is None:
        raise ApiError(404, "NOT_FOUND", f"There is no {kind} named {name} that you can see.")
    return found
