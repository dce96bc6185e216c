"""A file of corrections: CSV or JSON Lines with a row for each part of an item, or for a whole item.

Columns: `id`; `place`, an identity or a role (its first caption or image); `text` or `file`, the new content, or
`action`, withdraw or restore; `reason`; and `old`, the text replaced, if it should be compared.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.corrections.correct import MOST, Change
from benchmarks.formats import jsonl, limits, table
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.models import Action
from benchmarks.records import NAME, Origin

COLUMNS = ("id", "place", "text", "file", "action", "reason", "old")
WHOLE = {"withdraw": Action.WITHDRAW, "restore": Action.RESTORE}
LIMITS = table.TableLimits(MOST, limits.MAX_LINES, limits.MAX_FILE_BYTES, "corrections per file")


def read_changes(path: Path, log: ProblemLog) -> list[Change]:
    """Read the changes; problems go to the log."""
    try:
        return [change for values, origin in _rows(path, log) if (change := change_of(values, origin, log))]
    except Unreadable:
        return []


def _rows(path: Path, log: ProblemLog) -> Iterator[tuple[Mapping[str, object], Origin]]:
    if path.suffix.lower() == ".jsonl":
        yield from jsonl.objects(path, log, MOST, LIMITS.things)
    else:
        for row in table.read_table(path, log, ["id", "reason"], LIMITS):
            yield row.values, Origin(path.name, row.number)


def change_of(values: Mapping[str, object], origin: Origin, log: ProblemLog) -> Change | None:
    """Make a change; return None, with a problem in the log, if the row is not valid."""
    before = log.count
    for name, value in values.items():
        if name not in COLUMNS:
            advice = f"This column is unknown. The columns are {', '.join(COLUMNS)}."
            log.error("UNKNOWN_COLUMN", origin.file, origin.row, str(name), advice)
        elif value is not None and not isinstance(value, str):
            log.error("WRONG_TYPE", origin.file, origin.row, name, "Write a text.")
    given = {name: value for name in COLUMNS if isinstance(value := values.get(name), str) and value}
    what = [name for name in ("text", "file", "action") if name in given]
    if log.count == before and len(what) != 1:
        advice = "Fill in one of text (the new text), file (a new picture) and action (withdraw or restore)."
        log.error("VALUE_MISSING", origin.file, origin.row, "text", advice)
    if "action" in given and given["action"] not in WHOLE:
        log.error("WRONG_VALUE", origin.file, origin.row, "action", "Write withdraw or restore.")
    if log.count > before:
        return None
    action = WHOLE[given["action"]] if "action" in given else Action.CAPTION if "text" in given else Action.IMAGE
    return Change(
        item=given.get("id", ""), action=action, place=_place(given.get("place", ""), action),
        new=given.get("text") or given.get("file", ""), reason=given.get("reason", ""), old=given.get("old"),
        origin=origin,
    )  # fmt: skip


def _place(given: str, action: Action) -> str:
    if action in WHOLE.values():
        return ""
    if not NAME.fullmatch(given):
        return given
    return f"caption-{given}-0" if action == Action.CAPTION else f"{given}-0"
