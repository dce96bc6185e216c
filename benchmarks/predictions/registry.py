"""All layouts of predictions. To add one, add a file beside this one and a line to this one."""

from pathlib import Path

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.text import BOMS, CHUNK
from benchmarks.predictions import bivlc_results, columns, gpt4v, jsonl
from benchmarks.predictions.base import Layout
from benchmarks.predictions.cut_captions import READ_ALIKE
from benchmarks.predictions.kinds import Kind
from workers import outside_json

LAYOUTS: tuple[Layout, ...] = (bivlc_results.LAYOUT, bivlc_results.CORRECT, gpt4v.LAYOUT, jsonl.LAYOUT)


def layout_of(path: Path, kind: Kind, mapping: str = "") -> Layout:
    """Return the layout for that kind that matches the file's beginning. The extension decides only if the file does
    not begin like Winnow's lines, and no columns name the kind's scores. With a `mapping`, it is a user's own table."""
    if mapping:
        return columns.layout(mapping)
    own = [one for one in LAYOUTS if kind.name in one.kinds]
    text = _beginning(path)
    if _is_answer(text):
        return jsonl.LAYOUT
    if kind.name in columns.TAKEN and columns.is_recognised(path, kind):
        return columns.layout()
    ending = path.suffix.lower()
    if ending not in {ending for one in own for ending in one.endings}:
        ending = ".json" if text[:1] in ("{", "[") else ".csv"
    return next((one for one in own if ending in one.endings), jsonl.LAYOUT)


def is_published(path: Path, kind: Kind) -> bool:
    """Return whether the file is in one of the layouts rather than a user's own table: it has a readable answer."""
    found = layout_of(path, kind)
    return found in LAYOUTS and next(found.read(path, ProblemLog(), kind), None) is not None


def _beginning(path: Path) -> str:
    """Return the first characters other than white space; empty if unreadable, which reading it reports."""
    try:
        with path.open("rb") as stream:
            data = stream.read(CHUNK)
    except OSError:
        return ""
    mark, encoding = next(((mark, name) for mark, name in BOMS if data.startswith(mark)), (b"", "utf-8"))
    return data[len(mark) :].decode(encoding, "replace").lstrip()


def _is_answer(text: str) -> bool:
    """Return whether the first line is an object that names a question, or marks an item."""
    try:
        found = outside_json.read(text.partition("\n")[0])
    except ValueError:
        return False
    return isinstance(found, dict) and ("question" in found or READ_ALIKE in found)
