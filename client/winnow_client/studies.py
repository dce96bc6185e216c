"""A study, from its link to its releases."""

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from winnow_client.errors import ApiError, WinnowError
from winnow_client.handles import Handle
from winnow_client.jobs import Job
from winnow_client.material import Folder
from winnow_client.schema import (
    AnnotatorData,
    AnnotatorFilters,
    FlagData,
    FlagFilters,
    JudgmentData,
    JudgmentFilters,
    ReleaseOptions,
    SettingsOptions,
    StageData,
    TaskData,
    TaskFilters,
)  # fmt: skip
from winnow_client.tables import Table
from winnow_client.transport import JsonObject, Transport

if TYPE_CHECKING:
    import datasets  # type: ignore[import-untyped]


class Study(Handle):
    """A study; refer to stages by their names or numbers."""

    @property
    def link(self) -> str:
        """Return the address at which annotators join the whole study."""
        found = self._transport.rows(f"{self._address}invitations/")
        return str(next(one["link"] for one in found if one["stage"] is None))

    @property
    def state(self) -> str:
        """Return `open`, `paused` or `closed`."""
        return str(self._transport.get(self._address)["state"])

    def progress(self) -> Table[StageData]:
        """Return a row for each stage: tasks, those with an outcome, judgments wanted and counted."""
        return Table(self._transport.get(self._address)["stages"], StageData)

    def judgments(self, **filters: Unpack[JudgmentFilters]) -> Table[JudgmentData]:
        """Return every judgment, revisions included. `filters`: `stage`, `annotator`, `counted`, `since` …"""
        return Table(self._rows("judgments", filters), JudgmentData)

    def tasks(self, **filters: Unpack[TaskFilters]) -> Table[TaskData]:
        """Return the tasks with their outcomes. `filters`: `stage`, `state`, `type` …"""
        return Table(self._rows("tasks", filters), TaskData)

    def annotators(self, **filters: Unpack[AnnotatorFilters]) -> Table[AnnotatorData]:
        """Return the annotators, by pseudonym."""
        return Table(self._rows("annotators", filters), AnnotatorData)

    def flags(self, **filters: Unpack[FlagFilters]) -> Table[FlagData]:
        """Return the annotators' flags."""
        return Table(self._rows("flags", filters), FlagData)

    def figures(self, stage: int | str = 1) -> dict[str, object]:
        """Return all statistics of a stage, as in `figures.json`. Waits while a worker computes a large study's."""
        return self._transport.get(f"{self._address}figures/", stage=self._position(stage))

    def agreement(self, stage: int | str = 1, *, view: str = "answer") -> dict[str, object]:
        """Return every agreement measure of a stage with its interval: overall, by type, week, annotator and pair.
        `view`: the answer, or a projection of it. None in `measures` until a worker has computed them."""
        return self._transport.get(f"{self._address}agreement/", stage=self._position(stage), view=view)

    def results(self) -> dict[str, object]:
        """Return people and models in one table (`rows`), on all items and on those kept, with the difference between
        people and each model. Waits while a worker computes those of a large study."""
        return self._transport.get(f"{self._address}results/")

    def change(self, **settings: Unpack[SettingsOptions]) -> dict[str, object]:
        """Change settings while people judge, all or none; return all of them, and why some are `locked`."""
        return self._transport.post(f"{self._address}settings/", settings)

    def open(self) -> None:
        """Let annotators join and judge."""
        self._move("open")

    def pause(self) -> None:
        """Stop giving annotators questions until you open the study again."""
        self._move("paused")

    def close(self) -> None:
        """End the study."""
        self._move("closed")

    def open_stage(self, stage: int | str) -> None:
        """Reopen a closed stage."""
        self._transport.post(f"{self._address}stages/{self._position(stage)}/move/", {"to": "open"})

    def close_stage(self, stage: int | str, *, leave_open: bool = False) -> dict[str, int]:
        """Close a stage; return how many items each later stage got, none if it was already closed. `leave_open`: even
        if items do not have an outcome."""
        body = {"to": "closed", "leave_open": leave_open}
        moved = self._transport.post(f"{self._address}stages/{self._position(stage)}/move/", body)
        promoted: dict[str, int] = moved["promoted"]
        return promoted

    @overload
    def export(self, path: Folder, *, wait: Literal[True] = True, timeout: float | None = None) -> Path: ...
    @overload
    def export(self, path: Folder, *, wait: Literal[False], timeout: float | None = None) -> Job[Path]: ...
    def export(self, path: Folder, *, wait: bool = True, timeout: float | None = None) -> Path | Job[Path]:
        """Export the study as it is now, and fetch the export as a zip."""
        job = self._transport.post(f"{self._address}exports/")
        address = f"{self._address}exports/{job['id']}/file/"
        made = Job(self._transport, job, partial(_exported, self._transport, address, Path(path)))
        return made.result(timeout) if wait else made

    def release(self, name: str, *, timeout: float | None = None) -> "Release":
        """Return the release with this name and version: `cups@1.0`. Waits if it is still being made."""
        found = self._release(name)
        if found is None:
            raise ApiError(404, "NOT_FOUND", f"The study has no release {name}. `freeze` makes one.")
        return self._making(found).result(timeout)

    @overload
    def freeze(
        self, name: str, *, existing: Literal["skip", "refuse"] = "skip", wait: Literal[True] = True,
        timeout: float | None = None, key: str | None = None, **plan: Unpack[ReleaseOptions],
    ) -> "Release": ...  # fmt: skip
    @overload
    def freeze(
        self, name: str, *, existing: Literal["skip", "refuse"] = "skip", wait: Literal[False],
        timeout: float | None = None, key: str | None = None, **plan: Unpack[ReleaseOptions],
    ) -> Job["Release"]: ...  # fmt: skip
    def freeze(
        self, name: str, *, existing: Literal["skip", "refuse"] = "skip", wait: bool = True,
        timeout: float | None = None, key: str | None = None, **plan: Unpack[ReleaseOptions],
    ) -> "Release | Job[Release]":  # fmt: skip
        """Make the release with this name and version, and wait until it is frozen. If it already exists, return it.

        `plan`: `splits`, `forms`, `public`, `words` … (docs/reference/api.md); by default every item is in `test`.
        Raises WinnowError if the release was made with another plan; with `existing="refuse"`, if it exists at all.
        """
        title, version = _split(name)
        body: JsonObject = {**plan}
        if "stages" in body:
            body["stages"] = [self._position(stage) for stage in body["stages"]]
        found = None if existing == "refuse" else self._release(name)
        if found is None:
            found = self._transport.post(f"{self._address}releases/", {"name": title, "version": version, **body}, key)
        else:
            _refuse_other(name, body, found["plan"])
        made = self._making(found)
        return made.result(timeout) if wait else made

    @property
    def _address(self) -> str:
        return f"studies/{self.id}/"

    def _rows(self, name: str, filters: Mapping[str, Any]) -> list[JsonObject]:
        given = {**filters, "stage": self._position(filters["stage"])} if "stage" in filters else filters
        return list(self._transport.rows(f"{self._address}{name}/", **given))

    def _position(self, stage: int | str) -> int:
        if isinstance(stage, int):
            return stage
        names = {one["name"]: one["position"] for one in self.progress()}
        if stage not in names:
            raise ApiError(404, "NOT_FOUND", f"“{self.name}” has no stage {stage}. It has {', '.join(names)}.")
        return names[stage]

    def _move(self, to: str) -> None:
        self._transport.post(f"{self._address}move/", {"to": to})

    def _release(self, name: str) -> JsonObject | None:
        title, version = _split(name)
        return next(self._transport.rows(f"{self._address}releases/", name=title, version=version), None)

    def _making(self, release: JsonObject) -> Job["Release"]:
        """Return the job that makes the release, restarted if it failed."""
        if release["state"] in ("failed", "cancelled"):
            job = self._transport.post(f"releases/{release['id']}/again/")
        elif release["state"] == "frozen":
            job = {"id": release["job"] or 0, "title": release["title"], "state": "done", "report": {}}
            job |= {"phase": "", "done": 0, "total": None}
        else:
            job = self._transport.get(f"jobs/{release['job']}/")
        return Job(self._transport, job, partial(_frozen, self._transport, release["id"]))


