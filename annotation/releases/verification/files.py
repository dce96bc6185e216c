"""The files themselves: that all are there and no others, with the bytes, rows and hashes that the manifest says."""

import csv
import hashlib
import tarfile
from pathlib import Path

import pyarrow.parquet as pq

from annotation.releases.scoring import evaluation
from annotation.releases.verification.place import MANIFEST, SETTINGS, Place
from annotation.releases.verification.report import Report

DATA = "data"
BYTES = 1024 * 1024


def check_files(place: Place, report: Report) -> None:
    listed = place.manifest["files"]
    always = [*place.schema.files, *evaluation.files(place.manifest)]
    there = {*place.names} - {MANIFEST}
    for name in place.links:
        report.problem(name, "it is a link; a release holds only files")
    for name in sorted({*listed} - there):
        report.problem(name, "it is missing")
    for name in sorted(there - {*listed}):
        report.problem(name, "it is not in the manifest")
    for name in sorted({*always} - {*listed}):
        report.problem(MANIFEST, f"it names no {name}, which every release has")
    for name in sorted({*listed} & there - {*always, SETTINGS}):
        if not _belongs(place, name):
            report.problem(name, "it belongs to no format or split of the release")
    for name in sorted(there):
        with report.reading(name):
            place.digests[name] = digest(place.folder / name)
            if name in listed:
                _check_file(place, name, listed[name], report)
    _check_content(place, report)


def _belongs(place: Place, name: str) -> bool:
    """Whether a file is of a form in the plan and of a split: `data/test-…`, `csv/test.csv`, `imagefolder/test/…`; or
    a protocol that a stage asks.
    """
    folder, _, rest = name.partition("/")
    if name in {stage["protocol_file"]["path"] for stage in place.manifest["stages"] if stage["protocol_file"]}:
        return True
    if folder != DATA and folder not in place.manifest["release"]["forms"]:
        return False
    return folder == "source" or any(rest.startswith(split) and rest[len(split)] in "-./" for split in place.splits)


def _check_file(place: Place, name: str, listed: dict, report: Report) -> None:
    report.count("SHA-256 of files")
    if place.digests[name] != listed["sha256"]:
        report.problem(name, f"its SHA-256 is {place.digests[name]}, but {listed['sha256']} in the manifest")
    size = (place.folder / name).stat().st_size
    report.count("sizes of files")
    if size != listed["bytes"]:
        report.problem(name, f"it has {size:,} bytes, but {listed['bytes']:,} in the manifest")
    rows = _count_rows(place.folder / name, name)
    if rows is None and listed["rows"] is None:
        return
    report.count("row counts of files")
    if rows != listed["rows"]:
        report.problem(name, f"it has {rows} rows, but {listed['rows']} in the manifest")


def _check_content(place: Place, report: Report) -> None:
    """One hash over all: of what `sha256sum` prints of every file but the manifest, in the order of names."""
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(place.digests.items()))
    found = hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()
    report.count("content hash")
    if found != place.manifest["content"]:
        report.problem(MANIFEST, f"the hash of all content is {found}, but {place.manifest['content']} in the manifest")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _count_rows(path: Path, name: str) -> int | None:
    """None where a file has no rows, or the source's own format counts."""
    folder, _, rest = name.partition("/")
    if folder == "source" or (folder == "imagefolder" and not rest.endswith("/metadata.jsonl")):
        return None
    match path.suffix:
        case ".jsonl":
            with path.open("rb") as file:
                return sum(block.count(b"\n") for block in iter(lambda: file.read(BYTES), b""))
        case ".parquet":
            return pq.read_metadata(path).num_rows
        case ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                return sum(1 for _ in csv.reader(file, strict=True)) - 1
        case ".tar":
            with tarfile.open(path, "r|") as file:
                return sum(member.name.endswith(".json") for member in file)
    return None
