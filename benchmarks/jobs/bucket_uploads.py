"""Uploads if files are kept in a bucket: a file's chunks may arrive at several machines, and its job may run on
another, so everything stays in the bucket until the job has ended.

`uploads/kept/<id>-<owner>/` has `upload.json` and the chunks, each an object named by its offset and length. Objects
never change, so two requests with the same chunk are harmless. `uploads/jobs/<id>/` has other files of a job.
"""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from django.core.files import File

from benchmarks.models import Job
from benchmarks.storage.files import Stored, kept

KEPT, JOBS = "uploads/kept", "uploads/jobs"
FACTS, CHUNKS = "upload.json", "chunks"
PIECE, SMALL = 2**20, 2**23  # bytes; smaller chunks are read in one request


def _folder(id: str, owner: int) -> str:
    return f"{KEPT}/{id}-{owner}"


def write_facts(id: str, owner: int, facts: dict) -> None:
    kept.write(f"{_folder(id, owner)}/{FACTS}", json.dumps(facts).encode())


def read_facts(id: str, owner: int) -> dict | None:
    try:
        return json.loads(kept.read(f"{_folder(id, owner)}/{FACTS}"))
    except FileNotFoundError:
        return None


def ids_of(owner: int) -> list[str]:
    folders = (name.partition("-") for name in kept.folders(KEPT))
    return [id for id, _, other in folders if other == str(owner)]


def _chunks(folder: str) -> list[Stored]:
    """Return chunks that follow one another from the first byte on; the longer one of two at the same offset."""
    at: dict[int, Stored] = {}
    for found in sorted(kept.below(f"{folder}/{CHUNKS}"), key=lambda found: found.size):
        if found.size:
            at[_span(found)[0]] = found
    chain, end = [], 0
    while end in at:
        chain.append(at[end])
        end += at[end].size
    return chain


def _span(chunk: Stored) -> tuple[int, int]:
    """Return its offset and that of the byte after it."""
    start = int(chunk.name.rpartition("/")[2].partition("-")[0])
    return start, start + chunk.size


def is_end(id: str, owner: int, offset: int, chunk: int) -> bool:
    """Return whether the upload has exactly the bytes before `offset`. Checks only the last chunks, of at most `chunk`
    bytes, because this was true whenever one was added."""
    folder = f"{_folder(id, owner)}/{CHUNKS}"
    last = [_span(found) for found in kept.below(folder, after=f"{folder}/{max(0, offset - chunk):015}")]
    return all(start < offset for start, _ in last) and (not offset or any(end == offset for _, end in last))


def received(id: str, owner: int) -> int:
    """Count the bytes so far, without a gap."""
    return sum(chunk.size for chunk in _chunks(_folder(id, owner)))


def last_at(id: str, owner: int) -> float:
    """Return when bytes last arrived, in seconds since 1970; 0 if the upload is gone."""
    return max((found.modified for found in kept.below(_folder(id, owner))), default=0)


def add(id: str, owner: int, offset: int, content: bytes) -> None:
    kept.write(f"{_folder(id, owner)}/{CHUNKS}/{offset:015}-{len(content)}", content)


def add_whole(id: str, owner: int, file: File) -> None:
    if file.size:
        kept.save(f"{_folder(id, owner)}/{CHUNKS}/{0:015}-{file.size}", file)


def read_by_jobs() -> set[str]:
    """Return the ids of uploads that unfinished jobs read."""
    found = Job.objects.filter(finished_at=None).values_list("params__kept", flat=True)
    return {id for chosen in found for ids in (chosen or {}).values() for id in ids}


def drop(ids: Iterable[str]) -> None:
    """Delete these uploads, except those that an unfinished job reads: `sweep` deletes them a day later."""
    gone = set(ids) - read_by_jobs()
    for name in kept.folders(KEPT) if gone else ():
        if name.partition("-")[0] in gone:
            kept.remove_folder(f"{KEPT}/{name}")


def sweep(before: float) -> None:
    """Delete what was last written before that time, unless an unfinished job reads it."""
    newest: dict[str, float] = {}
    for found in kept.below("uploads"):
        folder = "/".join(found.name.split("/")[:3])
        newest[folder] = max(newest.get(folder, 0), found.modified)
    unfinished = Job.objects.filter(finished_at=None).values_list("params__upload", flat=True)
    needed = read_by_jobs() | {Path(folder).name for folder in unfinished if folder}
    for folder, modified in newest.items():
        if modified < before and folder.rpartition("/")[2].partition("-")[0] not in needed:
            kept.remove_folder(folder)


# The files of a job


def hand_over(folder: Path) -> None:
    """Store a job's new folder for whichever machine runs the job."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            kept.copy_in(path, f"{JOBS}/{folder.name}/{path.relative_to(folder).as_posix()}")


def drop_job(folder: Path) -> None:
    kept.remove_folder(f"{JOBS}/{folder.name}")


def files_of_job(folder: Path, chosen: dict[str, list[str]]) -> dict[str, list[Stored]]:
    """Map each path below the job's folder to its parts. `chosen`: ids of uploads by field. Raises FileNotFoundError
    with the id of an upload that is gone."""
    prefix = f"{JOBS}/{folder.name}"
    found = {one.name.removeprefix(f"{prefix}/"): [one] for one in kept.below(prefix)}
    folders = {name.partition("-")[0]: f"{KEPT}/{name}" for name in kept.folders(KEPT)} if chosen else {}
    for field, ids in chosen.items():
        for id in ids:
            if id not in folders:
                raise FileNotFoundError(id)
            facts = json.loads(kept.read(f"{folders[id]}/{FACTS}"))
            found[f"{field}/{Path(facts['name']).name}"] = parts = _chunks(folders[id])
            if sum(part.size for part in parts) != facts["size"]:
                raise FileNotFoundError(id)
    return found


def fetch(parts: list[Stored], target: Path, tell: Callable[[int], None]) -> None:
    """Join a file's parts into a local file; `tell` is called with numbers of bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        for part in parts:
            if part.size <= SMALL:
                file.write(kept.read(part.name))
            else:
                with kept.open(part.name) as source:
                    shutil.copyfileobj(source, file, PIECE)
            tell(part.size)
