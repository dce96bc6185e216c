"""Writing constructed items to a file, and reporting the items made and the rows dropped, with reasons. Pure."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.construction.kinds import Constructed
from benchmarks.construction.rows import ENDINGS, LINES
from benchmarks.formats import csv_text, jsonl
from benchmarks.formats.table import Row
from benchmarks.records import ItemRecord

SHOWN = 10  # dropped rows listed per line of the report


def refused(path: Path, out: Path, endings: Sequence[str], kind: str) -> str:
    """Return why these two files cannot be used, in a sentence; empty if they can."""
    if not path.is_file():
        return f"There is no file {path}."
    if path.suffix.lower() not in ENDINGS:
        return f"{path.name} must end in {', '.join(ENDINGS)}."
    if out.suffix.lower() not in endings:
        return f"{kind} writes files that end in {' or '.join(endings)}; rename {out.name}."
    if not out.absolute().parent.is_dir():
        return f"There is no folder {out.parent}."
    if out.exists() and out.samefile(path):
        return "Choose an output file other than the input file."
    if kind == "refine" and (out.suffix.lower() == ".csv") != (path.suffix.lower() == ".csv"):
        return f"Rows of a {path.suffix} file are written unchanged; give --out the same ending."
    return ""


def items(records: Iterable[ItemRecord]) -> str:
    """Return Winnow's manifest, which `import_benchmark jsonl` reads."""
    return "".join(map(jsonl.to_line, records))


def rows(kept: Sequence[Row], out: Path) -> str:
    """Return the rows as they were read, in the format given by the file's name."""
    values = [row.values for row in kept]
    if out.suffix.lower() == ".csv":
        return table(values)
    if out.suffix.lower() in LINES:
        return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


def table(values: Sequence[dict[str, str]]) -> str:
    """Return a CSV table; rows of one table have the same columns."""
    if not values:
        return ""
    return csv_text.table([values[0], *(value.values() for value in values)], safe=False)


def to_file(out: Path, content: str) -> None:
    """Write all or nothing: an existing file stays until the new one is complete."""
    part = out.with_name(f".{out.name}.part")
    part.write_text(content, encoding="utf-8", newline="")
    os.replace(part, out)


def report(kind: str, made: Constructed) -> dict[str, Any]:
    """Return JSON values. `dropped` has, for each reason, how many rows and which."""
    dropped: dict[str, list[int]] = {}
    for number, reason in made.dropped:
        dropped.setdefault(reason, []).append(number)
    by_count = sorted(dropped.items(), key=lambda one: (-len(one[1]), one[0]))
    return {
        "kind": kind,
        "read": made.read,
        "made": len(made.made),
        "dropped": [{"reason": reason, "count": len(numbers), "rows": numbers} for reason, numbers in by_count],
        **made.facts,
    }


def lines(report: dict[str, Any]) -> Iterator[str]:
    """Write the report for people; the sums add up."""
    dropped = sum(one["count"] for one in report["dropped"])
    word = "kept" if report["kind"] == "refine" else "made"
    yield f"{report['read']:,} rows = {report['made']:,} {word} + {dropped:,} dropped"
    for one in report["dropped"]:
        named = ", ".join(f"{number:,}" for number in one["rows"][:SHOWN])
        more = ", …" * (one["count"] > SHOWN)
        yield f"dropped {one['count']:,}: {one['reason']} (row{'s' * (one['count'] != 1)} {named}{more})"
    for name, value in report.items():
        if name not in ("kind", "read", "made", "dropped"):
            yield f"{name.replace('_', ' ')}: {_as_text(value)}"


def _as_text(value: object) -> str:
    """Format `a 3, b 4`; a nested table in brackets; percentages to two decimals, "undefined" for None."""
    if isinstance(value, dict):
        inner = {name: f"({_as_text(one)})" if isinstance(one, dict) else _as_text(one) for name, one in value.items()}
        return ", ".join(f"{name} {one}" for name, one in inner.items())
    if value is None:
        return "undefined"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
