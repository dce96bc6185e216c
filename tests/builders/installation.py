"""What tests of backups share: all that an installation holds, to compare."""

import hashlib
from pathlib import Path

from django.conf import settings

from annotation.exports.files import files_below
from benchmarks.housekeeping import tables
from benchmarks.housekeeping.backup import MADE_AGAIN

PASSING = {"django_session"}


def rows() -> dict[str, list[bytes]]:
    """Each table's lines in one order, without the event that a restore adds."""
    found = {name: b"".join(tables.dump(name, tables.columns(name))).splitlines() for name in tables.names()}
    found["benchmarks_event"] = [line for line in found["benchmarks_event"] if b"\trestored\t" not in line]
    return {name: sorted(lines) for name, lines in found.items()}


def files(root: Path | None = None) -> dict[str, str]:
    """The SHA-256 of each file that a backup holds."""
    root = Path(root or settings.MEDIA_ROOT)
    paths = [path for path in files_below(root) if path.partition("/")[0] not in MADE_AGAIN]
    return {path: hashlib.sha256((root / path).read_bytes()).hexdigest() for path in paths}
