"""Check the files themselves: all are present and no others, with the bytes, rows and hashes listed in the manifest."""

import csv
import hashlib
import re
import tarfile
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq

from annotation.releases.formats import shard_files
from annotation.releases.schema import FILES, SETTINGS
from annotation.releases.scoring import evaluation
from annotation.releases.verification.place import MANIFEST, Place
from annotation.releases.verification.report import Report

DATA = "data"
FORMS = {  # patterns of a split's file names in each form
    DATA: r"-(?P<shard>\d{5,})-of-(?P<shards>\d{5,})\.parquet",
    "jsonl": r"\.jsonl",
    "csv": r"(\.spreadsheet)?\.csv",
    "imagefolder": r"/(metadata\.jsonl|images/[^/]+)",
    "webdataset": r"/(nshards\.txt|(?P<shard>0|[1-9]\d*)\.tar)",
}
BYTES = 1024 * 1024


def check_files(place: Place, report: Report) -> None:
    listed = place.manifest["files"]
    always = [*FILES, *evaluation.files(place.manifest)]
    there = {*place.names} - {MANIFEST}
    for name in place.links:
        report.problem(name, "it is a link; a release holds only files")
    for name in sorted({*listed} - there):
        report.problem(name, "it is missing")
    for name in sorted(there - {*listed}):
        report.problem(name, "it is not in the manifest")
    for name in sorted({*always} - {*listed}):
        report.problem(MANIFEST, f"it does not name {name}, which every release has")
    for name in sorted({*listed} & there - {*always, SETTINGS}):
        if not _belongs(place, name):
            report.problem(name, "it does not belong to any format or split of the release")
    for name in sorted(there):
        with report.reading(name):
            place.digests[name] = digest(place.folder / name)
            if name in listed:
                _check_file(place, name, listed[name], report)
    with report.reading(MANIFEST):
        _check_shards(place, report)
    _check_content(place, report)


def _belongs(place: Place, name: str) -> bool:
    """Return whether a file belongs to a form in the plan and to a split (`data/test-…`, `csv/test.csv`,
    `imagefolder/test/…`) or a protocol that a stage uses.
    """
    folder, _, rest = name.partition("/")
    if name in {stage["protocol_file"]["path"] for stage in place.manifest["stages"] if stage["protocol_file"]}:
        return True
    if folder != DATA and folder not in place.manifest["release"]["forms"]:
        return False
    return (
        folder == "source"
        or name == shard_files.TYPE[0]
        or any(_matches(folder, split, rest) for split in place.splits)
    )


def _matches(folder: str, split: str, rest: str) -> re.Match | None:
    return re.fullmatch(re.escape(split) + FORMS[folder], rest)


def _check_shards(place: Place, report: Report) -> None:
    """Check that a split's shards are numbered from 0 without gaps, and none is empty unless it is the only one."""
    found: dict[tuple[str, str], list[tuple[int, int | None, str]]] = defaultdict(list)
    for folder in (DATA, "webdataset"):
        for name in place.below(folder):
            for split in place.splits:
                match = _matches(folder, split, name.removeprefix(f"{folder}/"))
                if match and (parts := match.groupdict())["shard"]:
                    total = int(parts["shards"]) if "shards" in parts else None
                    found[folder, split].append((int(parts["shard"]), total, name))
    for shards in found.values():
        for place_among, (number, total, name) in enumerate(sorted(shards)):
            if number != place_among or total not in (None, len(shards)):
                report.problem(name, f"its number does not match the {len(shards):,} shards of the split")
            if len(shards) > 1 and not place.manifest["files"].get(name, {}).get("rows"):
                report.problem(name, "it is an empty shard beside others")


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
    """Check the hash over all: of the output of `sha256sum` for every file but the manifest, in the order of names."""
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(place.digests.items()))
    found = hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()
    report.count("content hash")
    if found != place.manifest["content"]:
        report.problem(MANIFEST, f"the hash of all content is {found}, but {place.manifest['content']} in the manifest")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _count_rows(path: Path, name: str) -> int | None:
    """Return the rows; None if a file has none, or the source's own format counts."""
    folder, _, rest = name.partition("/")
    if folder in ("source", "vlmevalkit") or (folder == "imagefolder" and not rest.endswith("/metadata.jsonl")):
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
