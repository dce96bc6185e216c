"""What tests of backups share: all that an installation holds, to compare."""

import hashlib
from pathlib import Path

from annotation.exports.files import files_below
from benchmarks.housekeeping import tables
from benchmarks.housekeeping.backup import MADE_AGAIN
from benchmarks.storage.files import kept

PASSING = {"django_session"}


def rows() -> dict[str, list[bytes]]:
    """Each table's lines in one order, without the event that a restore adds."""
    found = {name: b"".join(tables.dump(name, tables.columns(name))).splitlines() for name in tables.names()}
    found["benchmarks_event"] = [line for line in found["benchmarks_event"] if b"\trestored\t" not in line]
    return {name: sorted(lines) for name, lines in found.items()}


def files(root: Path | None = None) -> dict[str, str]:
    """The SHA-256 of each file that a backup holds."""
    names = files_below(root) if root else [found.name for found in kept.below("")]
    contents = {name: (root / name).read_bytes() if root else kept.read(name) for name in names if _is_kept(name)}
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def _is_kept(name: str) -> bool:
    return name.partition("/")[0] not in MADE_AGAIN
