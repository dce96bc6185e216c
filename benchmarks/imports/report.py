"""The report of an import: counts that must add up, and what its owner should know."""

from benchmarks.formats.base import ProblemLog
from benchmarks.imports.images import Gathered, part_name
from benchmarks.records import ItemRecord
from workers.archives.archive import Source

LISTED = 100  # names of unused files that are kept


def report_of(records: list[ItemRecord], source: Source | None, gathered: Gathered, *, stored: int, log: ProblemLog):
    """A JSON-able dict. `images`: what rows name (a file, a crop of one) = stored now + met before + same as another.

    `files`: files of the source = used + unused + system files.
    """
    names = len(gathered.sha256)
    same = len(gathered.same)
    known = gathered.known + len(gathered.new) - stored  # these were stored by another import meanwhile
    for part, other in gathered.same:
        log.note("SAME_CONTENT", part_name(part), None, "", f"The same bytes as {part_name(other)}; stored once.")
    return {
        "items": len(records),
        "left_out": log.left_out,  # rows that lacked a part
        "captions": sum(len(record.captions) for record in records),
        "uses": sum(len(record.images) for record in records),
        "images": {"named": names, "stored": stored, "known": known, "same": same},
        "files": _count_files(source, gathered),
        "notes": [
            {"code": n.code, "file": n.file, "row": n.row, "column": n.column, "advice": n.advice} for n in log.notes
        ],
        "note_count": log.note_count,
    }


def _count_files(source: Source | None, gathered: Gathered) -> dict | None:
    if source is None:
        return None
    unused = source.unused(name for name, _ in gathered.sha256)
    return {
        "found": len(source.names) + len(source.ignored),
        "used": len(source.names) - len(unused),
        "unused": len(unused),
        "unused_names": unused[:LISTED],
        "system": len(source.ignored),
        "system_names": source.ignored[:LISTED],
    }
