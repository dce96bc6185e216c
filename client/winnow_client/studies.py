"""A study, from its link to its releases."""

import hashlib
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from winnow_client.errors import ApiError, WinnowError
from winnow_client.tables import table
from winnow_client.transport import Transport


class Study:
    """Tables are DataFrames, or lists of dicts if pandas is not installed."""

    def __init__(self, transport: Transport, id: int, name: str):
        self._transport = transport
        self.id, self.name = id, name
        self._address = f"studies/{id}/"

    def __repr__(self) -> str:
        return f"<Study {self.id}: {self.name}>"

    @property
    def link(self) -> str:
        """Where annotators join the whole study."""
        found = self._transport.get(f"{self._address}invitations/")["invitations"]
        return str(next(one["link"] for one in found if one["stage"] is None))

    @property
    def state(self) -> str:
        """`open`, `paused` or `closed`."""
        return str(self._transport.get(self._address)["state"])

    def progress(self) -> Any:
        """A table with a row for each stage: tasks, those with an outcome, judgments wanted and counted."""
        return table(self._transport.get(self._address)["stages"])

    def judgments(self, **filters: Any) -> Any:
        """A table of every judgment, revisions included. `filters`: `stage`, `annotator`, `counted`, `since` …"""
        return self._rows("judgments", filters)

    def tasks(self, **filters: Any) -> Any:
        """A table of the tasks with their outcomes. `filters`: `stage`, `state`, `type` …"""
        return self._rows("tasks", filters)

    def annotators(self, **filters: Any) -> Any:
        """A table of the annotators, by pseudonym."""
        return self._rows("annotators", filters)

    def flags(self, **filters: Any) -> Any:
        """A table of what annotators flagged."""
        return self._rows("flags", filters)

    def _rows(self, name: str, filters: dict[str, Any]) -> Any:
        return table(self._transport.rows(f"{self._address}{name}/", **filters))

    def figures(self, stage: int = 1) -> dict[str, Any]:
        """Every figure of a stage, as in `figures.json`. Waits while a worker computes those of a large study."""
        return self._transport.get(f"{self._address}figures/", stage=stage)

    def open(self) -> None:
        self._move("open")

    def pause(self) -> None:
        self._move("paused")

    def close(self) -> None:
        self._move("closed")

    def _move(self, to: str) -> None:
        self._transport.post(f"{self._address}move/", {"to": to})

    def close_stage(self, position: int, leave_open: bool = False) -> dict[str, int]:
        """Close a stage; returns how many items each later stage got. `leave_open`: although items have no outcome."""
        body = {"to": "closed", "leave_open": leave_open}
        promoted: dict[str, int] = self._transport.post(f"{self._address}stages/{position}/move/", body)["promoted"]
        return promoted

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Make an export of the study as it is now, and fetch it as a zip."""
        job = self._transport.post(f"{self._address}exports/")
        report = self._transport.follow(job)
        target = Path(path)
        _fetch(self._transport, f"{self._address}exports/{job['id']}/file/", target, report["bytes"])
        return target

    def release(self, name: str) -> "Release":
        """The release with this name and version: `cups@1.0`. Waits if it is still being made."""
        title, version = _split(name)
        found = list(self._transport.rows(f"{self._address}releases/", name=title, version=version))
        if not found:
            raise ApiError(404, "NOT_FOUND", f"The study has no release {name}. `freeze` makes one.")
        return self._made(found[0])

    def freeze(self, name: str, *, key: str | None = None, **plan: Any) -> "Release":
        """Make the release with this name and version, and wait until it is frozen.

        `plan`: `splits`, `forms`, `public`, `words` … (docs/reference/api.md); by default every item is in `test`.
        With a `key` of your own, the same call gives the same release for a week.
        """
        title, version = _split(name)
        body = {"name": title, "version": version, **plan}
        return self._made(self._transport.post(f"{self._address}releases/", body, key=key))

    def _made(self, release: dict[str, Any]) -> "Release":
        if release["state"] != "frozen":
            self._transport.follow(self._transport.get(f"jobs/{release['job']}/"))
            release = self._transport.get(f"releases/{release['id']}/")
        return Release(self._transport, release)


class Release:
    """A frozen release; `summary` has its counts, splits and files."""

    def __init__(self, transport: Transport, facts: dict[str, Any]):
        self._transport, self._facts = transport, facts
        self.id, self.name, self.version = facts["id"], facts["name"], facts["version"]
        self.summary, self.sha256 = facts["summary"], facts["sha256"]

    def __repr__(self) -> str:
        return f"<Release {self.name}@{self.version}>"

    def download(self, path: str | os.PathLike[str]) -> Path:
        """Fetch the zip and compare its SHA-256 with the server's."""
        target = Path(path)
        _fetch(self._transport, f"releases/{self.id}/file/", target, self._facts["size"], self.sha256)
        return target

    def folder(self) -> Path:
        """The release as a folder in the cache of this computer (XDG_CACHE_HOME/winnow), fetched once."""
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "winnow"
        found = cache / self.sha256
        if not found.is_dir():
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache) as place:
                archive = self.download(Path(place) / f"{self.name}-{self.version}.zip")
                with zipfile.ZipFile(archive) as packed:
                    packed.extractall(Path(place) / "content")
                try:
                    (Path(place) / "content").rename(found)
                except OSError:  # another process has fetched it meanwhile
                    if not found.is_dir():
                        raise
        return _root(found)

    def load(self, split: str | None = None) -> Any:
        """The release as Hugging Face `datasets` load it: a Dataset of the split, or a DatasetDict of all."""
        try:
            import datasets
        except ImportError:
            raise WinnowError("Install `datasets` and `pillow` to load a release, or use `folder`.") from None
        return datasets.load_dataset(str(self.folder()), split=split)


def _root(folder: Path) -> Path:
    """Of an unpacked release, which may be in a folder of the archive."""
    (manifest,) = [*folder.glob("manifest.json"), *folder.glob("*/manifest.json")]
    return manifest.parent


def _fetch(transport: Transport, address: str, target: Path, size: int, sha256: str = "") -> None:
    """Into the file itself only when it is whole."""
    part = target.with_name(f"{target.name}.part")
    try:
        transport.download(address, part, size)
        with part.open("rb") as file:
            if sha256 and hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise WinnowError(f"{target.name} does not have the SHA-256 of the release. Fetch it again.")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _split(name: str) -> tuple[str, str]:
    title, _, version = name.partition("@")
    if not version:
        raise ValueError(f"Give a name and a version, as in cups@1.0, not {name!r}.")
    return title, version
