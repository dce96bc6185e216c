"""A server and its benchmarks."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from winnow_client.errors import ApiError
from winnow_client.material import Material
from winnow_client.studies import Study
from winnow_client.tables import table
from winnow_client.transport import Transport


def connect(url: str, token: str, *, patience: float = 120, progress: bool = True) -> "Server":
    """A server, at the address at which you open it in the browser.

    `patience`: how many seconds to retry a request while the server does not answer. `progress`: show progress bars.
    Raises Unreachable if nothing answers now, and ApiError if the token is wrong.
    """
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"Give an address that begins with http:// or https://, not {url!r}.")
    if not token or not token.isascii() or not token.isprintable():
        raise ValueError("This is not a token. Create one on your account page.")
    Transport(url, token, patience=0, progress=False).get("benchmarks/", limit=1)
    return Server(Transport(url, token, patience, progress))


class Server:
    """`connect` makes it. `get`, `post` and `rows` reach what has no method here (docs/reference/api.md)."""

    def __init__(self, transport: Transport):
        self._transport = transport
        self.url = transport.url
        self.get, self.post, self.rows = transport.get, transport.post, transport.rows

    def __repr__(self) -> str:
        return f"<Winnow at {self.url}>"

    def benchmark(
        self, name: str, rows: Any = None, *, images: str | os.PathLike[str] = ".", **options: bool
    ) -> "Benchmark":
        """The benchmark of this name; with `rows`, after importing them into it, all or none.

        `rows`: a DataFrame, or dicts. Paths of images count from the folder `images`. `options`: those of the import,
        such as `format_captions`. Raises JobFailed with the problems of each row, and FileNotFoundError for an image.
        """
        if rows is not None:
            return Benchmark(self._transport, self._import(name, rows, images, options)["benchmark"], name)
        return Benchmark(self._transport, _named(self.rows("benchmarks/", name=name), name, "benchmark")["id"], name)

    def check(self, name: str, rows: Any, *, images: str | os.PathLike[str] = ".", **options: bool) -> dict[str, Any]:
        """The report of an import that stores nothing. Raises what `benchmark` raises."""
        return self._import(name, rows, images, {**options, "check_only": True})

    def _import(
        self, name: str, rows: Any, images: str | os.PathLike[str], options: Mapping[str, bool]
    ) -> dict[str, Any]:
        material = Material(rows, images)
        with tempfile.TemporaryDirectory() as folder:
            body: dict[str, Any] = {"name": name, "data": [self._transport.upload(material.write_items(Path(folder)))]}
            if material.images:
                body["images"] = [self._transport.upload(material.write_images(Path(folder)))]
            return self._transport.follow(self.post("imports/", {**body, **options}))

    def benchmarks(self) -> Any:
        """All benchmarks, with their counts: a DataFrame, or a list of dicts if pandas is not installed."""
        return table(self.rows("benchmarks/"))

    def study(self, name: str | int) -> Study:
        """The study of this name or id."""
        found = self.get(f"studies/{name}/") if isinstance(name, int) else None
        found = found or _named(self.rows("studies/", name=name), str(name), "study")
        return Study(self._transport, found["id"], found["name"])

    def studies(self) -> Any:
        """The studies that you are a member of, as a table."""
        return table(self.rows("studies/"))

    def publish_protocol(self, text: str) -> str:
        """Publish a protocol file; returns its name and version, for `protocol` of a study: `prompt-fit@2`."""
        return str(self.post("protocols/", {"text": text})["version"])


class Benchmark:
    def __init__(self, transport: Transport, id: int, name: str):
        self._transport = transport
        self.id, self.name = id, name

    def __repr__(self) -> str:
        return f"<Benchmark {self.id}: {self.name}>"

    def study(self, name: str = "", *, key: str | None = None, **settings: Any) -> Study:
        """A new study on this benchmark, named after it by default.

        `settings` has one of `preset`, `protocol` and `template`, and perhaps `pay_per_hour`, `stages` …
        (docs/reference/api.md). With a `key` of your own, the same call gives the same study for a week.
        """
        body = {"name": name or self.name, "benchmark": self.id, **settings}
        made = self._transport.post("studies/", body, key=key)
        return Study(self._transport, made["id"], made["name"])

    def items(self) -> Any:
        """The items, as a table."""
        return table(self._transport.rows(f"benchmarks/{self.id}/items/"))

    def add_predictions(
        self, model: str, files: Iterable[str | os.PathLike[str]], *, source: str, **options: Any
    ) -> int:
        """Import a model's answers from files, all or none; returns the id of the run. `source`: where they are from.

        Raises JobFailed with the problems of each row.
        """
        ids = [self._transport.upload(Path(path)) for path in files]
        body = {"model": model, "source": source, "files": ids, **options}
        return int(self._transport.follow(self._transport.post(f"benchmarks/{self.id}/predictions/", body))["run"])


def _named(rows: Iterable[dict[str, Any]], name: str, kind: str) -> dict[str, Any]:
    found = next((row for row in rows if row["name"] == name), None)
    if found is None:
        raise ApiError(404, "NOT_FOUND", f"You can see no {kind} named {name}.")
    return found