class Release(Handle):
    """A frozen release; `summary` has its counts, splits and files."""

    version: str
    summary: dict[str, object]
    sha256: str

    def __init__(self, transport: Transport, facts: JsonObject):
        super().__init__(transport, facts["id"], facts["name"])
        self._facts, self.version = facts, facts["version"]
        self.summary, self.sha256 = facts["summary"], facts["sha256"]

    def __repr__(self) -> str:
        return f"<Release {self.name}@{self.version}>"

    def download(self, path: Folder) -> Path:
        """Fetch the zip and compare its SHA-256 with the server's."""
        target = Path(path)
        _fetch(self._transport, f"releases/{self.id}/file/", target, self._facts["size"], self.sha256)
        return target

    def folder(self) -> Path:
        """Return the release as a folder in this computer's cache (XDG_CACHE_HOME/winnow), fetched once."""
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
                except OSError:  # another process has fetched it in the meantime
                    if not found.is_dir():
                        raise
        return _root(found)

    @overload
    def load(self, split: None = None) -> "datasets.DatasetDict": ...
    @overload
    def load(self, split: str) -> "datasets.Dataset": ...
    def load(self, split: str | None = None) -> "datasets.Dataset | datasets.DatasetDict":
        """Load the release with Hugging Face `datasets`: a Dataset of the split, or a DatasetDict of all."""
        try:
            import datasets
        except ImportError:
            raise WinnowError("Install `datasets` and `pillow` to load a release, or use `folder`.") from None
        return datasets.load_dataset(str(self.folder()), split=split)


def _refuse_other(release: str, given: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    """Raise WinnowError if something given differs from what is stored."""
    for name, value in given.items():
        if name in stored and not _alike(value, stored[name]):
            says = f"Release {release} exists, but {name} is {stored[name]!r} and not {value!r}. Use the next version."
            raise WinnowError(says, "EXISTS_OTHERWISE")


def _alike(given: Any, stored: Any) -> bool:
    if isinstance(given, Mapping) and isinstance(stored, Mapping):
        return all(_alike(value, stored.get(name)) for name, value in given.items())
    if isinstance(given, list | tuple) and isinstance(stored, list | tuple):
        return sorted(map(str, given)) == sorted(map(str, stored)) or not stored
    try:
        return given == stored or float(given) == float(stored)
    except (TypeError, ValueError):
        return False


def _exported(transport: Transport, address: str, target: Path, report: JsonObject) -> Path:
    _fetch(transport, address, target, report["bytes"])
    return target


def _frozen(transport: Transport, id: int, report: JsonObject) -> Release:
    return Release(transport, transport.get(f"releases/{id}/"))


def _root(folder: Path) -> Path:
    """Return the root of an unpacked release, which may be in a subfolder of the archive."""
    (manifest,) = [*folder.glob("manifest.json"), *folder.glob("*/manifest.json")]
    return manifest.parent


def _fetch(transport: Transport, address: str, target: Path, size: int, sha256: str = "") -> None:
    """Fetch a file; it appears only once it is complete."""
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
        raise ValueError(f"Use a name and a version, as in cups@1.0, not {name!r}.")
    return title, version
